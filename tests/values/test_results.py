"""Results of evaluators: what the spec adds to an assessment, and the verdict."""

from dataclasses import fields
from typing import Any

import pytest

from rubric_ci.evaluators.evaluate import assessed, unassessed
from rubric_ci.parts.graders.usage_limits import LatencySpec
from rubric_ci.values.results import Assessment, Unassessed
from rubric_ci.values.scoring import DEFAULT_THRESHOLDS, Thresholds
from rubric_ci.values.usage import Usage
from tests.cases import span

SPEC = LatencySpec(name="fast", weight=2.0, threshold_ms=1, span=span(5))


@pytest.mark.parametrize(
    ("score", "thresholds", "verdict"),
    [
        (0.8, DEFAULT_THRESHOLDS, "pass"),
        (0.7, DEFAULT_THRESHOLDS, "borderline"),
        (0.5, DEFAULT_THRESHOLDS, "fail"),
        (0.8, Thresholds(passing=0.9), "borderline"),
    ],
)
def test_the_verdict_of_thresholds(score: float, thresholds: Thresholds, verdict: str) -> None:
    assert assessed(SPEC, Assessment(score=score), thresholds).verdict == verdict


def test_a_result_has_all_that_was_found() -> None:
    given: dict[str, Any] = {each.name: each.name for each in fields(Assessment)}
    given |= {"score": 0.9, "gated_by": ()}
    found = Assessment(**given)
    result = assessed(SPEC, found, DEFAULT_THRESHOLDS)
    assert {name: getattr(result, name) for name in given} == given
    assert (result.name, result.type, result.weight, result.line) == ("fast", "latency", 2.0, 5)


def test_no_score() -> None:
    assert unassessed(SPEC, "why", judge="openai/m", usage=Usage(calls=1)) == Unassessed(
        name="fast",
        type="latency",
        weight=2.0,
        line=5,
        reason="why",
        judge="openai/m",
        usage=Usage(calls=1),
    )
