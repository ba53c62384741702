"""Measurements and limits; without a measurement there is no verdict."""

from typing import Any

import pytest

from rubric_ci.errors import CannotMeasure
from rubric_ci.parts.graders import usage_limits
from rubric_ci.parts.graders.usage_limits import CostSpec, LatencySpec, TokenUsageSpec
from rubric_ci.text.redact import redactor
from rubric_ci.values.results import Answer, Assessment
from tests.cases import build_case, span

CASE = build_case()
NOTHING_SECRET = redactor(())


def answer(**measured: Any) -> Answer:
    seconds = measured.pop("seconds", None)
    return Answer(text="x", duration_seconds=seconds, trace_summary=measured or None)


def latency(threshold: float, measured: Answer) -> Assessment:
    spec = LatencySpec(name="fast", threshold_ms=threshold, span=span())
    return usage_limits.latency(CASE, measured, spec, NOTHING_SECRET)


def cost(budget: float, measured: Answer) -> Assessment:
    spec = CostSpec(name="cheap", budget_usd=budget, span=span())
    return usage_limits.cost(CASE, measured, spec, NOTHING_SECRET)


def tokens(measured: Answer, **most: Any) -> Assessment:
    spec = TokenUsageSpec(name="small", span=span(), **most)
    return usage_limits.token_usage(CASE, measured, spec, NOTHING_SECRET)


USED = answer(token_usage={"input": 100, "output": 20})


def test_all_of_a_result() -> None:
    assert latency(2000, answer(seconds=2.0005)) == Assessment(
        score=0.0, reasoning="2000.5 of at most 2000 ms", misses=("2000.5 of at most 2000 ms",)
    )


@pytest.mark.parametrize(
    ("result", "score", "reasoning"),
    [
        pytest.param(
            latency(2000, answer(seconds=2)), 1.0, "2000 of at most 2000 ms", id="on-the-limit"
        ),
        pytest.param(cost(0.1, answer(cost_usd=0.05)), 1.0, "0.05 of at most 0.1 USD", id="cheap"),
        pytest.param(cost(0.1, answer(cost_usd=0)), 1.0, "0 of at most 0.1 USD", id="free"),
        pytest.param(cost(0.1, answer(cost_usd=0.11)), 0.0, "0.11 of at most 0.1 USD", id="dear"),
        pytest.param(
            cost(0.3, answer(cost_usd=0.1 + 0.2)), 1.0, "0.3 of at most 0.3 USD", id="two-turns"
        ),
        pytest.param(
            tokens(USED, max_total=120), 1.0, "120 of at most 120 tokens in all", id="total"
        ),
        pytest.param(
            tokens(answer(token_usage={"input": 1, "output": 2, "cached": 4}), max_total=6),
            0.0,
            "7 of at most 6 tokens in all",
            id="cached-tokens-count",
        ),
        pytest.param(
            tokens(USED, max_input=99, max_output=20),
            0.0,
            "100 of at most 99 input tokens; 20 of at most 20 output tokens",
            id="one-of-two",
        ),
    ],
)
def test_within_or_beyond(result: Assessment, score: float, reasoning: str) -> None:
    assert (result.score, result.reasoning) == (score, reasoning)
    assert result.hits + result.misses != ()


def test_hits_and_misses_name_the_limits() -> None:
    result = tokens(USED, max_input=99, max_output=20)
    assert result.misses == ("100 of at most 99 input tokens",)
    assert result.hits == ("20 of at most 20 output tokens",)


def test_what_is_not_measured_has_no_verdict() -> None:
    with pytest.raises(CannotMeasure) as caught:
        latency(1, answer())
    assert str(caught.value) == "the target reports no duration (`duration_ms`)"
    with pytest.raises(CannotMeasure) as caught:
        cost(1, answer(seconds=1))
    assert str(caught.value) == "the target reports no cost (`cost_usd`)"
    with pytest.raises(CannotMeasure) as caught:
        tokens(answer(cost_usd=1), max_total=1)
    assert str(caught.value) == ("the target reports no token usage (`token_usage`)")
    with pytest.raises(CannotMeasure) as caught:
        tokens(answer(token_usage={"input": 1}), max_total=1)
    assert str(caught.value) == "the target's `token_usage` does not count `output` tokens"
