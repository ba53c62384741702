"""Models of Google's Gemini API, asked without litellm.

https://ai.google.dev/api/generate-content
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from rubric_ci.models.llm import direct_http
from rubric_ci.models.llm.failures import RequestError, find_error
from rubric_ci.models.llm.media import encoded, reply_media
from rubric_ci.models.llm.model_info import cost_of, counted, known_mode
from rubric_ci.models.llm.openai_http import max_tokens_param, text_of, usage
from rubric_ci.values.json_value import JSON, value_at
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.media import Media
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.trace import Finish

PREFIX: Final = "gemini/"
_BASE = "https://generativelanguage.googleapis.com/v1beta"
_OPEN_MODELS = "gemini/gemma"  # take no system instruction
_SENT = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "seed": "seed",
    "stop": "stopSequences",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
}
_KEYS = "GEMINI_API_KEY", "GOOGLE_API_KEY"
_ROLES = {"user": "user", "assistant": "model"}
_FINISHES: Mapping[str, Finish] = {
    "MAX_TOKENS": "length",
    **dict.fromkeys(("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), "refusal"),
}


def supports(endpoint: Endpoint, info: Mapping[str, JSON]) -> bool:
    known = direct_http.is_chat_model(endpoint, info, PREFIX, _SENT)
    return known and not endpoint.model.startswith(_OPEN_MODELS)


def has_entry(endpoint: Endpoint) -> bool:
    return supports(endpoint, {}) and bool(server_of(endpoint)[1])


def server_of(endpoint: Endpoint) -> tuple[str, str]:
    base, key = direct_http.connection(endpoint, _BASE, urls=("GEMINI_API_BASE",), keys=_KEYS)
    return base.rstrip("/"), key


async def ask(call: ModelCall) -> ModelReply:
    url = f"{_url(call.endpoint)}:generateContent"
    reply, _ = await direct_http.post(url, _headers(call.endpoint), body_of(call))
    return _model_reply(call, reply)


async def look_up(endpoint: Endpoint) -> Mapping[str, JSON]:
    return await direct_http.get(_url(endpoint), _headers(endpoint))


def body_of(call: ModelCall) -> dict[str, JSON]:
    system = [{"text": each.content} for each in call.messages if each.role == "system"]
    turns = [
        {
            "role": _ROLES[each.role],
            "parts": [_part(part) for part in each.parts or (each.content,)],
        }
        for each in call.messages
        if each.role != "system"
    ]
    config = _generation_config(call)
    return {
        "contents": turns,
        **({"systemInstruction": {"parts": system}} if system else {}),
        **({"generationConfig": config} if config else {}),
    }


def _part(part: str | Media) -> JSON:
    if isinstance(part, str):
        return {"text": part}
    return {"inlineData": {"mimeType": part.type, "data": encoded(part)}}


def _generation_config(call: ModelCall) -> dict[str, JSON]:
    options = call.endpoint.options
    config = {_SENT[name]: value for name, value in options.items() if name in _SENT}
    if isinstance(config.get("stopSequences"), str):
        config["stopSequences"] = [config["stopSequences"]]
    if limit := max_tokens_param(call):
        config["maxOutputTokens"] = limit["max_tokens"]
    if call.output_schema is None:
        return config
    match call.output_mode or known_mode(call.endpoint.model):
        case "json_schema":
            config["responseMimeType"] = "application/json"
            config["responseJsonSchema"] = call.output_schema
        case "json_object":
            config["responseMimeType"] = "application/json"
        case "prompt":
            pass
    return config


def _url(endpoint: Endpoint) -> str:
    return f"{server_of(endpoint)[0]}/models/{quote(endpoint.model.removeprefix(PREFIX))}"


def _headers(endpoint: Endpoint) -> dict[str, str]:
    key = direct_http.required(server_of(endpoint)[1], *_KEYS)
    return {"x-goog-api-key": key, **(endpoint.options.get("extra_headers") or {})}


def _model_reply(call: ModelCall, reply: Mapping[str, JSON]) -> ModelReply:
    if error := find_error(reply):
        raise error
    try:
        text, finish = _candidate(reply)
        spent = reply.get("usageMetadata") or {}
        tokens = counted(
            read=[spent.get("promptTokenCount")],
            cached=spent.get("cachedContentTokenCount"),
            written=[spent.get("candidatesTokenCount"), spent.get("thoughtsTokenCount")],
        )
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise direct_http.broken_format() from error
    return ModelReply(
        text=text,
        finish=finish,
        usage=usage(tokens.read, tokens.written, cost_of(call.endpoint, tokens)),
        media=_media(call, reply),
        model=text_of(reply.get("modelVersion")),
    )


def _media(call: ModelCall, reply: Mapping[str, JSON]) -> tuple[Media, ...]:
    """Return the images of an answer; a judge's have no meaning. Raises RequestError."""
    parts = value_at(reply, "/candidates/0/content/parts")
    listed = parts if isinstance(parts, list) and not call.output_schema else ()
    drawn = (each for each in listed if isinstance(each, dict) and not each.get("thought"))
    found = [each["inlineData"] for each in drawn if "inlineData" in each]
    return reply_media(found, "parts")


def _candidate(reply: Mapping[str, JSON]) -> tuple[str, Finish]:
    """Return the text of the reply, without thoughts, and why it ended."""
    if (reply.get("promptFeedback") or {}).get("blockReason"):
        return "", "refusal"
    if reply.get("candidates") == []:
        raise RequestError("broken reply: no choices", retryable=True)
    candidate = reply["candidates"][0]
    parts = (candidate.get("content") or {}).get("parts") or []
    text = "".join(part["text"] for part in parts if "text" in part and not part.get("thought"))
    return text, _FINISHES.get(str(candidate.get("finishReason")), "stop")
