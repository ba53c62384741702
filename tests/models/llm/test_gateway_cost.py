"""The cost of a reply where a gateway names it in a header."""

import asyncio
import json
from collections.abc import Mapping

import pytest

from rubric_ci.models.llm.client import request
from rubric_ci.values.config import Endpoint
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ChatMessage, ModelCall
from tests.bodies import Body, answering

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
        call = ModelCall(
            endpoint=Endpoint(model="openai/alias", options=options),
            messages=(ChatMessage(role="user", content="Hello"),),
            key="k",
        )
        used = asyncio.run(request(call)).usage
    assert (used.calls, used.unpriced_calls) == (1, unpriced)
    assert used.cost_usd == pytest.approx(cost)
