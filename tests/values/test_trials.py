"""The first trials of a case: means use no others."""

import pytest

from rubric_ci.values.report import totals
from rubric_ci.values.results import Graded, Trial
from rubric_ci.values.scoring import verdict
from rubric_ci.values.trials import first_mean, first_result
from tests.sample_reports import graded


def case(*scores: float, further: int = 0, to_pass: int = 0) -> Graded:
    """Return a case with these trials, the first ones first, and the last as its result."""
    trials = tuple(Trial(verdict=verdict(score), score=score) for score in scores)
    facts = {"trials_to_pass": to_pass, "further_trials": further, "trials": trials}
    return graded("a", trials[-1].verdict, score=scores[-1], **facts)


@pytest.mark.parametrize(
    ("found", "mean", "verdict_of_first", "score"),
    [
        pytest.param(graded("a", "pass"), 1.0, "pass", 1.0, id="one trial"),
        pytest.param(case(0.0, 1.0), 0.5, "pass", 1.0, id="no further: the case's own result"),
        pytest.param(case(0.0, 1.0, 1.0, further=2), 0.0, "fail", 0.0, id="one first trial"),
        pytest.param(
            case(0.0, 0.9, 0.7, 1.0, 1.0, further=2), 0.533333, "borderline", 0.7, id="the median"
        ),
        pytest.param(case(0.0, 0.9, 1.0, 1.0, further=2), 0.45, "fail", 0.0, id="the lower median"),
        pytest.param(
            case(0.0, 0.7, 0.9, *[1.0] * 7, further=7, to_pass=7),
            0.533333,
            "borderline",
            0.7,
            id="a rule: 2 of 3, rounded up to 7 of 10",
        ),
        pytest.param(
            case(0.0, 0.7, 0.9, *[1.0] * 7, further=7, to_pass=4),
            0.533333,
            "pass",
            0.9,
            id="a rule: 1 of 3",
        ),
    ],
)
def test_first_trials(found: Graded, mean: float, verdict_of_first: str, score: float) -> None:
    result = first_result(found)
    assert (first_mean(found), result.verdict, result.score) == (mean, verdict_of_first, score)


def test_the_mean_of_a_report_is_that_of_the_scores_shown() -> None:
    assert totals((case(0.0, 1.0, 1.0, further=2), graded("b", "pass"))).score == 1.0
