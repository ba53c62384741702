"""Prices of models, by the length of the prompt."""

import pytest

from rubric_ci.models.llm.budget import Prices
from rubric_ci.models.llm.model_info import Tokens, cost_of, prices_of
from rubric_ci.values.config import Endpoint
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ChatMessage, ModelCall

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
