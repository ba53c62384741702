"""Estimated requests and tokens."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.models.judge.prompt import rubric_messages
from rubric_ci.services.cost.judge_requests import TokenEstimate, estimate, request_count
from rubric_ci.values.config import Endpoint, JudgeConfig
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, LlmJudgeSpec, RubricSpec
from rubric_ci.values.rubric import Check, Rubric

SPAN = Span(1, 1, 1, 2)
JUDGE = JudgeConfig(endpoint=Endpoint(model="m"))


def case(count: int) -> tuple[EvalCase, RubricSpec]:
    rubric = Rubric(tuple(Check(id=f"{n}", text="x", span=SPAN) for n in range(count)))
    spec = RubricSpec(name="rubric", rubric=rubric, span=SPAN)
    return EvalCase(id="a", file="a.yaml", span=SPAN, evaluators=(spec,)), spec


def test_one_case() -> None:
    one, spec = case(3)
    messages = rubric_messages(one, "", spec.rubric.judged, fence="")
    characters = sum(len(message.content) for message in messages)
    assert estimate(one, spec, JUDGE) == TokenEstimate(
        requests=1, input_tokens=characters // 4 + 300, output_tokens=240
    )


@pytest.mark.parametrize(
    ("count", "judge", "requests"),
    [
        (3, {}, 1),
        (21, {}, 2),
        (21, {"votes": 3}, 6),
        (21, {"mode": "isolated"}, 21),
        (3, {"votes": "auto"}, 1),
    ],
)
def test_groups_votes_and_isolation_multiply(
    count: int, judge: Mapping[str, Any], requests: int
) -> None:
    changed = replace(JUDGE, **judge)
    one, spec = case(count)
    assert estimate(one, spec, changed).requests == requests
    assert request_count(spec, changed) == requests


def test_a_score_is_one_request() -> None:
    taste = LlmJudgeSpec(name="t", span=SPAN)
    assert estimate(case(1)[0], taste, replace(JUDGE, votes=3)).requests == 1
