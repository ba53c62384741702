"""Images and documents in answers: parts of the last message, by their path or as a `data:` URI.

The text of the answer names each of them, so that whatever reads a text knows that it is there.
"""

import binascii
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from rubric_ci.errors import CannotAnswer, CannotReadFile
from rubric_ci.model.json_value import JSON
from rubric_ci.model.media import MOST_BYTES, MOST_BYTES_OF_CASE, Media
from rubric_ci.model.media_headers import media_of
from rubric_ci.model.results import Answer

_IMAGES: Final = ("image", "image_url", "input_image")
_FILES: Final = ("file", "document")
_FACTS: Final = ("path", "type", "digest", "size", "width", "height", "pages")
_DATA: Final = "data:"


def with_media(answer: Answer, read: Callable[[str], bytes | None]) -> Answer:
    """Return the answer with the images and documents that its last message has.

    `read` returns the bytes of a path that the target names. Raises CannotAnswer for a file that is
    missing, too large, or of another type.
    """
    at, parts = _last(answer.messages)
    if not any(map(_is_media, parts)):
        return answer
    found: list[Media] = []
    shown = [_named(part, read, found) for part in parts]
    if sum(each.size for each in found) > MOST_BYTES_OF_CASE:
        raise CannotAnswer(f"the answer has more than {MOST_BYTES_OF_CASE // 2**20} MiB of images")
    text = "\n\n".join(str(part.get("text", part.get("value", ""))) for part in shown)
    own = answer.messages[at]
    given = answer.text != json.dumps(parts, ensure_ascii=False, indent=2)
    return replace(
        answer,
        text=_with_names(answer.text, found) if given else text,
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
    if not isinstance(part, dict) or not (source := _source(part)):
        return False
    is_pdf = source.lower().endswith(".pdf") or source.startswith("data:application/pdf")
    return part.get("type") in _IMAGES or (part.get("type") in _FILES and is_pdf)


def _source(part: Mapping[str, Any]) -> str:
    """Return the path or the URI of a part; empty: it has none."""
    value = part.get("image_url", part.get("value", part.get("path", "")))
    url = value.get("url") if isinstance(value, dict) else value
    return url if isinstance(url, str) else ""


def _named(part: JSON, read: Callable[[str], bytes | None], found: list[Media]) -> dict[str, JSON]:
    """Return a part with the name of its file in place of its bytes; the file is added."""
    if not _is_media(part):
        return part if isinstance(part, dict) else {"type": "text", "text": str(part)}
    media = _media(_source(part), len(found) + 1, read)
    found.append(media)
    return {"type": media.kind, "value": media.name, "digest": media.digest}


def _media(source: str, number: int, read: Callable[[str], bytes | None]) -> Media:
    is_data = source.startswith(_DATA)
    data = _decoded(source, number) if is_data else _read(source, read)
    name = f"answer-{number}" if is_data else source
    if len(data) > MOST_BYTES:
        raise CannotAnswer(f"`{name}` of the answer has more than {MOST_BYTES // 2**20} MiB")
    media = media_of(name, data, partial(bytes, data))
    if media is None:
        raise CannotAnswer(f"`{name}` of the answer is not a png, jpeg, gif, webp or PDF")
    return replace(media, path=f"{name}.{media.type.rpartition('/')[2]}") if is_data else media


def _decoded(uri: str, number: int) -> bytes:
    try:
        return b64decode(uri.partition(",")[2], validate=True)
    except (binascii.Error, ValueError):
        raise CannotAnswer(f"part {number} of the answer has no base64 after `data:`") from None


def _read(name: str, read: Callable[[str], bytes | None]) -> bytes:
    try:
        data = read(name)
    except CannotReadFile as error:
        raise CannotAnswer(f"`{name}` of the answer cannot be read: {error.reason}") from None
    if data is None:
        raise CannotAnswer(f"`{name}` of the answer does not exist")
    return data


def _with_names(text: str, media: Sequence[Media]) -> str:
    missing = [each.name for each in media if each.name not in text]
    return "\n\n".join([text, *missing]) if missing else text


def kept(media: Sequence[Media], *, with_bytes: bool) -> list[JSON]:
    """Return images and documents as caches and recordings keep them."""
    return [
        {name: getattr(each, name) for name in _FACTS}
        | ({"data": b64encode(each.read()).decode("ascii")} if with_bytes else {})
        for each in media
    ]


def read_back(facts: Sequence[Mapping[str, Any]]) -> tuple[Media, ...]:
    """Return images and documents that were kept; without their bytes, none can be shown again."""
    return tuple(
        Media(**{name: each[name] for name in _FACTS}, read=partial(_bytes_of, each))
        for each in facts
    )


def _bytes_of(facts: Mapping[str, Any]) -> bytes:
    if "data" not in facts:
        reason = "a recording has its digest only"
        raise CannotReadFile(f"{facts['path']} cannot be shown: {reason}", reason=reason)
    return b64decode(facts["data"])
