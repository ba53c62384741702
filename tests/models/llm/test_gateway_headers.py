"""What LiteLLM's proxy says of a reply in its headers; test_gateway_cost.py has its costs."""

import pytest

from rubric_ci.models.llm.gateway import gateway_facts


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
