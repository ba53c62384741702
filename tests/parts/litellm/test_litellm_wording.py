"""litellm's errors as people read them: one sentence per class, and the reason."""

import asyncio

import pytest

from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.models.llm.gateway import missing_setup, wording
from rubric_ci.values.llm_calls import ChatMessage, ModelCall
from rubric_ci.values.targets import Endpoint

NOWHERE = {"api_key": "k", "api_base": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("class_name", "message", "text"),
    [
        pytest.param(
            "UnsupportedParamsError",
            "x does not support parameters: ['top_k', 'seed'], for model=x. To drop these, set …",
            "the model does not support `top_k`, `seed`; remove it from the model's settings",
            id="parameters",
        ),
        pytest.param(
            "BadRequestError",
            "LLM Provider NOT provided. Pass in the LLM provider you are trying to call.",
            "the model has no provider; write `provider/model`, such as `openai/gpt-6-luna`",
            id="provider",
        ),
        pytest.param(
            "UnsupportedParamsError",
            "m doesn't support temperature=0 while reasoning is active. To drop unsupported params",
            "the request failed: m doesn't support temperature=0 while reasoning is active",
            id="value of a parameter",
        ),
        ("NotFoundError", "no m", "the provider does not know the model: no m"),
        ("NewError", "litellm.NewError: any", "the request failed: any"),
        ("ContextWindowExceededError", "", "the input is too long for the model"),
    ],
)
def test_wording(class_name: str, message: str, text: str) -> None:
    assert wording(class_name, message) == text


def test_the_provider_s_own_words_are_kept() -> None:
    found = wording("RateLimitError", "slow down", "slow down")
    assert found == "the provider's rate limit is reached: slow down"


def test_a_missing_key_names_its_variables() -> None:
    found = missing_setup(
        "Missing Gemini API key. Set the GEMINI_API_KEY or GOOGLE_API_KEY variable."
    )
    assert found == (
        "the API key is missing; set `api_key` of the model or the variable GEMINI_API_KEY or "
        "GOOGLE_API_KEY"
    )
    found = missing_setup("Missing xAI API key")
    assert found == "the API key is missing; set `api_key` of the model"


def test_a_missing_package_is_named() -> None:
    found = missing_setup("broken reply: No module named 'google'")
    assert found == "this provider needs the Python package `google-auth`; install it"
    assert missing_setup("Cannot connect") == ""


def test_missing_credentials_of_google_name_their_variable() -> None:
    found = missing_setup("Your default credentials were not found. To set up Application Default")
    assert found == (
        "Google's credentials are missing; set GOOGLE_APPLICATION_CREDENTIALS to their file, as "
        "google-github-actions/auth does"
    )


@pytest.mark.parametrize(
    ("model", "options", "text", "reached"),
    [
        pytest.param(
            "anthropic/claude-sonnet-5-5",
            {},
            "the API key is missing; set `api_key` of the model or the variable ANTHROPIC_API_KEY",
            False,
            id="key",
        ),
        pytest.param(
            "anthropic/claude-sonnet-5-5",
            {**NOWHERE, "frequency_penalty": 1},
            "the model does not support `frequency_penalty`; remove it from the model's settings",
            True,
            id="parameter",
        ),
    ],
)
def test_real_errors(
    model: str,
    options: dict[str, object],
    text: str,
    reached: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    hello = (ChatMessage(role="user", content="Hello"),)
    call = ModelCall(endpoint=Endpoint(model=model, options=options), messages=hello, key="k")
    with pytest.raises(RequestError) as caught:
        asyncio.run(request(call))
    assert str(caught.value).startswith(text)
    assert caught.value.reached is reached
