"""Models of OpenAI's chat format, asked without litellm: calls and replies in that format.

litellm takes three seconds of processor time and 140 MB to load, and several milliseconds for
each call; docs/method.md has the figures. It is used for every other provider, and for models
with options that this module does not support.
"""

import os
import re
from collections.abc import Callable, Mapping
from math import inf
from typing import Final
from urllib.parse import quote

from rubric_ci.models.llm import direct_http
from rubric_ci.models.llm.failures import RequestError, find_error
from rubric_ci.models.llm.gateway import NO_GATEWAY, GatewayFacts, gateway_facts
from rubric_ci.models.llm.media import encoded, reply_media
from rubric_ci.models.llm.model_info import cost_of, counted, known_mode
from rubric_ci.system.model_list import model_info
from rubric_ci.system.output_and_masking import redact
from rubric_ci.values.config import OutputMode
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.media import Media
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.trace import Finish
from rubric_ci.values.usage import Usage

PREFIX: Final = "openai/"
DEFAULT_BASE: Final = "https://api.openai.com/v1"
_RESPONSES = "responses/"  # litellm's name for models of OpenAI's Responses API

SENT = frozenset(
    {
        *("temperature", "top_p", "seed", "frequency_penalty", "presence_penalty", "stop", "user"),
        "reasoning_effort",
    }
)
_LOOPBACK = re.compile(r"https?://(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(/|$)", re.IGNORECASE)
_NO_KEY = "none"  # servers without keys take any

_LONGEST_NAME = 120  # characters


def supports(endpoint: Endpoint, info: Mapping[str, JSON]) -> bool:
    known = direct_http.is_chat_model(endpoint, info, PREFIX, {*SENT, "organization"})
    return known and not endpoint.model.startswith(PREFIX + _RESPONSES)


def has_entry(endpoint: Endpoint) -> bool:
    return (
        endpoint.model.startswith(PREFIX)
        and "custom_llm_provider" not in endpoint.options
        and bool(server_of(endpoint)[1])
    )


def server_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return the base URL of a model and its API key; a server on this machine needs none."""
    # litellm reads these variables for every request as well.
    urls, keys = ("OPENAI_BASE_URL", "OPENAI_API_BASE"), ("OPENAI_API_KEY",)
    base, key = direct_http.connection(endpoint, DEFAULT_BASE, urls=urls, keys=keys)
    return base, key or (_NO_KEY if _LOOPBACK.match(base) else "")


async def ask(call: ModelCall) -> ModelReply:
    url, headers = url_of(call.endpoint, "chat/completions"), headers_of(call.endpoint)
    reply, known = await direct_http.post(url, headers, chat_body(call))
    return read_reply(call, reply, gateway_facts(known))


async def look_up(endpoint: Endpoint) -> Mapping[str, JSON]:
    """Return the server's entry of a model, which costs nothing to read; raises RequestError.

    Some servers have entries in their list of models only (llama.cpp), and some reply to any
    address. {}: the reply is no entry of the model, and there is no list.
    """
    name = endpoint.model.removeprefix(PREFIX).removeprefix(_RESPONSES)
    headers = headers_of(endpoint)
    missing: RequestError | None = None
    entry: Mapping[str, JSON] = {}
    try:
        entry = await direct_http.get(url_of(endpoint, f"models/{quote(name)}"), headers)
    except RequestError as error:
        if error.status != 404:
            raise
        missing = error
    if entry.get("id") == name:
        return entry
    try:
        listed = (await direct_http.get(url_of(endpoint, "models"), headers)).get("data")
    except RequestError as error:
        raise missing or error from None
    is_list = isinstance(listed, list) and all(isinstance(each, dict) for each in listed)
    every = {e["id"]: e for e in listed or () if "id" in e} if is_list else None
    if every is None and missing is None:
        return {}
    if every is None or name not in every:
        raise missing or RequestError(f"the list of models has no `{name}`", status=404)
    found: Mapping[str, JSON] = every[name]
    return found


def headers_of(endpoint: Endpoint) -> dict[str, str]:
    """Return the request headers: credentials, organization, and `extra_headers`.

    Raises RequestError without an API key.
    """
    key = direct_http.required(server_of(endpoint)[1], "OPENAI_API_KEY")
    environment = os.environ
    organization = (
        endpoint.options.get("organization")
        or environment.get("OPENAI_ORGANIZATION")
        or environment.get("OPENAI_ORG_ID")
    )
    named = {
        "OpenAI-Organization": organization,
        "OpenAI-Project": environment.get("OPENAI_PROJECT_ID"),
    }
    return {
        "Authorization": f"Bearer {key}",
        **{name: str(value) for name, value in named.items() if value},
        **(endpoint.options.get("extra_headers") or {}),
    }


def url_of(endpoint: Endpoint, path: str) -> str:
    return f"{server_of(endpoint)[0].rstrip('/')}/{path}"


def chat_body(call: ModelCall) -> dict[str, JSON]:
    options = call.endpoint.options
    return {
        **{name: value for name, value in options.items() if name in SENT},
        "model": sent_name(call.endpoint),
        "messages": messages(call),
        **_limit(call),
        **response_format_param(call, known_mode),
    }


def _limit(call: ModelCall) -> dict[str, int]:
    """Return the limit of the reply under the name that the model takes.

    Reasoning models refuse the old name, and servers of other makers may not know the new one.
    """
    limit, info = max_tokens_param(call), model_info(call.endpoint.model)
    at_openai = server_of(call.endpoint)[0] == DEFAULT_BASE
    renamed = info.get("supports_reasoning") or (at_openai and not info)
    return {"max_completion_tokens": limit["max_tokens"]} if limit and renamed else limit


def sent_name(endpoint: Endpoint) -> str:
    """Return the name of a model as requests have it, without the provider."""
    return endpoint.model.removeprefix(PREFIX)


def read_reply(
    call: ModelCall, reply: Mapping[str, JSON], gateway: GatewayFacts = NO_GATEWAY
) -> ModelReply:
    """Return a reply in OpenAI's chat format as a value; raises RequestError.

    Its cost is by the configured prices, else the gateway's, else by the prices of the model list.
    """
    if not reply.get("choices"):
        raise find_error(reply) or RequestError("broken reply: no choices", retryable=True)
    try:
        choice = reply["choices"][0]
        if error := find_error(choice):
            raise error
        refusal, content = choice["message"].get("refusal"), choice["message"].get("content")
        text: str = (refusal or content or "") + ""
        finish, spent = choice.get("finish_reason"), reply.get("usage") or {}
        tokens = counted(
            read=[spent.get("prompt_tokens")],
            cached=(spent.get("prompt_tokens_details") or {}).get("cached_tokens"),
            written=[spent.get("completion_tokens")],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise RequestError(f"broken reply: {error}", retryable=True) from error
    configured = "input_cost_per_token" in call.endpoint.options
    own = configured or gateway.cost_usd is None
    cost = cost_of(call.endpoint, tokens) if own else gateway.cost_usd
    return ModelReply(
        text=text,
        finish=finish_of(finish, refused=bool(refusal)),
        usage=usage(tokens.read, tokens.written, cost),
        model=gateway.model_of(sent_name(call.endpoint), text_of(reply.get("model"))),
        fingerprint=text_of(reply.get("system_fingerprint")),
        fallback=gateway.fallback,
        media=() if call.output_schema else drawn(choice["message"].get("images")),
    )


def drawn(images: JSON) -> tuple[Media, ...]:
    """Return the images of an answer, as OpenRouter and litellm's proxy add them to a message."""
    return reply_media(images, "images") if images else ()


def text_of(value: JSON) -> str:
    """Return a text of a reply, short and without secrets; "" for anything else."""
    return redact(value)[:_LONGEST_NAME] if isinstance(value, str) else ""


def messages(call: ModelCall) -> list[dict[str, JSON]]:
    return [
        {"role": each.role, "content": [_block(part) for part in each.parts] or each.content}
        for each in call.messages
    ]


def _block(part: str | Media) -> JSON:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    url = f"data:{part.type};base64,{encoded(part)}"
    if part.is_image:
        return {"type": "image_url", "image_url": {"url": url}}
    name = part.path.rpartition("/")[2]
    return {"type": "file", "file": {"filename": name, "file_data": url}}


def max_tokens_param(call: ModelCall) -> dict[str, int]:
    """Return the parameter for the length of a reply, at most the model's own limit; or {}."""
    wanted = call.max_tokens or call.endpoint.options.get("max_tokens")
    if not wanted:
        return {}
    most = model_info(call.endpoint.model).get("max_output_tokens")
    return {"max_tokens": min(wanted, most) if isinstance(most, int) else wanted}


def response_format_param(call: ModelCall, mode_of: Callable[[str], OutputMode]) -> dict[str, JSON]:
    """Return the parameter for the format of the reply, as strict as the model supports; or {}."""
    if call.output_schema is None:
        return {}
    match call.output_mode or mode_of(call.endpoint.model):
        case "json_schema":
            schema = {"name": "reply", "schema": call.output_schema, "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "prompt":
            return {}


def finish_of(reason: JSON, *, refused: bool) -> Finish:
    if reason == "length":
        return "length"
    return "refusal" if refused or reason == "content_filter" else "stop"


def usage(read: int, written: int, cost: float | None) -> Usage:
    """Return the usage of one call; with a cost of None, or an impossible one, it is unpriced."""
    tokens, is_cost = counted(read=[read], written=[written]), cost is not None and 0 <= cost < inf
    return Usage(
        calls=1,
        input_tokens=tokens.read,
        output_tokens=tokens.written,
        cost_usd=cost or 0.0 if is_cost else 0.0,
        unpriced_calls=int(not is_cost),
    )
