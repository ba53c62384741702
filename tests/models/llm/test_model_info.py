"""Prices of models, by the length of the prompt."""

import pytest

from rubric_ci.models.llm.model_info import UNCOUNTED, Prices, Tokens, cost_of, counted, prices_of
from rubric_ci.models.llm.openai_http import usage
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ChatMessage, ModelCall
from rubric_ci.values.targets import Endpoint

LUNA = Endpoint(model="openai/gpt-6-luna")


@pytest.mark.parametrize(
    ("tokens", "dollars"),
    [
        pytest.param(Tokens(1_000_000, 0, 0), 0.2, id="a long prompt"),
        pytest.param(Tokens(272_001, 272_001, 0), 272_001 * 2e-08, id="a long cached prompt"),
        pytest.param(Tokens(200_000, 100_000, 1000), 0.01 + 0.001 + 0.0005, id="a short one"),
        pytest.param(Tokens(300_000, 0, 1000), 0.06 + 0.00075, id="the reply to a long one"),
    ],
)
def test_cost(tokens: Tokens, dollars: float) -> None:
    assert cost_of(LUNA, tokens) == pytest.approx(dollars)


@pytest.mark.parametrize(
    "wrong", [-1, -1_000_000_000, float("nan"), float("inf"), 1.5, "7", True, [], -0.5]
)
def test_an_impossible_count_is_no_count(wrong: JSON) -> None:
    for counts in (([wrong], 0, [1]), ([1], wrong, [1]), ([1], 0, [wrong, 2])):
        read, cached, written = counts
        assert counted(read=read, cached=cached, written=written) == UNCOUNTED
        assert cost_of(LUNA, UNCOUNTED) is None


@pytest.mark.parametrize(
    ("read", "cached", "written", "expected"),
    [
        ([3, None], None, [4], Tokens(3, 0, 4)),
        ([3.0], 2, [None], Tokens(3, 2, 0)),
        ([3], 4, [1], UNCOUNTED),
    ],
)
def test_counts(read: list[JSON], cached: JSON, written: list[JSON], expected: Tokens) -> None:
    assert counted(read=read, cached=cached, written=written) == expected


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf"), None])
def test_an_impossible_cost_is_unknown(cost: float | None) -> None:
    used = usage(1, 2, cost)
    assert (used.input_tokens, used.output_tokens) == (1, 2)
    assert (used.cost_usd, used.unpriced_calls) == (0.0, 1)


def test_configured_prices_hold_for_every_length() -> None:
    own = Endpoint(
        model=LUNA.model, options={"input_cost_per_token": 1, "output_cost_per_token": 2}
    )
    assert cost_of(own, Tokens(300_000, 0, 1)) == 300_002
    assert prices_of(own) == Prices(input=1, output=2, most_output_tokens=128_000)


@pytest.mark.parametrize("prices", [(-1.0, 1.0), (1.0, -1.0), (float("nan"), 1.0)])
def test_a_negative_price_is_none(prices: tuple[float, float]) -> None:
    names = ("input_cost_per_token", "output_cost_per_token")
    options: dict[str, JSON] = dict(zip(names, prices, strict=True))
    assert prices_of(Endpoint(model="openai/gpt-6-luna", options=options)) is None


def test_the_highest_cost_of_a_long_prompt() -> None:
    prices = prices_of(LUNA)
    assert prices is not None

    def worst(length: int) -> float:
        message = ChatMessage(role="user", content="x" * length)
        return prices.worst(ModelCall(endpoint=LUNA, messages=(message,), key="", max_tokens=1000))

    assert worst(100_000) == pytest.approx((100_000 + 1004) * 1e-07 + 1000 * 5e-07)
    assert worst(300_000) == pytest.approx((300_000 + 1004) * 2e-07 + 1000 * 7.5e-07)
