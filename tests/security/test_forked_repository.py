"""Forked repositories: only a stranger's pull request, or Dependabot's, goes without the judge."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import aimock
from tests.checkout import Checkout
from tests.contract.fake_github import GitHub
from tests.hooks import runner
from tests.hooks.test_act_grading import KEY, READ_ONLY, TOKEN, Topic, mark

ROOT = Path(__file__).parents[2]
TEXTS = sorted([*ROOT.glob("examples/**/*.yml"), *ROOT.glob("docs/*.md"), ROOT / "README.md"])
CONDITION = (
    "offline: ${{ github.event_name == 'pull_request' && "
    "(github.event.pull_request.head.repo.full_name != github.repository "
    "|| github.actor == 'dependabot[bot]') }}"
)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_a_stranger_is_told_by_the_name_of_the_repository(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"event\.pull_request\.head\.repo\.fork\b", text)
    assert {line.strip() for line in text.splitlines() if "offline: ${{" in line} <= {CONDITION}


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Whose pull request it is."""

    head: str = "acme/app"
    head_is_a_fork: bool = False
    author: str = "acme"
    actor: str = "acme"
    is_graded: bool


WHO = {
    "base": Who(is_graded=True),
    "fork": Who(
        head="someone/app",
        head_is_a_fork=True,
        author="someone",
        actor="someone",
        is_graded=False,
    ),
    "copy-that-is-no-fork": Who(head="someone/app", is_graded=False),
    "in-a-forked-repository": Who(head_is_a_fork=True, is_graded=True),
    "dependabot": Who(author="dependabot[bot]", actor="dependabot[bot]", is_graded=False),
    "commit-on-dependabots-branch": Who(author="dependabot[bot]", is_graded=True),
}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(not runner.ACT.exists(), reason="act is not here; `make act` builds it with Go")
@pytest.mark.skipif(bool(aimock.missing()), reason=aimock.missing())
@pytest.mark.parametrize("workflow", ["pull-request.yml", "pull-request-fork-safe.yml"])
@pytest.mark.parametrize("who", WHO.values(), ids=WHO)
def test_a_pull_request(
    who: Who,
    workflow: str,
    topic: Topic,
    judge: aimock.Aimock,
    github: GitHub,
    published: Checkout,
) -> None:
    judge.script(mark(False))
    event = topic.push(greeting="Hello!", farewell="Please go away.")
    owner = who.head.partition("/")[0]
    repository = {"full_name": who.head, "fork": who.head_is_a_fork, "owner": {"login": owner}}
    event["pull_request"]["head"]["repo"] = repository
    event["pull_request"]["user"] = {"login": who.author}
    token = TOKEN if who.is_graded else READ_ONLY
    job = runner.run(
        topic.checkout,
        workflow,
        only=("--actor", who.actor),
        event="pull_request",
        payload=event,
        published=published,
        environ={"GITHUB_API_URL": github.url},
        secrets={"GITHUB_TOKEN": token, **({"OPENAI_API_KEY": KEY} if who.is_graded else {})},
    )
    told = "fail" if who.is_graded else "nothing-graded"
    assert (job.outputs["verdict"], job.succeeded) == (told, not who.is_graded), job.log
    assert len(judge.requests()) == (2 if who.is_graded else 0)  # the answer, and that of the base


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(not runner.ACT.exists(), reason="act is not here; `make act` builds it with Go")
@pytest.mark.parametrize("who", WHO.values(), ids=WHO)
def test_validate_knows_no_strangers(who: Who, checkout: Checkout, published: Checkout) -> None:
    base = {"sha": checkout.commit({"README.md": "A base.\n"})}
    checkout.commit({"evals/a.eval.yaml": "evalcases:\n  - {id: a, input: Hi, rubric: [Greets]}\n"})
    repository = {"full_name": who.head, "fork": who.head_is_a_fork}
    job = runner.run(
        checkout,
        "validate.yml",
        only=("--actor", who.actor),
        event="pull_request",
        payload={"pull_request": {"number": 1, "base": base, "head": {"repo": repository}}},
        published=published,
    )
    assert not job.succeeded, job.log
    assert [line.rpartition(":")[0] for line in job.annotations] == ["error evals/a.eval.yaml"]
