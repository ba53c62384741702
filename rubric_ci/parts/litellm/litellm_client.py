"""One request to any provider, through litellm."""

import asyncio
import logging
import os
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

from rubric_ci.errors import MissingExtra
from rubric_ci.models.llm import http_guard
from rubric_ci.models.llm.failures import (
    RequestError,
    error_message,
    find_error,
    find_failure,
    find_object,
    retry_after,
    status_of,
)
from rubric_ci.models.llm.failures import causes as causes_of
from rubric_ci.models.llm.gateway import (
    bare,
    gateway_facts,
    gateway_wording,
    missing_setup,
    provider_text,
    wording,
)
from rubric_ci.models.llm.http_guard import RefusedHost
from rubric_ci.models.llm.model_info import accepts_schema
from rubric_ci.models.llm.openai_http import (
    drawn,
    finish_of,
    max_tokens_param,
    messages,
    response_format_param,
    sent_name,
    text_of,
    usage,
)
from rubric_ci.system.installation import install_command
from rubric_ci.system.model_list import model_info
from rubric_ci.system.output_and_masking import redact
from rubric_ci.values.config import OutputMode
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelReply

# Without these, litellm downloads both lists, the first at import.
_OFFLINE = ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS")

_NO_ENV_FILE = {"LITELLM_MODE": "PRODUCTION", "PYTHON_DOTENV_DISABLED": "True"}
"""Without these, litellm reads the nearest `.env` above its own file, which a commit can add where
the virtual environment is inside the checkout: `ANTHROPIC_API_BASE=…` would send the key away.
"""

_NOT_FOR_LITELLM = frozenset(
    {
        "input_cost_per_token",
        "input_cost_per_token_batches",
        "max_tokens",
        "output_cost_per_token",
        "output_cost_per_token_batches",
    }
)

_UNGUARDED = "aiohttp_openai/"  # the one provider that litellm does not ask through httpx

_BROKEN_BODIES = ("Error converting to valid response block", "Unable to get json response")
"""litellm's messages for a malformed reply of status 200; some have a status of 422."""

_REFUSED = "HTTPStatusError"  # by name, because only litellm imports httpx
_BROKEN = "broken reply: "


async def ask_litellm(call: ModelCall) -> ModelReply:
    """Send a request to any provider; raises RequestError."""
    if call.endpoint.model.startswith(_UNGUARDED):
        message = f"{_UNGUARDED} follows redirects; set `model: openai/…` with this `api_base`"
        raise RequestError(message, retryable=False, billed=False)
    litellm = load_litellm()
    from openai import OpenAIError  # what every error of litellm's is a kind of

    try:
        response = await litellm.acompletion(**_arguments(litellm, call))
    except OpenAIError as error:
        raise request_error(error, call.endpoint.timeout_seconds) from error
    return _reply(call, response)


async def loaded_litellm(model: str) -> ModuleType:
    """Import litellm in a thread: the import takes seconds, which would count towards timeouts."""
    if load_litellm.cache_info().currsize:
        return load_litellm()
    try:
        return await asyncio.to_thread(load_litellm)
    except MissingExtra as error:
        raise MissingExtra(f"`{model}`: {error.message}", error.hint) from error


@cache
def load_litellm() -> ModuleType:
    """Import litellm, which takes seconds, without its downloads and without an `.env` file."""
    for name in _OFFLINE:
        os.environ.setdefault(name, "True")
    os.environ.update(_NO_ENV_FILE)  # even if the workflow set it
    try:
        import litellm
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "litellm is not installed; models of other providers than OpenAI, Anthropic and Gemini "
            "need it, and options that only litellm knows",
            install_command("judge"),
        ) from error
    import aiohttp
    import httpx
    import urllib3

    http_guard.guard(httpx.AsyncClient, httpx.Client)
    http_guard.guard_logins(urllib3.HTTPConnectionPool)
    http_guard.guard_sessions(aiohttp.ClientSession)
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)  # errors are raised as well
    return litellm


def output_mode(litellm: ModuleType, model: str) -> OutputMode:
    """Return the strictest output mode that the model supports; an unknown model shows it."""
    known = model_info(model)
    if not known or litellm.supports_response_schema(model=model):
        return "json_schema" if accepts_schema(model) else "json_object"
    takes = litellm.get_supported_openai_params(model=model)
    return "json_object" if takes and "response_format" in takes else "prompt"


def _arguments(litellm: ModuleType, call: ModelCall) -> dict[str, Any]:
    options = {k: v for k, v in call.endpoint.options.items() if k not in _NOT_FOR_LITELLM}
    return {
        **options,
        "model": call.endpoint.model,
        "messages": messages(call),
        "timeout": call.endpoint.timeout_seconds,
        # Retries are done by models/llm/failures.py; litellm's differ by provider.
        "num_retries": 0,
        "max_retries": 0,
        **max_tokens_param(call),
        **response_format_param(call, lambda model: output_mode(litellm, model)),
    }


def _reply(call: ModelCall, response: Any) -> ModelReply:
    if not response.choices:
        raise RequestError("broken reply: no choices", retryable=True)
    choice = response.choices[0]
    refusal = (choice.message.get("provider_specific_fields") or {}).get("refusal")
    gateway = gateway_facts(response._hidden_params.get("headers") or {})
    spent = getattr(response, "usage", None)
    read, written = (spent.prompt_tokens, spent.completion_tokens) if spent else (0, 0)
    return ModelReply(
        text=refusal or choice.message.content or "",
        finish=finish_of(choice.finish_reason, refused=bool(refusal)),
        usage=usage(read, written, _cost(call.endpoint.options, response, read, written)),
        model=gateway.model_of(sent_name(call.endpoint), text_of(getattr(response, "model", None))),
        fingerprint=text_of(getattr(response, "system_fingerprint", None)),
        fallback=gateway.fallback,
        media=() if call.output_schema else drawn(choice.message.get("images")),
    )


def _cost(options: Mapping[str, JSON], response: Any, read: int, written: int) -> float | None:
    """Return the cost of a call in dollars; None if it is unknown."""
    if read == 0:  # the server does not count tokens
        return None
    if "input_cost_per_token" in options:
        prices = options["input_cost_per_token"], options.get("output_cost_per_token", 0)
        return float(prices[0] * read + prices[1] * written)
    cost = response._hidden_params.get("response_cost")
    return None if cost is None else float(cost)


def request_error(error: Any, timeout: float) -> RequestError:
    causes = {type(cause).__name__: cause for cause in causes_of(error)}
    if not_sent := causes.get(RefusedHost.__name__):
        return RequestError(str(not_sent), retryable=False, billed=False, reached=False)
    message = _without_prefixes(str(error))
    if missing := missing_setup(message):  # nothing was sent, and a retry would not help
        return RequestError(missing, retryable=False, billed=False, reached=False)
    if refused := causes.get(http_guard.RefusedReply.__name__):
        return RequestError(str(refused), retryable=False, billed=True)
    if _REFUSED in causes:
        return _http_error(error, message)
    if failure := find_failure(error):
        return failure
    return _other_error(error, message, timeout)


def _http_error(error: Any, message: str) -> RequestError:
    body, said = find_object(message), provider_text(str(error))
    litellm_headers = getattr(error, "litellm_response_headers", None)
    headers = getattr(getattr(error, "response", None), "headers", None)
    text = said or message if body is None else error_message(body)
    return RequestError(
        f"HTTP {error.status_code}: {gateway_wording(text)}",
        status=error.status_code,
        retry_after=retry_after({**(headers or {}), **(litellm_headers or {})}),
    )


def _other_error(error: Any, message: str, timeout: float) -> RequestError:
    """Return the error for a reply of status 200, for no reply, or for an unsent request."""
    body = find_object(message)
    if inner := find_error({"error": body} if body and "message" in body else body):
        return inner
    if message.startswith(_BROKEN) or any(sign in message for sign in _BROKEN_BODIES):
        return RequestError(f"{_BROKEN}not in the provider's format", retryable=True)
    status = _status(error)
    if status == 408:
        message = f"no reply within {timeout:g} s"
    else:
        message = wording(type(error).__name__, message, provider_text(str(error)))
    given = getattr(error, "status_code", 500)
    replied = given == 422 or not isinstance(given, int)  # as `_status` says
    return RequestError(
        message, status=status, retryable=status is None or None, billed=False if replied else None
    )


def _status(error: Any) -> int | None:
    """Return the HTTP status of an error; None if there is none.

    NOTE: for a reply of status 200 that holds an error, litellm takes the status from the error's
    code, which may be a word, and uses 422 or 500 without one.
    """
    status = getattr(error, "status_code", None)
    return None if status in {422, 500} else status_of(status)


def _without_prefixes(message: str) -> str:
    """Return a message without litellm's prefixes and tracebacks."""
    line = " ".join(redact(message).split())
    text, traceback, _ = line.partition(" Traceback (most recent call last)")
    text = bare(text).partition(". Handle with `litellm.")[0][:500]
    # A traceback means that litellm failed to parse the reply.
    return f"{_BROKEN}{text}" if traceback else text
