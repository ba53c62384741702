"""Pull requests and nights under act: our action, a fake GitHub, a scripted judge."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests import aimock
from tests.checkout import Checkout
from tests.contract.fake_github import GitHub, Pull, Token, User, serving
from tests.hooks import runner
from tests.hooks.roles import ROLES, Role, finished

pytestmark = [
    pytest.mark.deep,
    pytest.mark.timeout(400),
    *runner.WITH_ACT,
    pytest.mark.skipif(bool(aimock.missing()), reason=aimock.missing()),
]

CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {{model: openai/gpt-6-luna, api_key: "${{{{ OPENAI_API_KEY }}}}", api_base: "{url}/v1"}}
targets:
  - {{name: default, provider: recorded, answers: answers.jsonl}}
"""
EVALS = """\
evalcases:
  - id: greeting
    input: Say hello
    rubrics: [Greets]
  - id: farewell
    input: Say goodbye
    rubrics:
      - id: polite
        expected_outcome: Says goodbye politely
"""
TOKEN, READ_ONLY = "the-token-of-the-job", "the-token-of-a-fork"
KEY = "the-key-of-the-judge"


@dataclass(frozen=True, slots=True)
class Topic:
    """A branch with a pull request, and the merge commit that GitHub makes of it."""

    checkout: Checkout
    role: Role = ROLES["base"]

    def push(self, **answers: str) -> dict[str, Any]:
        """Commit answers on the branch, merge it as GitHub does, and return the event."""
        return runner.merged(self.checkout, {"answers.jsonl": lines(**answers)}, self.role)


def lines(**answers: str) -> str:
    return "".join(json.dumps({"id": i, "answer": text}) + "\n" for i, text in answers.items())


def mark(*satisfied: bool, reasoning: str = "So it is.") -> aimock.Reply:
    entries = [{"evidence": "", "reasoning": reasoning, "satisfied": one} for one in satisfied]
    return aimock.says(json.dumps({f"c{n}": entry for n, entry in enumerate(entries, 1)}))


@pytest.fixture
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[aimock.Aimock]:
    with aimock.running(tmp_path_factory.mktemp("aimock")) as server:
        yield server


@pytest.fixture
def github() -> Iterator[GitHub]:
    tokens = {TOKEN: Token(), READ_ONLY: Token(writes=False)}
    with serving(GitHub(tokens=tokens, pulls={7: Pull(7)})) as server:
        yield server


@pytest.fixture
def topic(checkout: Checkout, judge: aimock.Aimock) -> Topic:
    checkout.git("remote", "add", "origin", "https://github.com/acme/app.git")
    answers = lines(greeting="Hello!", farewell="See you.")
    files = {"rubric-ci.yaml": CONFIG.format(url=judge.url), "evals/a.eval.yaml": EVALS}
    checkout.commit({**files, "answers.jsonl": answers, ".gitignore": ".rubric-ci/\n"})
    checkout.git("branch", "topic")
    return Topic(checkout)


def test_a_comment_is_kept_up_to_date(
    topic: Topic, judge: aimock.Aimock, github: GitHub, published: Checkout
) -> None:
    def push(**answers: str) -> runner.Job:
        return runner.run(
            topic.checkout,
            "evals-gate.yml",
            event="pull_request",
            payload=topic.push(**answers),
            published=published,
            environ={"GITHUB_API_URL": github.url},
            secrets={"GITHUB_TOKEN": TOKEN, "OPENAI_API_KEY": KEY},
        )

    rude = mark(False, reasoning="It sends the reader away.")
    judge.answer({"Please go away.": rude, "See you.": mark(True), "Goodbye, and": mark(True)})
    github.say(7, User("mallory"), "<!-- rubric-ci: default -->\nI was here first.")

    job = push(greeting="Hello!", farewell="Please go away.")
    assert not job.succeeded, job.log
    assert job.outputs["verdict"] == "fail"
    assert (job.outputs["passed"], job.outputs["failed"]) == ("0", "1")
    # The notice is about recorded answers.
    assert job.annotations == ["error evals/a.eval.yaml:8", "notice :"]
    assert "stop-commands" in {event.get("command") for event in job.events}
    assert len(judge.requests()) == 10  # five on both sides; the greeting is not affected
    other, comment = github.pulls[7].comments
    assert "Judged 5 times: passed 5 before, 0 now" in comment.body
    assert "It sends the reader away." in comment.body
    assert "farewell" in comment.body
    assert "It sends the reader away." in job.summary

    job = push(greeting="Hello!", farewell="Goodbye, and thank you.")
    assert job.succeeded, job.log
    assert job.outputs["verdict"] == "pass"
    assert job.annotations == ["notice :"]
    assert github.pulls[7].comments == [other, comment]
    assert comment.edits == 1
    assert "It sends the reader away." not in comment.body
    assert other.body.endswith("I was here first.")

    job = push(greeting="Hello!", farewell="Goodbye, and thank you.")
    assert job.succeeded, job.log
    assert len(judge.requests()) == 11  # what was judged before is not asked again, on both sides
    assert github.pulls[7].comments == [other, comment]


def test_a_fork_is_graded_without_rights_and_posted_by_another_run(
    topic: Topic, judge: aimock.Aimock, github: GitHub, published: Checkout
) -> None:
    event = replace(topic, role=ROLES["fork"]).push(greeting="Hello!", farewell="Please go away.")
    job = runner.run(
        topic.checkout,
        "evals-gate-fork-safe.yml",
        event="pull_request",
        payload=event,
        published=published,
        environ={"GITHUB_API_URL": github.url},
        secrets={"GITHUB_TOKEN": READ_ONLY},
    )
    assert job.succeeded, job.log
    assert job.outputs["verdict"] == "nothing-graded"
    assert judge.requests() == []
    assert github.requests == []

    head = event["pull_request"]["head"]["sha"]
    github.pulls[7] = Pull(7, head_sha=head, head_owner="someone", head_branch="topic")
    job = report(topic, github, published, head)
    assert job.succeeded, job.log
    (comment,) = github.bodies(7)
    assert "farewell" in comment

    github.pulls[7].head_sha = "b" * 40  # a newer push: the report is no longer about it
    job = report(topic, github, published, head)
    assert job.succeeded, job.log
    assert "is no longer" in job.log
    assert github.bodies(7) == [comment]


def report(topic: Topic, github: GitHub, published: Checkout, head: str) -> runner.Job:
    """Run the second workflow, which sees the first one's artifact and nothing else of it."""
    return runner.run(
        topic.checkout,
        "evals-gate-report.yml",
        event="workflow_run",
        payload=finished(ROLES["fork"], head, "failure"),
        published=published,
        environ={"GITHUB_API_URL": github.url},
        secrets={"GITHUB_TOKEN": TOKEN},
    )


def test_shards_become_one_report(topic: Topic, judge: aimock.Aimock, published: Checkout) -> None:
    config = CONFIG.format(url=judge.url)
    cases = "".join(f"  - {{id: c{n}, input: Hi, rubrics: [Greets]}}\n" for n in range(60))
    answers = lines(**{f"c{n}": "Hello!" for n in range(60)})
    topic.checkout.git("checkout", "--quiet", "main")
    files = {"rubric-ci.yaml": config, "answers.jsonl": answers}
    topic.checkout.commit({**files, "evals/a.eval.yaml": f"evalcases:\n{cases}"})
    judge.script(mark(True))
    job = runner.run(
        topic.checkout,
        "evals-shards.yml",
        event="push",
        payload={"ref": "refs/heads/main"},
        published=published,
        secrets={"GITHUB_TOKEN": READ_ONLY, "OPENAI_API_KEY": KEY},
    )
    assert job.succeeded, job.log
    assert (job.outputs["shards"], job.outputs["cases"]) == ("2", "60")
    assert (job.outputs["passed"], job.outputs["verdict"]) == ("60", "pass")
