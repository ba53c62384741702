"""The report or folder that a run is compared with, what is noted about it, and pooled trials."""

from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.comparison.baseline import pool, with_comparison
from rubric_ci.comparison.reference import Baseline
from rubric_ci.errors import CannotReadReport
from rubric_ci.model.gate import GateInfo
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import Against, JudgeInfo, RunReport
from rubric_ci.model.results import Change, Graded, Trial
from tests.sample_reports import a_report, errored, graded

GATE = GateInfo(fail_on="regression", passing=0.8, borderline=0.6, holds=False)
SETTINGS = RunSettings(baseline=Path("then.json"))
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


@pytest.mark.parametrize(
    ("report", "baseline", "source", "holds", "notes"),
    [
        pytest.param(head(), THEN, "report", True, (), id="a report"),
        pytest.param(
            head("broken", "1" * 40),
            None,
            "commit",
            False,
            (BOTH,),
            id="a commit and a report",
        ),
        pytest.param(
            head(),
            None,
            None,
            False,
            ("No comparison: the baseline then.json does not exist.", ALONE),
            id="a report that does not exist",
        ),
        pytest.param(
            head("failing-before"),
            None,
            None,
            True,
            ("No comparison: the baseline then.json does not exist.",),
            id="merged shards that were compared each",
        ),
    ],
)
def test_a_run_is_compared_with_what_was_asked_for(
    report: RunReport,
    baseline: Baseline | None,
    source: str | None,
    *,
    holds: bool,
    notes: tuple[str, ...],
) -> None:
    found = with_comparison(report, baseline, SETTINGS, {})
    assert (found.comparison.source if found.comparison else None) == source
    assert (found.gate.holds, found.notes) == (holds, notes)


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
    night = a_report(case(FAIL, PASS, PASS, further_trials=2))
    (found,) = pool([night, night]).cases
    assert isinstance(found, Graded)
    assert found.trials == (FAIL, FAIL)


@pytest.mark.parametrize(
    ("older", "newer", "trials"),
    [
        pytest.param([graded("a", "pass")], [graded("a", "fail")], (PASS, FAIL), id="one-each"),
        pytest.param([errored("a")], [graded("a", "fail")], (), id="errored-before"),
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


def test_other_judges_cannot_be_pooled() -> None:
    judges = [JudgeInfo(model=f"openai/{name}", prompt_version="1") for name in "ab"]
    with pytest.raises(CannotReadReport, match="the reports of the baseline have different judges"):
        pool([a_report(judge=judge) for judge in judges])
