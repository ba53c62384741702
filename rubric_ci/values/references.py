"""References of files to other files, folders and programs; the caller supplies the lookups."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:  # few files refer to one
    from rubric_ci.values.media import Media


NO_SUCH_FILE: Final = "no such file"
LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
IS_POINTER: Final = "is a pointer of Git LFS, not the file"


class Found(NamedTuple):
    path: str  # relative to the repository root, forward slashes
    text: str  # as `file_text` returns it


class NotFound(NamedTuple):
    """The file does not exist, cannot be read, or is not text."""

    reason: str  # "no such file", "is outside the repository", ...
    media: "Media | None" = None  # what it is instead of a text, for the parts that take it


def why_no_path(reference: str) -> NotFound | None:
    """Return why a text cannot be the path of a file; None: it can."""
    if len(reference) > MOST_CHARACTERS:
        return NotFound(f"has more than {MOST_CHARACTERS:,} characters")
    return NotFound(NO_SUCH_FILE) if "\0" in reference else None


def file_text(data: bytes, errors: str = "strict") -> str:
    """Return the text of a file, the same in every checkout: lines end with LF, without a BOM.

    Git for Windows checks files out with CRLF. Raises UnicodeDecodeError if `errors` is strict.
    """
    return data.decode("utf-8-sig", errors).replace("\r\n", "\n")


def file_content(path: str, data: bytes, read: Callable[[], bytes]) -> Found | NotFound:
    """Return a file by its bytes; an image or a PDF, which `read` returns again, is not text.

    A pointer of Git LFS is none either: it would be sent to a model in place of the text.
    Raises UnicodeDecodeError for any other file that is not UTF-8.
    """
    if data.startswith(LFS_POINTER):
        return NotFound(IS_POINTER)
    if data.startswith(MEDIA_STARTS):
        from rubric_ci.values.media import media_of  # few files are one

        if media := media_of(path, data, read):
            return NotFound(f"is {'an image' if media.is_image else 'a PDF'}, not a text", media)
    return Found(path, file_text(data))


MEDIA_STARTS: Final = (
    *(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"RIFF", b"%PDF-"),
)
"""The first bytes of images and documents."""

MOST_CHARACTERS: Final = 4_096  # of a reference: Linux takes no longer path


Lookup: TypeAlias = Callable[[str], Found | NotFound]
"""Resolve a reference as written in one eval file."""


def noting(lookup: Lookup, found: set[str]) -> Lookup:
    """Return a lookup that adds the path of each file that it finds."""

    def find(reference: str) -> Found | NotFound:
        file = lookup(reference)
        if isinstance(file, Found):
            found.add(file.path)
        return file

    return find


FindFiles: TypeAlias = Callable[[str], Sequence[Found | NotFound]]
"""Resolve a reference or a glob as written in one eval file."""


NearFile: TypeAlias = Callable[[str], str]
"""A reference to a file that does not exist to the one that it probably means; empty: none."""


class Machine(NamedTuple):
    """Lookups for the commands of one file; folders are as written in that file."""

    has_folder: Callable[[str], bool]
    has_file: Callable[[str, str], bool]  # a path, relative to a folder
    has_program: Callable[[str], bool]  # a name, on the PATH
