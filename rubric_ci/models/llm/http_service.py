"""An HTTP service that answers the cases: one request each, the answer from its reply."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from rubric_ci.models.llm import direct_http
from rubric_ci.models.llm.retry import RequestError
from rubric_ci.text import numbers
from rubric_ci.values.config import Endpoint, HttpRequest
from rubric_ci.values.json_value import JSON, Missing, value_at
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.media import SUFFIXES, Media
from rubric_ci.values.references import MEDIA_STARTS
from rubric_ci.values.usage import Usage

_NAMED = 10  # keys of a reply in a message


async def ask(call: ModelCall) -> ModelReply:
    """Send the body, which is the message of the call, and return the answer of the reply."""
    endpoint = call.endpoint
    assert endpoint.http is not None  # noqa: S101 - only such endpoints come here
    body = call.messages[0].content.encode() if endpoint.http.body is not None else None
    data = await direct_http.send(
        endpoint.http.method,
        server_of(endpoint)[0],
        _headers(endpoint, endpoint.http),
        body,
        through_proxy=not endpoint.http.is_started,
    )
    text, media = _reply(data, endpoint.http)
    return ModelReply(text=text, media=media, usage=Usage(calls=1, unpriced_calls=1))


def server_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return the URL; the credential is in the headers."""
    return str(endpoint.options["api_base"]), ""


async def look_up(_: Endpoint) -> Mapping[str, JSON]:
    """Return an empty entry: a service has none, and is not asked before the first case."""
    return {}


def _headers(endpoint: Endpoint, http: HttpRequest) -> Mapping[str, str]:
    given: dict[str, Any] = endpoint.options.get("headers", {})
    kind = "text/plain; charset=utf-8" if isinstance(http.body, str) else "application/json"
    own = {} if http.body is None else {"Content-Type": kind}
    named = {name.lower() for name in given}
    return {**{n: v for n, v in own.items() if n.lower() not in named}, **given}


def _reply(data: bytes, http: HttpRequest) -> tuple[str, tuple[Media, ...]]:
    """Return the answer of a reply, with its images and documents; raises RequestError.

    Without a place of the answer it is the whole text, or the images and documents alone.
    """
    if not http.answer and not http.answer_files:
        return _whole(data)
    reply = _parsed(data)
    found = _at(reply, http.answer, "answer") if http.answer else ""
    media = _media(_at(reply, http.answer_files, "answer_files"), http) if http.answer_files else ()
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False), media


def _whole(data: bytes) -> tuple[str, tuple[Media, ...]]:
    """Return a reply that is the answer: a text, an image or a document."""
    if data.startswith(MEDIA_STARTS):
        from rubric_ci.values.media_headers import media_of  # few replies are one

        if media := media_of("answer", data, partial(bytes, data)):
            return "", (replace(media, path=f"answer{SUFFIXES[media.type][0]}"),)
    try:
        return data.decode(), ()
    except ValueError as error:
        raise RequestError(f"the reply is not UTF-8: {error}", retryable=False) from error


def _parsed(data: bytes) -> JSON:
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the reply is not JSON: {error}", retryable=False) from error


def _at(reply: JSON, place: str, key: str) -> JSON:
    found = value_at(reply, place)
    if isinstance(found, Missing):
        keys = f", only {numbers.listed(list(reply), _NAMED)}" if isinstance(reply, dict) else ""
        raise RequestError(
            f"the reply has no `{place}`{keys}; check `{key}` of the target", retryable=False
        )
    return found


def _media(found: JSON, http: HttpRequest) -> tuple[Media, ...]:
    from rubric_ci.models.llm.reply_media import sent_media  # few services send images

    return sent_media(found, http.answer_files)
