"""References of eval files to other files; the caller supplies the lookup."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Found(NamedTuple):
    """A file of the repository."""

    path: str  # relative to the repository root, forward slashes
    text: str


class NotFound(NamedTuple):
    """The file does not exist or cannot be read."""

    reason: str  # "no such file", "is outside the repository", ...


Lookup: TypeAlias = Callable[[str], Found | NotFound]
"""Resolve a reference as written in one eval file."""
