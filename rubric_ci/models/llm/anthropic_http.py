"""Models of Anthropic's Messages API, asked without litellm.

https://platform.claude.com/docs/en/api/messages
"""

import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from rubric_ci.models.llm import direct_http
from rubric_ci.models.llm.failures import find_error
from rubric_ci.models.llm.media import encoded
from rubric_ci.models.llm.model_info import cost_of, counted, known_mode
from rubric_ci.models.llm.openai_http import max_tokens_param, text_of, usage
from rubric_ci.system.model_list import model_info
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.media import Media
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.trace import Finish

PREFIX: Final = "anthropic/"
_BASE = "https://api.anthropic.com"
_VERSION = "2023-06-01"
_DEFAULT_LIMIT = 4096  # tokens of a reply, for a model without a known limit: it must be sent
_SENT = {"temperature": "temperature", "top_p": "top_p", "top_k": "top_k", "stop": "stop_sequences"}
_FINISHES: Mapping[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "content_filter": "refusal",  # of other servers with this format
}


def supports(endpoint: Endpoint, info: Mapping[str, JSON]) -> bool:
    key = server_of(endpoint)[1]
    has_token = not endpoint.identity and (
        key.startswith("sk-ant-oat") or (not key and "ANTHROPIC_AUTH_TOKEN" in os.environ)
    )
    options = {*_SENT, "reasoning_effort"}
    return direct_http.is_chat_model(endpoint, info, PREFIX, options) and not has_token


def has_entry(endpoint: Endpoint) -> bool:
    return supports(endpoint, {}) and bool(server_of(endpoint)[1])


def server_of(endpoint: Endpoint) -> tuple[str, str]:
    urls, keys = ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"), ("ANTHROPIC_API_KEY",)
    base, key = direct_http.connection(endpoint, _BASE, urls=urls, keys=keys)
    return base.rstrip("/").removesuffix("/messages").removesuffix("/v1"), key


async def ask(call: ModelCall) -> ModelReply:
    url = f"{server_of(call.endpoint)[0]}/v1/messages"
    reply, _ = await direct_http.post(url, _headers(call.endpoint), body_of(call))
    return _model_reply(call, reply)


async def look_up(endpoint: Endpoint) -> Mapping[str, JSON]:
    name = quote(endpoint.model.removeprefix(PREFIX))
    return await direct_http.get(f"{server_of(endpoint)[0]}/v1/models/{name}", _headers(endpoint))


def body_of(call: ModelCall) -> dict[str, JSON]:
    options = call.endpoint.options
    system = "\n\n".join(each.content for each in call.messages if each.role == "system")
    turns = [
        {"role": each.role, "content": [_block(part) for part in each.parts] or each.content}
        for each in call.messages
        if each.role != "system"
    ]
    known = {_SENT[name]: value for name, value in options.items() if name in _SENT}
    if isinstance(known.get("stop_sequences"), str):
        known["stop_sequences"] = [known["stop_sequences"]]
    output = _output_config(call)
    most = model_info(call.endpoint.model).get("max_output_tokens", _DEFAULT_LIMIT)
    return {
        **known,
        "model": call.endpoint.model.removeprefix(PREFIX),
        "max_tokens": max_tokens_param(call).get("max_tokens") or int(most),
        "messages": turns,
        **({"system": system} if system else {}),
        **({"output_config": output} if output else {}),
    }


def _block(part: str | Media) -> JSON:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    source = {"type": "base64", "media_type": part.type, "data": encoded(part)}
    return {"type": part.kind, "source": source}


def _output_config(call: ModelCall) -> dict[str, JSON]:
    config: dict[str, JSON] = {}
    if effort := call.endpoint.options.get("reasoning_effort"):
        config["effort"] = effort
    mode = call.output_mode or known_mode(call.endpoint.model)
    if call.output_schema is not None and mode == "json_schema":
        config["format"] = {"type": "json_schema", "schema": call.output_schema}
    return config


def _headers(endpoint: Endpoint) -> dict[str, str]:
    key = direct_http.required(server_of(endpoint)[1], "ANTHROPIC_API_KEY")
    own = endpoint.options.get("extra_headers") or {}
    if endpoint.identity:
        token = {"Authorization": f"Bearer {key}", "anthropic-beta": "oauth-2025-04-20"}
        return {**token, "anthropic-version": _VERSION, **own}
    return {"x-api-key": key, "anthropic-version": _VERSION, **own}


def _model_reply(call: ModelCall, reply: Mapping[str, JSON]) -> ModelReply:
    if error := find_error(reply):
        raise error
    try:
        spent = reply.get("usage") or {}
        text = "".join(block["text"] for block in reply["content"] if block["type"] == "text")
        cached = spent.get("cache_read_input_tokens")
        tokens = counted(
            read=[spent.get("input_tokens"), cached, spent.get("cache_creation_input_tokens")],
            cached=cached,
            written=[spent.get("output_tokens")],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise direct_http.broken_format() from error
    return ModelReply(
        text=text,
        finish=_FINISHES.get(str(reply.get("stop_reason")), "stop"),
        usage=usage(tokens.read, tokens.written, cost_of(call.endpoint, tokens)),
        model=text_of(reply.get("model")),
    )
