"""Estimated requests and tokens."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest

from rubric_ci.models.judge.prompt import rubric_messages
from rubric_ci.services.cost.judge_cost import (
    JudgeEstimate,
    JudgeRequests,
    estimate_lines,
    requests_of,
)
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, LlmJudgeSpec, RubricSpec
from rubric_ci.values.report import CostEstimate
from rubric_ci.values.rubric import Check, MarkedAnswer, Rubric
from rubric_ci.values.targets import Endpoint

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
    assert requests_of(JUDGE, one, spec) == JudgeRequests(
        requests=1, input_tokens=characters // 4 + 300, output_tokens=240, most=1
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
def test_groups_and_votes_multiply(count: int, judge: Mapping[str, Any], requests: int) -> None:
    changed = replace(JUDGE, **judge)
    one, spec = case(count)
    assert requests_of(changed, one, spec).requests == requests


BRIEFED = RubricSpec(
    name="rubric",
    rubric=Rubric(
        (
            Check(id="s/a", text="x", span=Span(1, 1, 1, 2, file="s.rubric.yaml")),
            Check(id="own", text="x", span=SPAN),
        )
    ),
    guidelines=("g" * 400, "h" * 80),
    guided_by=("s.rubric.yaml", ""),
    examples=(
        MarkedAnswer(answer="e" * 200, marks={"s/a": True}),
        MarkedAnswer(answer="f" * 40, marks={"own": True}),
    ),
    span=SPAN,
)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        pytest.param("batched", {"s.rubric.yaml": 150, "a.yaml": 30}, id="one request"),
        # An example is shown with the criteria that it marks, guidelines in each request.
        pytest.param("isolated", {"s.rubric.yaml": 250, "a.yaml": 50}, id="two requests"),
    ],
)
def test_guidelines_and_examples_count_for_their_file(
    mode: Literal["batched", "isolated"], expected: dict[str, int]
) -> None:
    one, judge = case(1)[0], replace(JUDGE, mode=mode)
    bare = replace(BRIEFED, guidelines=(), guided_by=(), examples=())
    found = requests_of(judge, one, BRIEFED)
    assert found.briefing == expected
    assert found.input_tokens - requests_of(judge, one, bare).input_tokens > sum(expected.values())
    line = estimate_lines(
        [
            JudgeEstimate(
                judge=judge,
                estimate=CostEstimate(requests=1, input_tokens=9, output_tokens=9, cost_usd=None),
                asked=found,
            )
        ]
    )[1]
    assert line == (
        f"about {expected['s.rubric.yaml']} of these tokens are guidelines and examples of "
        f"s.rubric.yaml, {expected['a.yaml']} of a.yaml"
    )


def test_a_score_is_one_request() -> None:
    taste = LlmJudgeSpec(name="t", span=SPAN)
    assert requests_of(replace(JUDGE, votes=3), case(1)[0], taste).requests == 1
