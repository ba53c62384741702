"""Images and documents in answers: parts of the last message, by their path or as a `data:` URI.

The text of the answer names each of them, so that every reader of the text knows that it is there.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rubric_ci.errors import CannotAnswer, CannotReadFile
from rubric_ci.models.llm.media import DATA, check_size, checked, decoded, refused
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import Media, with_names
from rubric_ci.values.results import Answer

_IMAGES: Final = ("image", "image_url", "input_image")
_FILES: Final = ("file", "document")


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
        shown = [_named(part, read, found) for part in parts]
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
    if source.startswith(DATA):
        return decoded(source, f"answer-{number}", f"answer-{number}")
    if source.lower().startswith(("http://", "https://")):
        raise refused(source, "is a URL, which is not fetched; use a path or a `data:` URI")
    return checked(source, _read_media(source, read), source)


def _read_media(name: str, read: Callable[[str], bytes | None]) -> bytes:
    try:
        data = read(name)
    except CannotReadFile as error:
        raise refused(name, f"cannot be read: {error.reason}") from None
    if data is None:
        raise refused(name, "does not exist")
    return data
