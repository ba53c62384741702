"""Parts of messages in the formats of OpenAI, Anthropic and Gemini, as ours.

An image is a file that a variable of promptfoo names, or has its bytes in base64: these are written
as a file by the import.
"""

import binascii
import hashlib
import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, Final

from rubric_ci.parts.bring.chat_messages import ROLES, TEXTS
from rubric_ci.values.media import SUFFIXES, type_of

FILE: Final = "file://"
IMAGES: Final = "images"  # the folder of the files that an import writes
_FILE: Final = re.compile(r"(?:data:[^,]*,)?file://(.+)", re.DOTALL)
_SUFFIXES: Final = tuple(each for kind in SUFFIXES.values() for each in kind if each != ".pdf")


class NoPart(ValueError):
    """A part of a message has no counterpart; the message says why."""


def is_message(value: Any) -> bool:
    content = _content(value) if isinstance(value, dict) and "role" in value else None
    return isinstance(content, str | list)


def is_image_name(value: Any) -> bool:
    """Return True for `file://` and the name of an image, which promptfoo reads as base64."""
    return isinstance(value, str) and value.startswith(FILE) and value.lower().endswith(_SUFFIXES)


def texts_of(message: Mapping[str, Any]) -> list[str]:
    content = _content(message)
    parts = [content] if isinstance(content, str) else content
    return [each for each in map(_part_text, parts) if each is not None]


def our_role(role: Any) -> Any:
    """Return a role in our terms; a `developer` message is a system message."""
    return ROLES.get(str(role), role)


def our_message(message: Mapping[str, Any], images: dict[str, bytes]) -> dict[str, Any]:
    """Return a message as ours; bytes of images are added by the names of new files.

    Raises NoPart for a part without a counterpart.
    """
    content, role = _content(message), our_role(message["role"])
    if isinstance(content, str):
        return {"role": role, "content": content}
    return {"role": role, "content": [_part(each, images) for each in content]}


def _content(message: Mapping[str, Any]) -> Any:
    content = message.get("content", message.get("parts"))
    return [content] if isinstance(content, dict) else content


def _part_text(part: Any) -> str | None:
    """Return the text of a part; None: it is another one."""
    if isinstance(part, str):
        return part
    is_text = isinstance(part, dict) and part.get("type", "text") in TEXTS
    text = part.get("text") if is_text else None
    return text if isinstance(text, str) else None


def _part(part: Any, images: dict[str, bytes]) -> dict[str, Any]:
    if (text := _part_text(part)) is not None:
        return {"type": "text", "value": text}
    source = _source(part) if isinstance(part, dict) else None
    if source is None:
        kind = part.get("type") if isinstance(part, dict) else None
        raise NoPart(
            f"a part with `type: {kind}` has no counterpart" if kind else "it is not a part"
        )
    if match := _FILE.fullmatch(source):
        return {"type": "image", "value": match[1]}
    if source.startswith(("http://", "https://")):
        raise NoPart("an image at a URL is not fetched; save it and name its file")
    return _embedded_image(source, images)


def _source(part: Mapping[str, Any]) -> str | None:
    """Return the name, the URL or the base64 of an image or a document."""
    match part:
        case {"type": "image_url" | "input_image", "image_url": str(url) | {"url": str(url)}}:
            return url
        case {"type": "image" | "document", "source": {"data": str(data)} | {"url": str(data)}}:
            return data
        case {"type": "file", "file": {"file_data": str(data)}}:
            return data
        case {"type": "input_file", "file_data": str(data)}:
            return data
        case {"inline_data": {"data": str(data)}} | {"inlineData": {"data": str(data)}}:
            return data
    return None


def _embedded_image(source: str, images: dict[str, bytes]) -> dict[str, Any]:
    """Return the part of bytes in base64, whose file the import writes."""
    try:
        data = b64decode(source.rpartition(",")[2], validate=True)
    except (binascii.Error, ValueError):
        raise NoPart("an image is neither a file nor base64") from None
    found = type_of(data)
    if found is None:
        raise NoPart("an image is not a png, jpeg, gif, webp or PDF")
    name = f"{IMAGES}/{hashlib.sha256(data).hexdigest()[:12]}{SUFFIXES[found][0]}"
    images[name] = data
    return {"type": "file" if found == "application/pdf" else "image", "value": name}
