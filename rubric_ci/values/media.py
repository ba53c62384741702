"""Images and documents, known by their digest to all but the request that shows one.

Type and size are read from the first bytes; nothing here decodes pixels.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Final, Literal, TypeAlias

from rubric_ci.values.dataclass import dataclass

MediaType: TypeAlias = Literal[
    "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"
]

MOST_BYTES: Final = 20 * 2**20  # of one file
MOST_BYTES_OF_CASE: Final = 50 * 2**20
MOST_PIXELS: Final = 8_000  # of a side: the limit of Anthropic, the lowest of the providers

SUFFIXES: Final[dict[MediaType, tuple[str, ...]]] = {
    "image/png": (".png",),
    "image/jpeg": (".jpg", ".jpeg"),
    "image/gif": (".gif",),
    "image/webp": (".webp",),
    "application/pdf": (".pdf",),
}
"""How the names of files of each type end."""
TYPES: Final = "png, jpeg, gif, webp"
INLINED: Final = 5 * 2**20  # bytes of images in a page; others are linked
COPIES: Final = "media"  # the folder next to the reports of a run


class _Named:
    __slots__ = ()
    path: str
    type: MediaType
    digest: str

    @property
    def is_image(self) -> bool:
        """False for a document."""
        return self.type != "application/pdf"

    @property
    def kind(self) -> str:
        """The word for it in messages and texts."""
        return "image" if self.is_image else "document"

    @property
    def name(self) -> str:
        """The placeholder for it in a text: `[image: shots/cart.png]`."""
        return f"[{self.kind}: {self.path}]"

    @property
    def file(self) -> str:
        """The name of its copy in the folder `COPIES`."""
        return f"{self.digest}{SUFFIXES[self.type][0]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture(_Named):
    """An image or a document as a report has it: without its bytes."""

    of: Literal["question", "reference", "answer"]
    path: str
    type: MediaType
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Media(_Named):
    """An image or a PDF; equal if the path and the bytes are."""

    path: str  # relative to the repository root, or as the answer names it
    type: MediaType
    digest: str  # SHA-256 of the bytes, hexadecimal
    size: int = field(compare=False)  # bytes
    width: int = field(default=0, compare=False)  # pixels; 0: unknown, or a document
    height: int = field(default=0, compare=False)
    pages: int = field(default=0, compare=False)  # of a document; 0: unknown, or an image
    read: Callable[[], bytes] = field(repr=False, compare=False)  # see `models/llm/media.py`


ReadCopy: TypeAlias = Callable[[Picture], bytes]
"""The bytes of a picture that a report names; raises CannotReadFile where no copy is kept."""


def answer_pictures(pictures: Iterable[Picture]) -> tuple[Picture, ...]:
    """Return the pictures of the answer alone."""
    return tuple(each for each in pictures if each.of == "answer")


def with_names(text: str, media: Iterable[Media]) -> str:
    """Return the text of an answer with the names of those images that it does not name."""
    missing = (each.name for each in media if each.name not in text)
    return "\n\n".join(filter(None, (text, *missing)))


def without_names(text: str, media: Iterable[Media | Picture]) -> str:
    """Return the text of an answer as its target gave it: without the paragraphs of names."""
    for name in {each.name for each in media}:
        text = re.sub(rf"(?:\A|\n\n){re.escape(name)}(?=\n\n|\Z)", "", text).removeprefix("\n\n")
    return text


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
