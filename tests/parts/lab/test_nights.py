"""Nights as a workflow runs them: a drop, its issue, a reference that moves, and a judge that does.

Real processes, a target that is a program, a judge and a GitHub over HTTP.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from rubric_ci.gate.comparison import phrases
from rubric_ci.gate.comparison.baseline_files import read_baseline, read_log
from rubric_ci.gate.report import json_format
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Graded
from tests.answer_judge import AnswerJudge, judging
from tests.checkout import Checkout
from tests.contract.fake_github import GitHub, serving
from tests.invoke import invoke
from tests.sample_project import clean_environment

CASES = 10
CONFIG = """\
judge: {{model: openai/m, api_key: "${{{{ OPENAI_API_KEY }}}}", api_base: "{url}/v1"}}
targets: [{{name: default, provider: cli, command_template: "sh agent.sh {{EVAL_ID}} {{ATTEMPT}}"}}]
"""
EVALS = "evalcases:\n" + "".join(
    f"  - {{id: g{n}, input: Say hello to guest {n}, rubrics: [Greets guest {n}]}}\n"
    for n in range(CASES)
)
GOOD = 'echo "hello from $1, take $2"\n'
BROKEN = 'case "$1" in g3) echo "bye from $1, take $2";; *) echo "hello from $1, take $2";; esac\n'
EDGE = f'[ "$1" = g3 ] && [ "$2" -lt 2 ] && echo "bye, take $2" && exit; {GOOD}'
FOLDER = ".rubric-ci/reference"
REPORT = ".rubric-ci/report.json"


class Night(NamedTuple):
    """What a night shows: what the comparison finds, its exit code, and the issue."""

    says: str
    code: int
    issue: str  # what `compare` did with it


class Nights:
    """A project that is graded each night."""

    def __init__(self, root: Path, judge: AnswerJudge, github: GitHub) -> None:
        self.checkout = Checkout.create(root)
        self.judge, self.github, self.count = judge, github, 0
        self.checkout.write(
            {"rubric-ci.yaml": CONFIG.format(url=judge.url), "a.eval.yaml": EVALS, "agent.sh": GOOD}
        )

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        workflow = {
            "GITHUB_REPOSITORY": "acme/app",
            "GITHUB_EVENT_NAME": "schedule",
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_RUN_ID": str(self.count),
            "GITHUB_TOKEN": "actions",
            "OPENAI_API_KEY": "none",
        }
        return invoke(self.checkout.root, clean_environment() | workflow, *arguments)

    def run(self, agent: str = GOOD) -> None:
        self.count += 1
        self.checkout.write({"agent.sh": agent})
        done = self.call("run", "--baseline", FOLDER, "--trials", "3", "--fail-on", "never")
        assert done.returncode == 0, done.stderr

    def night(self, agent: str = GOOD) -> Night:
        """Run, keep and compare, as `night.yml` does."""
        self.run(agent)
        assert self.call("baseline", "keep").returncode == 0
        done = self.call("compare", FOLDER, REPORT, "--issue", "Nights")
        (said,) = (line for line in done.stderr.splitlines() if line.startswith("issue"))
        return Night(phrases.headline(self.report), done.returncode, said.split(": ")[0])

    @property
    def report(self) -> RunReport:
        return json_format.read((self.checkout.root / REPORT).read_text(encoding="utf-8"))

    @property
    def reference(self) -> RunReport:
        return read_baseline(self.checkout.root / FOLDER).report


@pytest.fixture
def nights(tmp_path: Path) -> Iterator[Nights]:
    with judging() as judge, serving(GitHub()) as github:
        yield Nights(tmp_path, judge, github)


def test_six_nights_with_a_drop_in_the_fourth(nights: Nights) -> None:
    assert nights.night() == ("Not compared", 0, "issue not needed")
    assert nights.night() == nights.night() == ("Nothing broke", 0, "issue not needed")
    fourth = nights.night(BROKEN)
    assert fourth == (
        "Worse tonight: g3; confirmed if it is worse tomorrow",
        0,
        "issue not needed; worse tonight; it opens if it is worse tomorrow",
    )
    assert nights.night(BROKEN) == ("1 case broke: g3", 1, "issue #1 opened")
    (issue,) = nights.github.issues.values()
    today = nights.report.started_at[:10]
    assert issue.title == f"Nights: 1 case broke: g3, every night since {today}"
    assert "Passed 6 of 6 before, 0 of 5 now<br>`rubric-1`: It lacks the word." in issue.body
    assert nights.night(BROKEN) == ("1 case broke: g3", 1, "issue #1 updated")
    assert nights.night() == ("Nothing broke", 0, "issue #1 closed")
    assert (issue.state, len(nights.github.issues)) == ("closed", 1)
    passes = {each.id: {t.verdict for t in each.trials} for each in graded(nights.reference)}
    assert passes == {f"g{n}": {"pass"} for n in range(CASES)}  # no worse night is in it


def test_a_case_that_stands_on_the_edge_opens_no_issue(nights: Nights) -> None:
    for _ in range(2):
        nights.night()
    assert nights.night(EDGE) == ("Nothing broke", 0, "issue not needed")
    (case,) = (case for case in nights.report.cases if case.id == "g3")
    assert case.change == "not-confirmed"


def test_nothing_is_worse_by_a_judge_that_moved(nights: Nights) -> None:
    for _ in range(2):
        nights.night()
    nights.judge.word = "farewell"
    before = len(nights.judge.answers)
    assert nights.night() == ("Not comparable: the judge moved", 3, "issue #1 opened")
    asked = len(nights.judge.answers) - before
    assert asked == CASES + 3 * CASES  # one mark of each kept answer; no suspect is asked again
    assert nights.report.comparison
    assert nights.report.comparison.judge_moved.startswith(
        "The judge moved: 10 of 10 marks of remembered answers differ, 0 of 50 did when"
    )
    (issue,) = nights.github.issues.values()
    assert issue.title == "Nights: the judge moved"
    accepted = nights.call("baseline", "accept", "--reason", "the judge moved")
    assert accepted.returncode == 0, accepted.stderr
    assert nights.reference.sentinel is None  # the marks were of the earlier judge
    assert nights.night() == ("Nothing broke", 0, "issue #1 closed")
    sentinel = nights.reference.sentinel
    assert sentinel
    assert {item.repeats for item in sentinel.items} == {(False,) * 5}
    log = read_log(nights.checkout.root / FOLDER)
    assert log
    assert [each.reason for each in log.decisions] == ["first run", "the judge moved"]
    assert nights.night().says == "Nothing broke"


def test_another_judge_in_the_configuration_is_a_judge_that_moved(nights: Nights) -> None:
    nights.night()
    text = CONFIG.format(url=nights.judge.url).replace("openai/m", "openai/other")
    nights.checkout.write({"rubric-ci.yaml": text})
    assert nights.night()[:2] == ("Not comparable: the judge moved", 3)
    assert nights.call("baseline", "accept", "--reason", "another judge").returncode == 0
    assert nights.night()[:2] == ("Nothing broke", 0)


def test_nights_use_no_cached_judgement(nights: Nights) -> None:
    nights.night()
    nights.night()
    assert nights.report.totals.cached_marks == 0
    listed = nights.call("run", "--list", "--baseline", FOLDER).stdout
    assert "about 20 requests to openai/m" in listed  # 10 of them for the kept answers


def graded(report: RunReport) -> list[Graded]:
    return [case for case in report.cases if isinstance(case, Graded)]
