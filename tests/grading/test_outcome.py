"""The reason of a verdict in one line."""

from typing import Any

import pytest

from rubric_ci.grading.outcome import reason
from rubric_ci.values.results import Assessed, CriterionResult
from rubric_ci.values.scoring import Score


def criterion(**facts: Any) -> CriterionResult:
    defaults: dict[str, Any] = {
        "id": "tests",
        "kind": "checklist",
        "line": 1,
        "text": "Has tests",
        "weight": 1.0,
        "mark": False,
        "normalised": 0.0,
        "gated": False,
    }
    return CriterionResult(**{**defaults, **facts})


def rubric(*criteria: CriterionResult, **facts: Any) -> Assessed:
    gated_by = tuple(c.id for c in criteria if c.gated)
    defaults: dict[str, Any] = {
        "name": "rubric",
        "type": "rubric",
        "weight": 1.0,
        "line": 1,
        "score": 0.5,
        "verdict": "fail",
        "gated_by": gated_by,
        "criteria": criteria,
    }
    return Assessed(**{**defaults, **facts})


FAIL = Score(value=0.5, verdict="fail")
OWN_GATE = criterion(
    id="required_min_score", kind="assertion", weight=0.0, mark=True, normalised=1.0
)
GATED = criterion(gated=True, gate="required", reasoning="There are\nno tests.")


@pytest.mark.parametrize(
    ("score", "evaluators", "text"),
    [
        pytest.param(
            FAIL,
            [rubric(GATED)],
            "`tests` is required and not satisfied: There are no tests.",
            id="required",
        ),
        pytest.param(
            FAIL,
            [rubric(criterion(gated=True, kind="score-range", mark=4, gate="score >= 7"))],
            "`tests` requires score >= 7 and got 4",
            id="score",
        ),
        pytest.param(
            FAIL,
            [rubric(criterion(gated=True, kind="levels", mark=2, gate="level >= 3"))],
            "`tests` requires level >= 3 and got 2",
            id="level",
        ),
        pytest.param(
            FAIL,
            [rubric(criterion(gated=True, mark="cannot_assess", gate="required"))],
            "`tests` is required and cannot be assessed",
            id="cannot-assess",
        ),
        pytest.param(
            FAIL,
            [rubric(GATED, criterion(id="b", gated=True, gate="required"))],
            "`tests` is required and not satisfied: There are no tests. (and 1 more missed gate)",
            id="more-gates",
        ),
        pytest.param(
            FAIL,
            [rubric(GATED, criterion(id="b", weight=2.0, gated=True, gate="required"))],
            "`b` is required and not satisfied (and 1 more missed gate)",
            id="the gate that loses most",
        ),
        pytest.param(
            FAIL,
            [rubric(criterion(id="docs", reasoning="none")), rubric(GATED, weight=0.0)],
            "score 0.50 is below 0.60; largest loss: `docs`: none",
            id="weight-0-does-not-gate",
        ),
        pytest.param(
            Score(value=0.9, verdict="pass"),
            [rubric(criterion(reasoning="a bit"))],
            "score 0.90 reaches 0.80",
            id="a-pass-with-losses",
        ),
        pytest.param(
            Score(value=0.7, verdict="borderline"),
            [
                rubric(
                    criterion(id="a", weight=1.0, normalised=0.4, reasoning="a bit"),
                    criterion(id="b", weight=3.0, normalised=0.7, reasoning="much"),
                )
            ],
            "score 0.70 is below 0.80; largest loss: `b`: much",
            id="weights-count",
        ),
        pytest.param(
            Score(value=1.0, verdict="pass"),
            [rubric(criterion(normalised=1.0, mark=True))],
            "score 1.00 reaches 0.80; no points lost",
            id="full",
        ),
        pytest.param(
            FAIL,
            [rubric(name="script", misses=("no docs", "no tests"), reasoning="r")],
            "score 0.50 is below 0.60; largest loss: `script`: no docs; no tests",
            id="misses",
        ),
        pytest.param(
            FAIL,
            [rubric(GATED, criterion(reasoning="x" * 500), gated_by=(), score=0.1)],
            "score 0.50 is below 0.60; largest loss: `tests`: There are no tests.",
            id="first-of-equals",
        ),
        pytest.param(
            FAIL,
            [rubric(criterion(reasoning="x" * 500))],
            "score 0.50 is below 0.60; largest loss: `tests`: " + "x" * 240 + "…",
            id="long-words-are-cut",
        ),
        pytest.param(
            FAIL,
            [rubric(OWN_GATE, name="whole", type="composite", reasoning="Too vague")],
            "score 0.50 is below 0.60; largest loss: `whole`: Too vague",
            id="a composite whose gate is met",
        ),
    ],
)
def test_reason(score: Score, evaluators: list[Assessed], text: str) -> None:
    assert reason(score, evaluators) == text
