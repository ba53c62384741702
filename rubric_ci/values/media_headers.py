"""Type and size of an image or a document, by its first bytes; nothing here decodes pixels."""

import hashlib
import re
from collections.abc import Callable
from typing import Final, Literal

from rubric_ci.values.media import Media, MediaType

_STARTS: Final[dict[bytes, MediaType]] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"RIFF": "image/webp",
    b"%PDF-": "application/pdf",
}  # as `MEDIA_STARTS` of references
_FRAMES: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})  # JPEG: has the size
_ALONE: Final = frozenset((0x01, *range(0xD0, 0xD9)))  # JPEG: markers without a length
_PAGE: Final = re.compile(rb"/Type\s*/Page(?![A-Za-z])")


def media_of(path: str, data: bytes, read: Callable[[], bytes]) -> Media | None:
    """Return the image or document that a file is; None: it is neither, or its header is broken."""
    found = type_of(data)
    if found is None:
        return None
    size = (0, 0) if found == "application/pdf" else _size(found, data)
    return Media(
        path=path,
        type=found,
        digest=hashlib.sha256(data).hexdigest(),
        size=len(data),
        width=size[0],
        height=size[1],
        pages=len(_PAGE.findall(data)) if found == "application/pdf" else 0,
        read=read,
    )


def type_of(data: bytes) -> MediaType | None:
    """Return the type by the first bytes; None for any other file."""
    for start, found in _STARTS.items():
        if data.startswith(start):
            return found if start != b"RIFF" or data[8:12] == b"WEBP" else None
    return None


def _size(found: MediaType, data: bytes) -> tuple[int, int]:
    """Return width and height in pixels by the header; (0, 0) if it is cut off or broken."""
    match found:
        case "image/png":
            return _pair(data, 16, 4, "big") if data[12:16] == b"IHDR" else (0, 0)
        case "image/gif":
            return _pair(data, 6, 2, "little")
        case "image/webp":
            return _webp_size(data)
        case _:
            return _jpeg_size(data)


def _pair(data: bytes, at: int, count: int, order: Literal["big", "little"]) -> tuple[int, int]:
    first, second = data[at : at + count], data[at + count : at + 2 * count]
    if len(second) < count:
        return 0, 0
    return int.from_bytes(first, order), int.from_bytes(second, order)


def _webp_size(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8X":  # extended: each is one less, in three bytes
            return _one_more(_pair(data, 24, 3, "little"))
        case b"VP8L" if len(data) > 24:  # lossless: each is one less, in 14 bits
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":  # lossy: 14 bits of two bytes each
            width, height = _pair(data, 26, 2, "little")
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return 0, 0


def _one_more(size: tuple[int, int]) -> tuple[int, int]:
    return (0, 0) if size == (0, 0) else (size[0] + 1, size[1] + 1)


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Return the size in the first frame header; each segment but the data has its length."""
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            height, width = _pair(data, at + 5, 2, "big")
            return width, height
        if marker == 0xFF:  # padding
            at += 1
        elif marker in _ALONE:
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return 0, 0
