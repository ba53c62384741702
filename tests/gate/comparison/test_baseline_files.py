"""The report or folder that a run is compared with, what is noted about it, and pooled trials."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import CannotReadReport, CannotWriteFile
from rubric_ci.gate.comparison.baseline_files import (
    LOG_FILE,
    find_reports,
    open_baseline,
    pool,
    read_baseline,
    read_log,
    with_comparison,
    write_log,
)
from rubric_ci.gate.comparison.reference import Baseline, Decision, ReferenceLog
from rubric_ci.gate.report import json_format
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import Against, JudgeInfo, RunReport, Sentinel
from rubric_ci.values.results import Change, Graded, Trial
from rubric_ci.values.scoring import Verdict
from tests.checkout import ENVIRONMENT, Checkout
from tests.nights import case as nights_case
from tests.nights import night
from tests.sample_reports import a_report, errored, graded

GATE = GateInfo(fail_on="regression", passing=0.8, borderline=0.6, holds=False)
THEN_FILE = Path("then.json")
THEN = Baseline(report=a_report(graded("a", "fail")), ref="then.json")
ALONE = (
    "fail-on is regression and there is no comparison, so every case that fails counts: "
    "set `--against` or `--baseline`"
)
BOTH = (
    "Compared with the commit of `--against`: the baseline then.json was not read, as a run is "
    "compared with one of them."
)


def head(change: Change | None = None, commit: str | None = None) -> RunReport:
    against = None if commit is None else Against(ref="main", commit=commit)
    return replace(a_report(graded("a", "fail", change=change), gate=GATE), against=against)


NONE = "No comparison: the baseline then.json does not exist."
NO_BASE = BOTH.replace("Compared with the commit of", "No base was found for")
SOURCES: dict[str, tuple[RunReport, Baseline | None, str | None, bool, tuple[str, ...]]] = {
    "a report": (head(), THEN, "report", True, ()),
    "a commit and a report": (head("broken", "1" * 40), None, "commit", False, (BOTH,)),
    "no commit and a report": (head("not-comparable", ""), None, "commit", False, (NO_BASE,)),
    "a report that does not exist": (head(), None, None, False, (NONE, ALONE)),
    "merged shards that were compared each": (head("failing-before"), None, None, True, (NONE,)),
}


@pytest.mark.parametrize(
    ("report", "baseline", "source", "holds", "notes"), SOURCES.values(), ids=SOURCES
)
def test_a_run_is_compared_with_what_was_asked_for(
    report: RunReport,
    baseline: Baseline | None,
    source: str | None,
    *,
    holds: bool,
    notes: tuple[str, ...],
) -> None:
    found = with_comparison(replace(report, notes=("before",)), baseline, THEN_FILE, {})
    assert (found.comparison.source if found.comparison else None) == source
    assert (found.gate.holds, found.notes) == (holds, ("before", *notes))


def test_without_a_baseline_nothing_is_noted() -> None:
    found = with_comparison(a_report(graded("a", "pass")), None, None, {})
    assert (found.comparison, found.notes) == (None, ())
    assert with_comparison(head(), None, None, {}).notes == (ALONE,)
    nothing = replace(a_report(), gate=GATE)
    assert with_comparison(nothing, None, None, {}).notes == ()


TRACKED = (
    "The baseline {0} is tracked by git ({1}): a change can bring its own; keep it out of the "
    "repository, in a cache or an artifact of the default branch"
)


@pytest.mark.parametrize(
    ("name", "environment", "noted"),
    [
        ("then.json", {"GITHUB_ACTIONS": "true"}, TRACKED),
        ("then.json", {}, None),
        ("new.json", {"GITHUB_ACTIONS": "true"}, None),
    ],
    ids=["in a workflow", "on a desk", "not tracked"],
)
def test_a_baseline_that_may_come_with_the_change_is_named(
    checkout: Checkout, name: str, environment: dict[str, str], noted: str | None
) -> None:
    checkout.commit({"then.json": "{}"})
    checkout.write({"new.json": "{}"})
    path = checkout.root / name
    known = {**ENVIRONMENT, "GITHUB_ACTIONS": "", **environment}
    found = with_comparison(head(), THEN, path, known)
    assert found.notes == ((noted.format(path.as_posix(), name),) if noted else ())


def test_a_workspace_without_git_hides_who_brought_the_baseline(tmp_path: Path) -> None:
    path = tmp_path / "then.json"
    path.write_text("{}")
    environment = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(tmp_path)}
    (note,) = with_comparison(head(), THEN, path, environment).notes
    assert note == (
        f"Whether git tracks the baseline {path.as_posix()} is not known: "
        "the workspace has no git, which hides the files of its commit"
    )


def written(path: Path, report: RunReport) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json_format.render(report))
    return path


def test_which_baseline_is_opened(tmp_path: Path) -> None:
    path, then = tmp_path / "then.json", a_report(graded("a", "pass"))
    assert open_baseline(path) is None
    written(path, then)
    assert open_baseline(path) == Baseline(report=then, ref=path.as_posix())
    assert open_baseline(path, against="HEAD^") is None
    assert open_baseline(None) is None


def test_a_folder_of_reports(tmp_path: Path) -> None:
    """What the run itself added is left out, unless that is all, or a decision made it that."""
    one, two = (replace(night(day, nights_case("a", 2)), notes=()) for day in (1, 2))
    written(tmp_path / "1/report.json", one)
    assert read_baseline(tmp_path).report.cases[0] == one.cases[0]
    alone = Baseline(report=one, ref=tmp_path.as_posix())
    assert read_baseline(tmp_path, one) == alone
    written(tmp_path / "2/report.json", two)

    def trials(head: RunReport | None) -> int:
        (found,) = read_baseline(tmp_path, head).report.cases
        assert isinstance(found, Graded)
        return len(found.trials)

    assert (trials(None), trials(two)) == (4, 4)  # there is no log of decisions
    decision = Decision(reason="r", measured_at=one.started_at, decided_at=one.started_at, cases=1)
    write_log(tmp_path, ReferenceLog(decisions=(decision,)))
    assert (trials(None), trials(two), trials(one)) == (4, 2, 4)
    assert read_baseline(tmp_path, two).ref == tmp_path.as_posix()
    (tmp_path / "1/report.json").unlink()
    assert trials(two) == 2


def test_reports_are_found_in_folders(tmp_path: Path) -> None:
    paths = [written(tmp_path / name / "report.json", a_report()) for name in ("b", "a/c")]
    written(tmp_path / "other.json", a_report())
    alone = tmp_path / "other.json"
    assert list(find_reports([alone, tmp_path])) == [alone, *sorted(paths)]
    (tmp_path / "empty").mkdir()
    with pytest.raises(CannotReadReport) as caught:
        list(find_reports([tmp_path / "empty"]))
    assert caught.value.message == f"{tmp_path.as_posix()}/empty: no report.json found"


def test_a_log_is_written_for_people_and_read_again(tmp_path: Path) -> None:
    decision = Decision(reason="r", measured_at="2026", decided_at="2026", cases=1)
    log = ReferenceLog(decisions=(decision,))
    write_log(tmp_path, log)
    assert read_log(tmp_path) == log
    assert (tmp_path / LOG_FILE).read_text().startswith('{\n  "version": 1,\n')
    write_log(tmp_path, replace(log, version=2))
    with pytest.raises(CannotReadReport, match="version 2, or no decision: it cannot be read"):
        read_log(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWriteFile, match="cannot write the log: "):
        write_log(tmp_path / "file", log)


PASS = Trial(verdict="pass", score=1.0)
FAIL = Trial(verdict="fail", score=0.0)
HALF = Trial(verdict="borderline", score=0.7)


def case(*trials: Trial, further_trials: int = 0) -> Graded:
    return replace(graded("a", "pass"), trials=trials, further_trials=further_trials)


def test_the_oldest_trials_come_first() -> None:
    newer = a_report(case(HALF, HALF), started_at="2026-01-03T00:00:00Z")
    older = a_report(case(PASS, FAIL), started_at="2026-01-02T00:00:00Z")
    pooled = pool([newer, older])
    (found,) = pooled.cases
    assert isinstance(found, Graded)
    assert found.trials == (PASS, FAIL, HALF, HALF)
    assert (found.verdict, found.score) == ("borderline", 0.7)
    assert pooled.started_at == newer.started_at


def test_further_trials_are_left_out() -> None:
    report = a_report(case(FAIL, PASS, PASS, further_trials=2))
    (found,) = pool([report, report]).cases
    assert isinstance(found, Graded)
    assert (found.trials, found.further_trials) == ((FAIL, FAIL), 0)


@pytest.mark.parametrize(
    ("older", "newer", "trials"),
    [
        pytest.param([graded("a", "pass")], [graded("a", "fail")], (PASS, FAIL), id="one-each"),
        pytest.param([errored("a")], [graded("a", "fail")], (), id="errored-before"),
        pytest.param([graded("a", "fail")], [errored("a")], (), id="errored-since"),
        pytest.param([], [graded("a", "fail")], (), id="new"),
    ],
)
def test_nights_with_one_trial(
    older: list[Graded], newer: list[Graded], trials: tuple[Trial, ...]
) -> None:
    first = a_report(*older, started_at="2025-01-01T00:00:00Z")
    (found,) = pool([first, a_report(*newer)]).cases
    assert isinstance(found, Graded)
    assert found.trials == trials


@pytest.mark.parametrize(
    ("scores", "median"),
    [
        ([("pass", 1.0), ("fail", 0.0)], ("fail", 0.0)),
        ([("pass", 1.0), ("pass", 0.8), ("pass", 0.9)], ("pass", 0.9)),
        ([("pass", 0.3), ("fail", 0.9), ("pass", 0.2), ("borderline", 0.1)], ("borderline", 0.1)),
    ],
)
def test_pooled_trials_count_as_their_lower_median(
    scores: list[tuple[Verdict, float]], median: tuple[Verdict, float]
) -> None:
    every = [Trial(verdict=verdict, score=score) for verdict, score in scores]
    (found,) = pool([a_report(case(*every))]).cases
    assert isinstance(found, Graded)
    assert (found.verdict, found.score) == median


def test_equal_ids_of_two_files_are_two_cases() -> None:
    cases = [graded("a", "pass", file=name) for name in ("one.yaml", "two.yaml")]
    absent = [errored("b", file=name) for name in ("one.yaml", "two.yaml")]
    report = a_report(*cases, *absent)
    assert pool([report]).cases == report.cases
    (first, _) = pool([report, a_report(errored("a", file="one.yaml"), cases[1])]).cases[:2]
    assert first == cases[0]


def test_the_first_sentinel_is_that_of_the_reference() -> None:
    seen = [Sentinel(items=(), p_value=p) for p in (0.1, 0.2)]
    days = zip((3, 1, 2), (seen[1], None, seen[0]), strict=True)
    reports = [
        a_report(sentinel=each, started_at=f"2026-01-0{day}T00:00:00Z") for day, each in days
    ]
    assert pool(reports).sentinel == seen[0]
    assert pool(reports[1:2]).sentinel is None


@pytest.mark.parametrize("limits", [{"passing": 0.9}, {"borderline": 0.5}])
def test_other_thresholds_cannot_be_pooled(limits: dict[str, Any]) -> None:
    report = a_report()
    other = replace(report, gate=replace(report.gate, **limits))
    with pytest.raises(CannotReadReport, match="of the baseline have different thresholds"):
        pool([report, other])


def test_other_judges_cannot_be_pooled() -> None:
    judges = [JudgeInfo(model=f"openai/{name}", prompt_version="1") for name in "ab"]
    with pytest.raises(CannotReadReport, match="the reports of the baseline have different judges"):
        pool([a_report(judge=judge) for judge in judges])
