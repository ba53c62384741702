"""What a change is measured against, and which paths it touches."""

from dataclasses import dataclass
from typing import TypeAlias

SYMLINK = "120000"
SUBMODULE = "160000"
ABSENT = "000000"

NEW_CASE = "new case"  # why a case runs that is in the change itself, as reports say it
CASE_EDITED = "case edited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """What started a CI run, as far as it tells which commits to compare; empty: not said."""

    event: str  # GitHub's name of it: "pull_request", "push", …
    base_sha: str = ""  # pull_request.base.sha, merge_group.base_sha
    head_sha: str = ""  # pull_request.head.sha
    before: str = ""  # push: what the branch was; zeros for a new branch
    ref: str = ""  # push: "refs/heads/…"
    default_branch: str = ""  # repository.default_branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The commit that the checkout is compared with."""

    commit: str
    origin: str  # for the reader: "the merge base with `main`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoBase:
    """There is nothing to compare with, so everything runs."""

    reason: str


FoundBase: TypeAlias = Base | NoBase


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A path of a commit: a file, a symbolic link or a submodule."""

    mode: str  # as git writes it: "100644", SYMLINK, SUBMODULE
    object_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A path that is not in the working tree what it is in the base."""

    path: str  # relative to the root, forward slashes
    old_mode: str  # ABSENT: not in the base
    new_mode: str  # ABSENT: not in the working tree
