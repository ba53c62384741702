"""A stranger's pull request under act: graded with the key when a person asks, else not at all."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.answer_judge import AnswerJudge, judging
from tests.checkout import ENVIRONMENT, Checkout
from tests.hooks import runner
from tests.invoke import invoke
from tests.services.publish.words import LATER, GitHub, github

pytestmark = [pytest.mark.deep, pytest.mark.timeout(400), *runner.WITH_ACT]

CONFIG = """\
evals: [evals/*.yaml]
judge:
  model: openai/judge
  api_base: "URL/v1"
  api_key: ${{ OPENAI_API_KEY }}
  input_cost_per_token: 0.000001
  output_cost_per_token: 0.000001
targets: [{name: default, provider: mock, response: hello}]
"""
EVALS = """\
rubrics: [Greets]
evalcases:
  - {id: greeting, input: Hi}
  - {id: farewell, input: Hi again}
"""
FILES = {"rubric-ci.yaml": CONFIG, "evals/a.yaml": EVALS, ".gitignore": ".rubric-ci/\n"}
HOSTILE = {
    "evals/a.yaml": EVALS.replace("input: Hi", "input: Ho"),
    "sitecustomize.py": "import pathlib; pathlib.Path('pwned').touch()\n",
    "rubric_ci.py": "import pathlib; pathlib.Path('pwned').touch()\n",
    ".gitattributes": "* filter=eve\n",
}
URL = "https://github.com/acme/app.git"
KEY = "sk-of-the-job"  # also of the runs that filled the cache


class Shop:
    """A checkout of the default branch, and a remote that has a stranger's commit as well."""

    def __init__(self, folder: Path, hub: GitHub, judge: AnswerJudge) -> None:
        self.hub, self.judge = hub, judge
        self.checkout = Checkout.create(folder / "shop")
        files = {name: text.replace("URL", judge.url) for name, text in FILES.items()}
        self.checkout.commit(files)
        self.remote = remote = self.checkout.clone(folder / "remote.git", "--bare")
        remote.git("config", "uploadpack.allowAnySHA1InWant", "true")
        stranger = remote.clone(folder / "stranger")
        self.sha = stranger.commit(HOSTILE)
        stranger.git("push", "--quiet", "origin", "HEAD:refs/pull/7/head")
        self.checkout.git("remote", "add", "origin", URL)
        self.elsewhere = {  # act takes the name of the repository from the checkout's own setting
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{remote.root}.insteadOf",
            "GIT_CONFIG_VALUE_0": URL,
        }
        hub.head, hub.pushes = self.sha, [("2026-11-01T09:00:00Z", self.sha)]

    def run(self, event: str, payload: dict[str, Any], published: Checkout) -> runner.Job:
        known = {"repository": {"full_name": "acme/app", "default_branch": "main"}}
        return runner.run(
            self.checkout,
            "evals-strangers.yml",
            event=event,
            payload=payload | known,
            published=published,
            environ={"GITHUB_API_URL": self.hub.url, **self.elsewhere},
            secrets={"GITHUB_TOKEN": "the-token-of-the-job", "OPENAI_API_KEY": KEY},
        )

    @property
    def passed(self) -> int:
        """The number of cases that pass, as the last comment shows it."""
        (found,) = re.findall(r"^(\d+) passed", self.hub.comments[-1], re.MULTILINE)
        return int(found)

    def judge_before(self) -> None:
        """Keep the judgements of the commit as a run on the default branch would."""
        self.checkout.git("fetch", "--quiet", str(self.remote.root), self.sha)
        command = ("run", "--untrusted", self.sha, "--output-dir", "out")
        done = invoke(self.checkout.root, ENVIRONMENT | {"OPENAI_API_KEY": KEY}, *command)
        assert done.returncode == 0, done.stderr
        cache = self.checkout.root / ".rubric-ci/cache"
        kept = "kept/caches/refs/heads/main/.rubric-ci_cache/rubric-ci-base-1/kept"
        shutil.move(cache, self.checkout.root.parent / kept)
        shutil.rmtree(self.checkout.root / "out")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with github() as hub, judging() as judge:
        yield Shop(tmp_path, hub, judge)


def comment(login: str = "ana", body: str = "/rubric-ci run") -> dict[str, Any]:
    return {
        "action": "created",
        "issue": {"number": 7, "pull_request": {"url": "x"}},
        "comment": {"id": 5, "body": body, "user": {"login": login}},
        "sender": {"login": login, "type": "User"},
    }


def test_a_person_asks_and_the_commit_is_graded(shop: Shop, published: Checkout) -> None:
    job = shop.run("issue_comment", comment(), published)
    assert job.succeeded, job.log
    (body,) = shop.hub.comments
    assert "Gate passes" in body
    (check,) = shop.hub.checks
    assert (check["head_sha"], check["conclusion"]) == (shop.sha, "success")
    assert shop.checkout.git("status", "--porcelain") == ""
    assert list(shop.checkout.root.rglob("pwned")) == []
    assert shop.passed == 2


def test_a_person_adds_the_label(shop: Shop, published: Checkout) -> None:
    shop.hub.labels, shop.hub.hung = [("2026-11-01T10:00:00Z", "ana", "rubric-ci")], {"rubric-ci"}
    payload = {"action": "labeled", "label": {"name": "rubric-ci"}, "pull_request": {"number": 7}}
    job = shop.run("pull_request_target", payload, published)
    assert job.succeeded, job.log
    assert shop.hub.checks[0]["head_sha"] == shop.sha
    assert "DELETE /repos/acme/app/issues/7/labels/rubric-ci" in shop.hub.writes
    assert (shop.passed, len(shop.judge.seen)) == (2, 2)


def test_another_label_starts_no_job(shop: Shop, published: Checkout) -> None:
    payload = {"action": "labeled", "label": {"name": "bug"}, "pull_request": {"number": 7}}
    job = shop.run("pull_request_target", payload, published)
    assert (job.succeeded, shop.hub.writes) == (True, [])


def test_one_case_is_graded_and_a_rerun_asks_again(shop: Shop, published: Checkout) -> None:
    shop.judge_before()
    asked = []
    for said in ("run gre*", "rerun"):
        shop.judge.seen.clear()
        shop.hub.said, shop.hub.reactions = f"/rubric-ci {said}", 0  # each is a comment of its own
        job = shop.run("issue_comment", comment(body=shop.hub.said), published)
        assert job.succeeded, job.log
        asked.append((shop.passed, len(shop.judge.seen)))
    assert asked == [(1, 0), (2, 2)]


def test_a_case_that_is_not_there_is_said_in_the_comment(shop: Shop, published: Checkout) -> None:
    shop.hub.said = "/rubric-ci run gretting"
    job = shop.run("issue_comment", comment(body=shop.hub.said), published)
    assert not job.succeeded
    (body,) = shop.hub.comments
    assert "Gate undecided: the run could not start" in body
    assert "no case matches --case gretting (did you mean `greeting`?)" in body
    assert (shop.hub.checks, shop.judge.seen) == ([], [])


@pytest.mark.parametrize("is_head", [True, False], ids=["the head", "another commit"])
def test_a_person_starts_the_workflow(is_head: bool, shop: Shop, published: Checkout) -> None:
    inputs = {"pull-request": "7", "sha": shop.sha if is_head else LATER}
    sender = {"login": "ana", "type": "User"}
    job = shop.run("workflow_dispatch", {"inputs": inputs, "sender": sender}, published)
    assert job.succeeded == is_head, job.log
    assert [check["head_sha"] for check in shop.hub.checks] == [shop.sha] * is_head
    assert ("`sha` is not the head of #7" in job.log) != is_head


@pytest.mark.parametrize("case", ["$(touch${IFS}pwned)", "';touch${IFS}pwned;'", "--help"])
def test_a_word_is_no_command(case: str, shop: Shop, published: Checkout) -> None:
    shop.hub.said = f"/rubric-ci run {case}"
    job = shop.run("issue_comment", comment(body=shop.hub.said), published)
    assert f"case={case}" in job.log
    assert list(shop.checkout.root.parent.rglob("pwned")) == []
    assert (len(shop.hub.comments), shop.judge.seen) == (1, []), job.log
    assert "no case matches" in shop.hub.comments[0]


def test_a_race(shop: Shop, published: Checkout) -> None:
    shop.hub.head, shop.hub.pushes = LATER, [("2026-11-01T10:00:01Z", LATER)]
    job = shop.run("issue_comment", comment(), published)
    assert not job.succeeded
    assert "not authorized: the head of #7 is bbbbbbbbbb" in job.log
    assert shop.hub.checks == []


def test_a_comment_of_another_kind_starts_no_job(shop: Shop, published: Checkout) -> None:
    job = shop.run("issue_comment", comment(body="Nice work"), published)
    assert (job.succeeded, shop.hub.writes) == (True, [])
