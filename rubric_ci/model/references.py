"""What an eval file refers to: files of the repository, looked up by whoever has a file system."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Found(NamedTuple):
    """A file of the repository."""

    path: str  # relative to the repository root, forward slashes
    text: str


class NotFound(NamedTuple):
    """No such file, or none that may be read."""

    reason: str  # "no such file", "is outside the repository", ...


Lookup: TypeAlias = Callable[[str], Found | NotFound]
"""Resolve a reference as written in one eval file."""
