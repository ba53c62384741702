"""A judge that moves: the sentinel of `run`, the comparison, and `rubric-ci baseline rejudge`."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

from rubric_ci.gate.comparison.baseline_files import read_baseline, read_log
from rubric_ci.gate.report import json_format
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Graded
from tests.answer_judge import AnswerJudge, judging
from tests.checkout import Checkout
from tests.cli.commands import test_compare
from tests.cli.commands.test_compare import on_github
from tests.compared import whole
from tests.contract.fake_github import GitHub, serving

CONFIG = """\
judge: {{model: openai/m, api_key: "${{{{ OPENAI_API_KEY }}}}", api_base: "{url}/v1"}}
targets: [{{name: default, provider: mock, response: hello there}}]
"""
EVALS = """\
evalcases:
  - {id: one, input: Say hello, rubrics: [Greets]}
  - {id: two, input: Say hello again, rubrics: [Greets again]}
"""
FOLDER = ".rubric-ci/reference"
SPENT = """\
about {0} requests to openai/m, {1} tokens, price unknown
{0} model calls, cost unknown, {2} tokens
"""


def rubric_ci(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return test_compare.rubric_ci(folder, *arguments, OPENAI_API_KEY="none")


@pytest.fixture(scope="module")
def server() -> Iterator[AnswerJudge]:
    with judging() as running:
        yield running


@pytest.fixture(scope="module")
def with_reference(server: AnswerJudge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a reference of 15 trials."""
    folder = tmp_path_factory.mktemp("reference")
    Checkout.create(folder)  # else the cache would not be read
    (folder / "rubric-ci.yaml").write_text(CONFIG.format(url=server.url))
    (folder / "a.eval.yaml").write_text(EVALS)
    assert rubric_ci(folder, "run", "--trials", "15").returncode == 0
    assert rubric_ci(folder, "baseline", "keep").returncode == 0
    return folder


@pytest.fixture
def judge(server: AnswerJudge) -> Iterator[AnswerJudge]:
    yield server
    server.word = "hello"


@pytest.fixture
def project(with_reference: Path, judge: AnswerJudge, tmp_path: Path) -> Path:
    """A copy of that project."""
    return Path(copytree(with_reference, tmp_path, dirs_exist_ok=True))


def night(project: Path) -> str:
    """Run and keep a night; return exit code and last line of the comparison."""
    rubric_ci(project, "run", "--baseline", FOLDER, "--fail-on", "never")
    assert rubric_ci(project, "baseline", "keep").returncode == 0
    compared = rubric_ci(project, "compare", FOLDER, ".rubric-ci/report.json")
    return f"{compared.returncode}: {compared.stdout.splitlines()[-1]}"


def compared(project: Path) -> RunReport:
    """Run a night and return its comparison with the reference."""
    rubric_ci(project, "run", "--baseline", FOLDER, "--fail-on", "never")
    report = json_format.read((project / ".rubric-ci/report.json").read_text())
    assert report.comparison
    return report


def test_no_case_is_broken_by_a_judge_that_moved(project: Path, judge: AnswerJudge) -> None:
    reference = read_baseline(project / FOLDER).report
    assert reference.sentinel
    remembered = [(each.id, each.mark, each.repeats) for each in reference.sentinel.items]
    assert sorted(remembered) == [(name, True, (True,) * 5) for name in ("one", "two")]
    assert night(project) == "0: not worse than the reference"

    judge.word = "farewell"
    before = len(judge.answers)
    assert night(project) == "3: not comparable with the reference: the judge moved"
    # Two items twice and two cases once: no cached judgement is used, and no suspect asked again.
    assert len(judge.answers) - before == 2 * 2 + 2
    report = json_format.read((project / ".rubric-ci/report.json").read_text())
    assert report.totals.cached_marks == 0
    assert report.comparison
    assert [case.change for case in report.cases] == ["not-comparable"] * 2
    moved = "The judge moved: 4 of 4 marks of remembered answers differ, 0 of 10 did when"
    assert report.comparison.judge_moved.startswith(moved)
    summary = (project / ".rubric-ci/summary.md").read_text()
    assert "No case is called broken until `rubric-ci baseline rejudge` has judged" in summary

    with serving(GitHub()) as github:
        head = ".rubric-ci/report.json"
        done = on_github(project, github, "compare", FOLDER, head, "--issue", "Nights")
        (issue,) = github.issues.values()
    assert done.returncode == 3
    assert issue.state == "open"
    assert "⚠️ **Reference:** not comparable with the reference: the judge moved" in issue.body

    done = rubric_ci(project, "baseline", "rejudge")
    assert (done.returncode, done.stderr) == (0, SPENT.format(40, "27,980 + 3,200", "400 + 80"))
    assert done.stdout == f"2 cases marked by openai/m: {Path(FOLDER)}\n"
    marked = read_baseline(project / FOLDER).report
    trials = [case.trials for case in marked.cases if isinstance(case, Graded)]
    assert [[trial.verdict for trial in each] for each in trials] == [["fail"] * 15] * 2
    assert {trial.answer for each in trials for trial in each} == {"hello there"}
    log = read_log(project / FOLDER)
    assert log
    assert log.decision.reason == "rejudged, first run"
    assert log.decision.measured_at == log.decisions[0].measured_at
    assert night(project) == "0: not worse than the reference"


@pytest.mark.parametrize("rejudged", [True, False], ids=["rejudged", "moved back"])
def test_a_judge_that_moves_twice_is_asked_and_not_the_cache(
    project: Path, judge: AnswerJudge, *, rejudged: bool
) -> None:
    judge.word = "farewell"
    assert whole(compared(project)).judge_moved
    judge.word = "there"  # which the answers have, as they had the first word
    if rejudged:
        assert rubric_ci(project, "baseline", "rejudge").returncode == 0
        marked = read_baseline(project / FOLDER).report
        verdicts = {t.verdict for c in marked.cases if isinstance(c, Graded) for t in c.trials}
        assert verdicts == {"pass"}
    before = len(judge.answers)
    night = compared(project)
    assert [case.change for case in night.cases] == ["unchanged"] * 2
    found = whole(night)
    assert found.judge_moved == ""
    assert found.suspects
    assert found.suspects.suspects == 0
    assert len(judge.answers) - before == 2 * 2 + 2


def test_a_night_and_its_reference_use_no_cached_judgement(
    project: Path, judge: AnswerJudge
) -> None:
    assert rubric_ci(project, "run", "--trials", "15").returncode == 0  # the same answers again
    report = json_format.read((project / ".rubric-ci/report.json").read_text())
    assert report.totals.cached_marks == 0
    listed = {
        options: rubric_ci(project, "run", "--list", *options).stdout
        for options in ((), ("--trials", "15"), ("--baseline", FOLDER))
    }
    asked = {
        key: re.findall("^about (.*) to openai/m", said, re.MULTILINE)
        for key, said in listed.items()
    }
    assert asked == {
        (): ["0 requests"],
        ("--trials", "15"): ["40 requests"],  # 10 of them for the sentinel
        ("--baseline", FOLDER): ["6 requests"],  # 4 of them for the sentinel
    }
    before = len(judge.answers)
    assert rubric_ci(project, "run").returncode == 0
    assert len(judge.answers) == before


def test_another_judge_in_the_configuration_is_a_judge_that_moved(
    project: Path, judge: AnswerJudge
) -> None:
    text = (project / "rubric-ci.yaml").read_text()
    (project / "rubric-ci.yaml").write_text(text.replace("openai/m", "openai/other"))
    assert night(project) == "3: not comparable with the reference: the judge moved"
    assert rubric_ci(project, "baseline", "rejudge").returncode == 0
    assert night(project) == "0: not worse than the reference"


LATENCY = "execution: {evaluators: [{name: fast, type: latency, threshold: 9}]}"


@pytest.mark.parametrize(
    ("evals", "line"),
    [
        pytest.param(
            EVALS.partition("  - {id: two")[0],
            "a.eval.yaml: two: left out: the eval files no longer have it",
            id="a case that is gone",
        ),
        pytest.param(
            EVALS.replace("[Greets again]", f"[Greets again], {LATENCY}"),
            "a.eval.yaml: two: left out: the evaluator `fast` needs the work, which the "
            "report does not have",
            id="an evaluator of the trace",
        ),
        pytest.param(
            EVALS.replace("[Greets again]", "[Greets again, {max_calls: 2}]"),
            "a.eval.yaml: two: left out: the evaluator `rubric` needs the work, which the "
            "report does not have",
            id="an assertion about work",
        ),
        pytest.param(
            EVALS.replace("[Greets again]", "{sees: [answer, files], criteria: [Greets again]}"),
            "a.eval.yaml: two: left out: the evaluator `rubric` needs the work, which the "
            "report does not have",
            id="a rubric that sees the work",
        ),
    ],
)
def test_what_cannot_be_marked_is_left_out(project: Path, evals: str, line: str) -> None:
    (project / "a.eval.yaml").write_text(evals)
    done = rubric_ci(project, "baseline", "rejudge")
    spent = SPENT.format(20, "13,960 + 1,600", "200 + 40")
    assert (done.returncode, done.stderr) == (3, f"{spent}{line}\n")
    assert [case.id for case in read_baseline(project / FOLDER).report.cases] == ["one"]


def test_a_case_without_the_answer_of_one_trial_is_left_out(project: Path) -> None:
    (path,) = (project / FOLDER).rglob("report.json")
    data = json.loads(path.read_text())
    del data["cases"][1]["trials"][3]["answer"]
    path.write_text(json.dumps(data))
    done = rubric_ci(project, "baseline", "rejudge")
    line = "a.eval.yaml: two: left out: the report does not have the answer of every trial"
    spent = SPENT.format(20, "13,960 + 1,600", "200 + 40")
    assert (done.returncode, done.stderr) == (3, f"{spent}{line}\n")
    assert [case.id for case in read_baseline(project / FOLDER).report.cases] == ["one"]


def test_a_report_without_answers_stays_as_it_is(project: Path) -> None:
    (path,) = (project / FOLDER).rglob("report.json")
    data = json.loads(path.read_text())
    for case in data["cases"]:
        for trial in case["trials"]:
            del trial["answer"]
    path.write_text(json.dumps(data))
    before = path.read_bytes()
    done = rubric_ci(project, "baseline", "rejudge")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "rubric-ci: no case of the report could be marked: a.eval.yaml: one: left out: the report "
        "does not have the answer of every trial\n"
    )
    assert path.read_bytes() == before
