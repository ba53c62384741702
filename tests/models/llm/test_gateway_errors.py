"""Errors of LiteLLM's proxy, as its version 1.106.2 writes them; test_litellm_proxy.py runs it."""

import pytest

from rubric_ci.models.llm.gateway import gateway_error

AFTER = " LiteLLM: model group 'judge' failed with the error above. No fallback was attempted."


@pytest.mark.parametrize(
    ("text", "message", "status"),
    [
        (
            f"litellm.RateLimitError: RateLimitError: OpenAIException - Slow down{AFTER}",
            "the provider's rate limit is reached: Slow down",
            None,
        ),
        (
            (
                "litellm.ContextWindowExceededError: litellm.BadRequestError: "
                f"ContextWindowExceededError: OpenAIException - Too long{AFTER}"
            ),
            "the input is too long for the model: Too long",
            None,
        ),
        (
            (
                "litellm.BadRequestError: litellm.ContentPolicyViolationError: "
                f"ContentPolicyViolationError: OpenAIException - Unsafe{AFTER}"
            ),
            "the provider's content filter refuses the request: Unsafe",
            None,
        ),
        (
            "litellm.Timeout: APITimeoutError - Request timed out.",
            "the provider does not reply in time: Request timed out",
            None,
        ),
        ("litellm.NewError: something", "the request failed: something", None),
        (
            "/chat/completions: Invalid model name passed in model=gpt-6-sol. Call `/v1/models` to",
            "the gateway does not know the model `gpt-6-sol`",
            404,
        ),
        ("No connected db.", "the gateway refuses the API key", 401),
        (
            "Authentication Error, Invalid proxy server token passed. Received API Key = sk-...1",
            "the gateway refuses the API key",
            401,
        ),
        (
            "key not allowed to access model. This key can only access models=['a'].",
            "the API key has no access to the model",
            403,
        ),
        (
            "Budget has been exceeded! Current cost: 2.0, Max budget: 1.0",
            "the gateway's budget is used up",
            None,
        ),
        (
            (
                "No deployments available for selected model, Try again in 30 seconds. "
                "All deployments "
                "for selected model are in cooldown. Passed model=judge."
            ),
            "all deployments of the model are in cooldown at the gateway",
            None,
        ),
        ("Rate limit reached for gpt-6-luna", "Rate limit reached for gpt-6-luna", None),
    ],
)
def test_gateway_error(text: str, message: str, status: int | None) -> None:
    assert gateway_error(text) == (message, status)
