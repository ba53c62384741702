"""Reports of several nights as one reference."""

from dataclasses import replace

import pytest

from rubric_ci.comparison.pooling import pool
from rubric_ci.errors import CannotReadReport
from rubric_ci.model.report import JudgeInfo
from rubric_ci.model.results import Graded, Trial
from tests.sample_reports import a_report, errored, graded

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
