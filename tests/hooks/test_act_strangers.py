"""A stranger's pull request under act: graded with the key when a person asks, else not at all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import Checkout
from tests.hooks import runner
from tests.services.publish.words import LATER, GitHub, github

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(
        not runner.ACT.exists(), reason="act is not here; `make act` builds it with Go"
    ),
]

FILES = {
    "rubric-ci.yaml": (
        "evals: [evals/*.yaml]\ntargets: [{name: default, provider: mock, response: Hello}]\n"
    ),
    "evals/a.yaml": (
        "evalcases:\n  - id: greeting\n    input: Hi\n    rubrics: [{contains: Hello}]\n"
    ),
    ".gitignore": ".rubric-ci/\n",
}
HOSTILE = {
    "evals/a.yaml": FILES["evals/a.yaml"].replace("input: Hi", "input: Ho"),
    "sitecustomize.py": "import pathlib; pathlib.Path('pwned').touch()\n",
    "rubric_ci.py": "import pathlib; pathlib.Path('pwned').touch()\n",
    ".gitattributes": "* filter=eve\n",
}
URL = "https://github.com/acme/app.git"


class Shop:
    """A checkout of the default branch, and a remote that has a stranger's commit as well."""

    def __init__(self, folder: Path, hub: GitHub) -> None:
        self.hub = hub
        self.checkout = Checkout.create(folder / "shop")
        self.checkout.commit(FILES)
        remote = self.checkout.clone(folder / "remote.git", "--bare")
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
            secrets={"GITHUB_TOKEN": "the-token-of-the-job", "OPENAI_API_KEY": "sk-of-the-job"},
        )


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with github() as hub:
        yield Shop(tmp_path, hub)


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


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a race": (
        {"head": LATER, "pushes": [("2026-11-01T10:00:01Z", LATER)]},
        "the head of #7 is bbbbbbbbbb",
    ),
    "a forged comment": ({"said": "Nice work"}, "the comment is no command"),
    "an edited comment": ({"edited": "2026-11-01T11:00:00Z"}, "the comment was edited"),
    "a bot": ({"author": ("eve[bot]", "Bot")}, "`eve[bot]` is an app, and not a person"),
    "a maintainer who lost access": ({"rights": {}}, "`ana` may not push to acme/app"),
}


@pytest.mark.parametrize(("state", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(state: dict[str, Any], reason: str, shop: Shop, published: Checkout) -> None:
    for name, value in state.items():
        setattr(shop.hub, name, value)
    job = shop.run("issue_comment", comment(), published)
    assert not job.succeeded
    assert f"not authorized: {reason}" in job.log
    assert shop.hub.checks == []


def test_a_comment_of_another_kind_starts_no_job(shop: Shop, published: Checkout) -> None:
    job = shop.run("issue_comment", comment(body="Nice work"), published)
    assert (job.succeeded, shop.hub.writes) == (True, [])
