"""Images and documents: everything but the request that shows one knows it by its digest."""

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
