"""References of files to other files, folders and programs; the caller supplies the lookups."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias


class Found(NamedTuple):
    """A file of the repository."""

    path: str  # relative to the repository root, forward slashes
    text: str  # as `file_text` returns it


class NotFound(NamedTuple):
    """The file does not exist or cannot be read."""

    reason: str  # "no such file", "is outside the repository", ...


def why_no_path(reference: str) -> NotFound | None:
    """Return why a text cannot be the path of a file; None: it can."""
    if len(reference) > MOST_CHARACTERS:
        return NotFound(f"has more than {MOST_CHARACTERS:,} characters")
    return NotFound("no such file") if "\0" in reference else None


def file_text(data: bytes, errors: str = "strict") -> str:
    """Return the text of a file, the same in every checkout: lines end with LF, without a BOM.

    Git for Windows checks files out with CRLF. Raises UnicodeDecodeError if `errors` is strict.
    """
    return data.decode("utf-8-sig", errors).replace("\r\n", "\n")


MOST_CHARACTERS: Final = 4_096  # of a reference: Linux takes no longer path


Lookup: TypeAlias = Callable[[str], Found | NotFound]
"""Resolve a reference as written in one eval file."""


FindFiles: TypeAlias = Callable[[str], Sequence[Found | NotFound]]
"""Resolve a reference or a glob as written in one eval file."""


NearFile: TypeAlias = Callable[[str], str]
"""A reference to a file that does not exist to the one that it probably means; empty: none."""


class Machine(NamedTuple):
    """Lookups of what the commands of one file need; folders are as written in that file."""

    has_folder: Callable[[str], bool]
    has_file: Callable[[str, str], bool]  # a path, relative to a folder
    has_program: Callable[[str], bool]  # a name, on the PATH
