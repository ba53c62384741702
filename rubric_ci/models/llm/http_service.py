"""An HTTP service that answers the cases: one request each, and what its reply has.

A reply has a text, images, calls of tools, tokens and a cost. A stream is read to its end:
server-sent events, or a line of JSON each.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from rubric_ci.models.llm import direct_http
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.models.llm.media import reply_media
from rubric_ci.text import numbers
from rubric_ci.values.agent_program import HttpRequest
from rubric_ci.values.json_value import JSON, MAX_DEPTH, Missing, depth, value_at
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.media import SUFFIXES, Media
from rubric_ci.values.references import MEDIA_STARTS
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from rubric_ci.values.walk import text_or_json

_NAMED: Final = 10  # keys of a reply in a message
_NO_EVENT: Final = frozenset(("", "[DONE]"))


def supports(*_: object) -> bool:
    return True


has_entry = supports


async def ask(call: ModelCall) -> ModelReply:
    """Send the body, which is the message of the call, and return the answer of the reply."""
    endpoint = call.endpoint
    assert endpoint.http is not None  # noqa: S101 - only such endpoints come here
    body = call.messages[0].content.encode() if endpoint.http.body is not None else None
    data, _ = await direct_http.send(
        endpoint.http.method,
        server_of(endpoint)[0],
        _headers(endpoint, endpoint.http),
        data=body,
        through_proxy=not endpoint.http.is_started,
    )
    return read_reply(data, endpoint.http)


def server_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return the URL; the credential is in the headers."""
    return str(endpoint.options["api_base"]), ""


async def look_up(_: Endpoint) -> Mapping[str, JSON]:
    """Return an empty entry: a service has none, and is not asked before the first case."""
    return {}


def _headers(endpoint: Endpoint, http: HttpRequest) -> Mapping[str, str]:
    given: dict[str, Any] = endpoint.options.get("headers", {})
    kind = "text/plain; charset=utf-8" if isinstance(http.body, str) else "application/json"
    is_given = http.body is None or "content-type" in map(str.lower, given)
    return given if is_given else {"Content-Type": kind, **given}


def read_reply(data: bytes, http: HttpRequest) -> ModelReply:
    """Return the reply of a service; raises RequestError.

    Without a place of the answer it is the whole text, or the images and documents alone.
    """
    if http.stream:
        return _streamed_reply([*_events(data)], http)
    if not (http.answer or http.answer_files or http.tool_calls or http.usage):
        text, media = _whole(data)
        return ModelReply(text=text, media=media, usage=_used({}))
    reply = _parsed(data)
    found = _at(reply, http.answer, "answer") if http.answer else ""
    if not http.answer and not http.answer_files:
        found = data.decode()
    place = http.answer_files
    media = reply_media(_at(reply, place, "answer_files"), place) if place else ()
    return ModelReply(
        text="" if found is None else text_or_json(found),  # null is no answer
        media=media,
        calls=_calls(reply, http.tool_calls),
        usage=_used({name: _at(reply, place, "usage") for name, place in http.usage.items()}),
    )


def _streamed_reply(written: Sequence[str], http: HttpRequest) -> ModelReply:
    """Return the pieces of text of all events as one, and all of their calls of tools.

    Without a place of the answer an event is the piece: a string of JSON, or a text as it is.
    """
    events = [_json_or_text(text) for text in written]
    pieces = [
        value_at(each, http.answer) if http.answer else each if isinstance(each, str) else text
        for text, each in zip(written, events, strict=True)
    ]
    texts = [text_or_json(piece) for piece in pieces if not isinstance(piece, Missing | None)]
    if not texts:
        keys = dict.fromkeys(key for each in events if isinstance(each, dict) for key in each)
        raise _lacking("the stream", http.answer, "answer", list(keys))
    lists = [each for each in events if not isinstance(value_at(each, http.tool_calls), Missing)]
    usage: dict[str, JSON] = {}
    for name, place in http.usage.items():
        found = [value_at(each, place) for each in events]
        known = [each for each in found if not isinstance(each, Missing | None)]
        if not known:
            raise _lacking("the stream", place, "usage", [])
        usage[name] = known[-1]
    calls = [call for each in lists for call in _calls(each, http.tool_calls)]
    return ModelReply(
        text="".join(texts), calls=tuple(calls) if http.tool_calls else (), usage=_used(usage)
    )


def _events(data: bytes) -> Iterator[str]:
    """Yield the data of each event; raises RequestError for a line that is not JSON."""
    text = _decoded(data).replace("\r\n", "\n").replace("\r", "\n")
    if not any(line.startswith(("data:", "event:", ":")) for line in text.split("\n")):
        for line in filter(str.strip, text.split("\n")):
            _parsed(line.encode())
            yield line
        return
    for block in text.split("\n\n"):
        fields = [line.partition(":")[::2] for line in block.split("\n")]
        values = [(name, value.removeprefix(" ")) for name, value in fields]
        said = "\n".join(value for name, value in values if name == "data")
        if ("event", "error") in values:
            raise RequestError(f"the stream has an error: {said[:200]}", retryable=True)
        if said not in _NO_EVENT:
            yield said


def _json_or_text(text: str) -> JSON:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _shallow(found)


def _whole(data: bytes) -> tuple[str, tuple[Media, ...]]:
    """Return a reply that is the answer: a text, an image or a document."""
    if data.startswith(MEDIA_STARTS):
        from rubric_ci.values.media import media_of  # few replies are one

        if media := media_of("answer", data, partial(bytes, data)):
            return "", (replace(media, path=f"answer{SUFFIXES[media.type][0]}"),)
    return _decoded(data), ()


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except ValueError as error:
        raise RequestError(f"the reply is not UTF-8: {error}", retryable=False) from error


def _parsed(data: bytes) -> JSON:
    try:
        found = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the reply is not JSON: {error}", retryable=False) from error
    return _shallow(found)


def _shallow(found: JSON) -> JSON:
    """Return a value that a report can hold; raises RequestError for one of too many levels."""
    if depth(found) > MAX_DEPTH:
        message = f"the reply has JSON of more than {MAX_DEPTH} levels"
        raise RequestError(message, retryable=False)
    return found


def _at(reply: JSON, place: str, key: str) -> JSON:
    found = value_at(reply, place)
    if isinstance(found, Missing):
        what = "the reply" if isinstance(reply, dict) else "the reply, which is no object,"
        raise _lacking(what, place, key, list(reply) if isinstance(reply, dict) else [])
    return found


def _lacking(what: str, place: str, key: str, keys: Sequence[str]) -> RequestError:
    only = f", only {numbers.listed(keys, _NAMED)}" if keys else ""
    return RequestError(
        f"{what} has no `{place}`{only}; check `{key}` of the target", retryable=False
    )


def _calls(reply: JSON, place: str) -> tuple[Mapping[str, JSON], ...]:
    """Return the calls of tools at a place, in the form in which all targets report them.

    A chat message of OpenAI's form that calls no tool has no list.
    """
    if not place or _is_chat_message_without_calls(reply, place):
        return ()
    found = _at(reply, place, "tool_calls")
    if found is not None and not isinstance(found, list):
        raise _no_call(place, "it is no list")
    return tuple(_call(each, f"{place}/{number}") for number, each in enumerate(found or []))


def _is_chat_message_without_calls(reply: JSON, place: str) -> bool:
    for end in (".tool_calls", "/tool_calls"):
        if place.endswith(end):
            message = value_at(reply, place.removesuffix(end))
            return isinstance(message, dict) and "role" in message and "tool_calls" not in message
    return False


def _call(call: Any, place: str) -> Mapping[str, JSON]:
    inner = call.get("function") if isinstance(call, dict) else None
    facts = {**call, **inner} if isinstance(inner, dict) else call
    if not isinstance(facts, dict):
        raise _no_call(place, "it is no object")
    name = facts.get("name", facts.get("tool"))
    if not isinstance(name, str):
        raise _no_call(place, "it has no `name`")
    arguments = facts.get("arguments", facts.get("input"))
    # OpenAI's are written as JSON.
    written = _json_or_text(arguments) if isinstance(arguments, str) else arguments
    output = facts.get("output")
    return {
        "tool": name,
        **({} if arguments is None else {"input": written}),
        **({} if output is None else {"output": text_or_json(output)}),
    }


def _no_call(place: str, why: str) -> RequestError:
    message = f"`{place}` of the reply is no call of a tool: {why}; a call is {{name, arguments}}"
    return RequestError(message, retryable=False)


def _used(found: Mapping[str, JSON]) -> Usage:
    """Return the usage of one call; its cost is unknown unless the reply says it."""
    values = {name: _number(name, value) for name, value in found.items()}
    return Usage(
        calls=1,
        input_tokens=int(values.get("input_tokens", 0)),
        output_tokens=int(values.get("output_tokens", 0)),
        cost_usd=float(values.get("cost_usd", 0)),
        unpriced_calls=int("cost_usd" not in values),
    )


def _number(name: str, value: JSON) -> float:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else -1
    if not math.isfinite(number) or number < 0:
        message = f"`usage.{name}` of the reply must be a number, not {json.dumps(value)}"
        raise RequestError(message, retryable=False)
    return number
