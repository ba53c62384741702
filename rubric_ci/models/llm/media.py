"""Images and documents: in requests, replies and answers, and as caches and recordings keep them.

They are base64 or `data:` URIs. The text of an answer names each of them, so that every reader of
the text knows that it is there.
"""

import binascii
import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from rubric_ci.errors import CannotAnswer, CannotReadFile, FailureScope
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import (
    MOST_BYTES,
    MOST_BYTES_OF_CASE,
    TYPES,
    Media,
    media_of,
    with_names,
)
from rubric_ci.values.results import Answer

DATA: Final = "data:"
_FACTS: Final = ("path", "type", "digest", "size", "width", "height", "pages")
_NAMES: Final = ("path", "name", "filename")
_CONTENTS: Final = ("data", "b64_json", "base64", "image_url", "url", "value")
_FORMS: Final = 'base64, a `data:` URI, or an object {"name", "data"} with one of them'

_IMAGES: Final = ("image", "image_url", "input_image")
_FILES: Final = ("file", "document")


class UnreadableFile(RequestError):
    """An image of a request cannot be read: nothing is sent, and other requests may be."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False, billed=False, reached=False)

    @property
    def scope(self) -> FailureScope:
        return "request"


def encoded(media: Media) -> str:
    """Return the bytes in base64; raises RequestError if the file is not what the case has."""
    try:
        return b64encode(content(media)).decode("ascii")
    except CannotReadFile as error:
        raise UnreadableFile(error.message) from error


def content(media: Media) -> bytes:
    """Return the bytes; raises CannotReadFile if their digest is another one now."""
    data = media.read()
    if hashlib.sha256(data).hexdigest() != media.digest:
        raise CannotReadFile(f"{media.path} has changed since the run began", "run again")
    return data


def reply_media(found: JSON, place: str) -> tuple[Media, ...]:
    """Return the images and documents at a place of a reply; raises RequestError.

    None is read as an empty list, and a value that is not a list as a list of one.
    """
    listed = found if isinstance(found, list) else [] if found is None else [found]
    try:
        media = tuple(
            _media(each, number, f"{place}/{number - 1}" if isinstance(found, list) else place)
            for number, each in enumerate(listed, start=1)
        )
        check_size(media)
    except CannotReadFile as error:
        raise RequestError(error.message, retryable=False) from error
    return media


def _media(value: JSON, number: int, place: str) -> Media:
    content, name = value, ""
    if isinstance(value, dict):
        content = next((value[key] for key in _CONTENTS if key in value), None)
        content = content.get("url") if isinstance(content, dict) else content
        name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "")
    if not isinstance(content, str):
        raise refused(place, f"has another form; use {_FORMS}")
    if content.startswith(("http://", "https://")):
        raise refused(place, f"is a URL, which is not fetched; use {_FORMS}")
    return decoded(content, place, name or f"answer-{number}", named=bool(name))


def decoded(text: str, place: str, name: str, *, named: bool = False) -> Media:
    """Return the file that a text has as base64 or as a `data:` URI; raises CannotReadFile.

    A `name` that is not `named` gets the suffix of its type.
    """
    is_uri = text.startswith(DATA)
    written = text.partition(",")[2] if is_uri else text
    try:
        data = b64decode("".join(written.split()), validate=True)
    except (binascii.Error, ValueError):
        after = " after `data:`" if is_uri else ""
        raise refused(place, f"has no base64{after}") from None
    media = checked(name, data, place)
    return media if named else replace(media, path=f"{name}.{media.type.rpartition('/')[2]}")


def checked(name: str, data: bytes, place: str) -> Media:
    """Return the image or the document of these bytes; raises CannotReadFile for anything else."""
    if len(data) > MOST_BYTES:
        raise refused(place, f"has more than {MOST_BYTES // 2**20} MiB")
    media = media_of(name, data, partial(bytes, data))
    if media is None:
        raise refused(place, f"is not a {TYPES} or PDF")
    return media


def check_size(media: Sequence[Media]) -> None:
    """Raise CannotReadFile if an answer has too many bytes of images and documents."""
    if sum(each.size for each in media) > MOST_BYTES_OF_CASE:
        message = f"the answer has more than {MOST_BYTES_OF_CASE // 2**20} MiB of images"
        raise CannotReadFile(message)


def refused(place: str, why: str) -> CannotReadFile:
    """Return the error of a file that an answer names, or has at a place."""
    return CannotReadFile(f"`{place}` of the answer {why}", reason=why)


def media_facts(media: Sequence[Media], *, with_bytes: bool) -> dict[str, JSON]:
    """Return images and documents as caches and recordings keep them; nothing without any."""
    facts = [
        {name: getattr(each, name) for name in _FACTS}
        | ({"data": b64encode(each.read()).decode("ascii")} if with_bytes else {})
        for each in media
    ]
    return {"media": facts} if facts else {}


def read_media(kept: Mapping[str, Any]) -> tuple[Media, ...]:
    """Return the images and documents of `media_facts`; without bytes, none can be shown again."""
    return tuple(
        Media(**{name: each[name] for name in _FACTS}, read=partial(_bytes_of, each))
        for each in kept.get("media", ())
    )


def _bytes_of(facts: Mapping[str, Any]) -> bytes:
    if "data" not in facts:
        reason = "a recording has its digest only"
        raise CannotReadFile(f"{facts['path']} cannot be shown: {reason}", reason=reason)
    return b64decode(facts["data"])


def with_media(answer: Answer, read: Callable[[str], bytes | None]) -> Answer:
    """Return the answer with the images and documents that its last message has.

    `read` returns the bytes of a path that the target names. Raises CannotAnswer for a file that is
    missing, too large, or of another type.
    """
    at, parts = _last(answer.messages)
    if not any(map(_is_media, parts)):
        return answer
    found: list[Media] = []
    try:
        shown = [_with_name(part, read, found) for part in parts]
        check_size(found)
    except CannotReadFile as error:
        raise CannotAnswer(error.message) from None
    text = "\n\n".join(str(part.get("text", part.get("value", ""))) for part in shown)
    own = answer.messages[at]
    given = answer.text != json.dumps(parts, ensure_ascii=False, indent=2)
    return replace(
        answer,
        text=with_names(answer.text, found) if given else text,
        messages=(*answer.messages[:at], {**own, "content": shown}, *answer.messages[at + 1 :]),
        media=tuple(found),
    )


def _last(messages: Sequence[Mapping[str, JSON]]) -> tuple[int, list[JSON]]:
    """Return the last message of the assistant that has content, by its place, and its parts."""
    for at in range(len(messages) - 1, -1, -1):
        content = messages[at].get("content")
        if messages[at].get("role") == "assistant" and content:
            return at, content if isinstance(content, list) else []
    return 0, []


def _is_media(part: JSON) -> bool:
    if not isinstance(part, dict) or not (source := _source_of(part)):
        return False
    is_pdf = source.lower().endswith(".pdf") or source.startswith("data:application/pdf")
    return part.get("type") in _IMAGES or (part.get("type") in _FILES and is_pdf)


def _source_of(part: Mapping[str, Any]) -> str:
    """Return the path or the URI of a part; empty: it has none."""
    value = part.get("image_url", part.get("value", part.get("path", "")))
    url = value.get("url") if isinstance(value, dict) else value
    return url if isinstance(url, str) else ""


def _with_name(
    part: JSON, read: Callable[[str], bytes | None], found: list[Media]
) -> dict[str, JSON]:
    """Return a part with the name of its file in place of its bytes; the file is added."""
    if not _is_media(part):
        return part if isinstance(part, dict) else {"type": "text", "text": str(part)}
    media = _shown_media(_source_of(part), len(found) + 1, read)
    found.append(media)
    return {"type": media.kind, "value": media.name, "digest": media.digest}


def _shown_media(source: str, number: int, read: Callable[[str], bytes | None]) -> Media:
    if source.startswith(DATA):
        return decoded(source, f"answer-{number}", f"answer-{number}")
    if source.lower().startswith(("http://", "https://")):
        raise refused(source, "is a URL, which is not fetched; use a path or a `data:` URI")
    return checked(source, _bytes_at(source, read), source)


def _bytes_at(name: str, read: Callable[[str], bytes | None]) -> bytes:
    try:
        data = read(name)
    except CannotReadFile as error:
        raise refused(name, f"cannot be read: {error.reason}") from None
    if data is None:
        raise refused(name, "does not exist")
    return data
