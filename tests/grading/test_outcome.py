"""The reason of a verdict in one line."""

from typing import Any

import pytest

from rubric_ci.grading.outcome import reason
from rubric_ci.values.results import Assessed, CriterionResult
from rubric_ci.values.scoring import Score, Verdict
from tests.sample_reports import a_criterion, a_rubric


def criterion(name: str = "tests", **facts: Any) -> CriterionResult:
    return a_criterion(name, **{"gated": False, "gate": "", "reasoning": "", **facts})


def gate(name: str = "tests", **facts: Any) -> CriterionResult:
    return criterion(name, **{"gated": True, "gate": "required", **facts})


def rubric(*criteria: CriterionResult, **facts: Any) -> Assessed:
    return a_rubric(*criteria, **{"score": 0.5, **facts})


MISSED = gate(reasoning="There are\nno tests.")
LONG = criterion(reasoning="x" * 500)
OWN_GATE = criterion("required_min_score", kind="assertion", weight=0.0, mark=True, normalised=1.0)
PARTS = (
    criterion("a", normalised=0.4, reasoning="a bit"),
    criterion("b", weight=3.0, normalised=0.7, reasoning="much"),
)
LOSS = "score 0.50 is below 0.60; largest loss: "
FAILS: dict[str, tuple[list[Assessed], str]] = {
    "required": ([rubric(MISSED)], "`tests` is required and not satisfied: There are no tests."),
    "score": (
        [rubric(gate(kind="score-range", mark=4, gate="score >= 7"))],
        "`tests` requires score >= 7 and got 4",
    ),
    "level": (
        [rubric(gate(kind="levels", mark=2, gate="level >= 3"))],
        "`tests` requires level >= 3 and got 2",
    ),
    "cannot assess": (
        [rubric(gate(mark="cannot_assess"))],
        "`tests` is required and cannot be assessed",
    ),
    "more gates": (
        [rubric(MISSED, gate("b"))],
        "`tests` is required and not satisfied: There are no tests. (and 1 more missed gate)",
    ),
    "the gate that loses most": (
        [rubric(MISSED, gate("b", weight=2.0))],
        "`b` is required and not satisfied (and 1 more missed gate)",
    ),
    "weight 0 does not gate": (
        [rubric(criterion("docs", reasoning="none")), rubric(MISSED, weight=0.0)],
        f"{LOSS}`docs`: none",
    ),
    "misses": (
        [rubric(name="script", misses=("no docs", "no tests"), reasoning="r")],
        f"{LOSS}`script`: no docs; no tests",
    ),
    "first of equals": (
        [rubric(MISSED, LONG, gated_by=(), score=0.1)],
        f"{LOSS}`tests`: There are no tests.",
    ),
    "long words are cut": ([rubric(LONG)], f"{LOSS}`tests`: {'x' * 240}…"),
    "a composite whose gate is met": (
        [rubric(OWN_GATE, name="whole", type="composite", reasoning="Too vague")],
        f"{LOSS}`whole`: Too vague",
    ),
}


@pytest.mark.parametrize(("evaluators", "text"), FAILS.values(), ids=FAILS)
def test_the_reason_of_a_failure(evaluators: list[Assessed], text: str) -> None:
    assert reason(Score(value=0.5, verdict="fail"), evaluators) == text


@pytest.mark.parametrize(
    ("score", "criteria", "text"),
    [
        (0.9, (criterion(reasoning="a bit"),), "score 0.90 reaches 0.80"),
        (0.7, PARTS, "score 0.70 is below 0.80; largest loss: `b`: much"),
        (1.0, (criterion(normalised=1.0, mark=True),), "score 1.00 reaches 0.80; no points lost"),
    ],
    ids=["a pass with losses", "weights count", "full"],
)
def test_a_score_s_reason(score: float, criteria: tuple[CriterionResult, ...], text: str) -> None:
    verdict: Verdict = "pass" if score >= 0.8 else "borderline"
    assert reason(Score(value=score, verdict=verdict), [rubric(*criteria)]) == text
