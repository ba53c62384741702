"""LiteLLM's proxy, version 1.106.2: its errors, and the facts in the headers of a reply."""

import asyncio
import json
from collections.abc import Mapping

import pytest

from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.gateway import gateway_facts, gateway_wording
from rubric_ci.values.json_value import JSON
from tests.bodies import Body, answering
from tests.cases import build_call

AFTER = " LiteLLM: model group 'judge' failed with the error above. No fallback was attempted."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"litellm.RateLimitError: RateLimitError: OpenAIException - Slow down{AFTER}",
            "the provider's rate limit is reached: Slow down",
        ),
        (
            (
                "litellm.ContextWindowExceededError: litellm.BadRequestError: "
                f"ContextWindowExceededError: OpenAIException - Too long{AFTER}"
            ),
            "the input is too long for the model: Too long",
        ),
        (
            (
                "litellm.BadRequestError: litellm.ContentPolicyViolationError: "
                f"ContentPolicyViolationError: OpenAIException - Unsafe{AFTER}"
            ),
            "the provider's content filter refuses the request: Unsafe",
        ),
        (
            "litellm.Timeout: APITimeoutError - Request timed out.",
            "the provider does not reply in time: Request timed out",
        ),
        ("litellm.NewError: something", "the request failed: something"),
        ("No connected db.", "the gateway refuses the API key"),
        ("Rate limit reached for gpt-6-luna", "Rate limit reached for gpt-6-luna"),
    ],
)
def test_gateway_wording(text: str, message: str) -> None:
    assert gateway_wording(text) == message


@pytest.mark.parametrize(
    ("requested", "replied", "header", "model"),
    [
        pytest.param("judge", "judge", "openai/gpt-6-luna", "openai/gpt-6-luna", id="alias"),
        pytest.param("judge", "judge", "azure/my-own", "judge", id="a deployment of any name"),
        pytest.param("judge", "gpt-6-sol", "openai/gpt-6-luna", "gpt-6-sol", id="named"),
        pytest.param("judge", "judge", "", "judge", id="no header"),
    ],
)
def test_the_model_behind_an_alias(requested: str, replied: str, header: str, model: str) -> None:
    facts = gateway_facts({"x-litellm-model-name": header})
    assert facts.model_of(requested, replied) == model


@pytest.mark.parametrize(
    ("number", "fallback"), [("0", False), ("1", True), (" 2", True), ("", False)]
)
def test_a_fallback(number: str, fallback: bool) -> None:
    assert gateway_facts({"x-litellm-attempted-fallbacks": number}).fallback is fallback
    assert not gateway_facts({}).fallback


REPLY = {
    "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 2},
}
PRICES = {"input_cost_per_token": 0.01, "output_cost_per_token": 0.1}


@pytest.mark.parametrize(
    ("header", "prices", "cost", "unpriced"),
    [
        pytest.param("0.0042", {}, 0.0042, 0, id="the gateway's"),
        pytest.param("0.0042", PRICES, 0.3, 0, id="configured prices come first"),
        pytest.param("0.0", {}, 0.0, 1, id="no price known to the gateway"),
        pytest.param("None", {}, 0.0, 1, id="no number"),
        pytest.param("nan", {}, 0.0, 1, id="not a cost"),
        pytest.param("-1", {}, 0.0, 1, id="negative"),
        pytest.param("inf", {}, 0.0, 1, id="infinite"),
        pytest.param("", {}, 0.0, 1, id="empty"),
    ],
)
def test_cost(header: str, prices: Mapping[str, JSON], cost: float, unpriced: int) -> None:
    headers = {"x-litellm-response-cost": header}
    with answering(Body(content=json.dumps(REPLY).encode(), headers=headers)) as server:
        options = {"api_base": f"{server.url}/v1", "api_key": "none", **prices}
        used = asyncio.run(request(build_call("openai/alias", options=options))).usage
    assert (used.calls, used.unpriced_calls) == (1, unpriced)
    assert used.cost_usd == pytest.approx(cost)
