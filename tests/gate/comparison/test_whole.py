"""The counts of a comparison."""

from dataclasses import replace

import pytest

from rubric_ci.gate.comparison import whole
from rubric_ci.values.comparison import Comparison, Together
from rubric_ci.values.report import Against
from rubric_ci.values.results import BaseResult, CaseResult
from tests.sample_reports import errored, graded

PASS, FAIL = graded("a", "pass"), graded("a", "fail")
BEFORE = BaseResult(outcome="graded", verdict="pass", score=1.0)
NOTHING = BaseResult(outcome="errored", reason="late")
AGAINST = Against(ref="main", commit="1" * 40)


@pytest.mark.parametrize(
    ("cases", "compared", "passed", "means", "worse"),
    [
        ((replace(FAIL, change="broken", before=BEFORE),), 1, (0, 1), (0.0, 1.0), True),
        ((replace(PASS, change="unchanged", before=BEFORE),), 1, (1, 1), (1.0, 1.0), False),
        ((replace(PASS, change="not-comparable", before=NOTHING),), 0, (0, 0), None, False),
        ((replace(FAIL, change="new"), errored("b", before=BEFORE)), 0, (0, 0), None, False),
    ],
    ids=["broken", "unchanged", "no verdict before", "new and errored"],
)
def test_the_comparison_with_a_commit(
    cases: tuple[CaseResult, ...],
    compared: int,
    passed: tuple[int, int],
    means: tuple[float, float] | None,
    *,
    worse: bool,
) -> None:
    now, before = means or (None, None)
    assert whole.of_commit(AGAINST, cases) == Comparison(
        source="commit",
        ref="main",
        commit="1" * 40,
        compared=compared,
        passed=passed[0],
        passed_before=passed[1],
        mean=now,
        mean_before=before,
        worse=worse,
    )


def test_all_cases_together_make_a_run_worse() -> None:
    every = Together(cases=200, clusters=200, fewer_pass=9, more_fail=9, p_value=0.001, worse=True)
    found = whole.of_commit(replace(AGAINST, together=every), [PASS])
    assert (found.worse, found.fell, found.together) == (True, True, every)
