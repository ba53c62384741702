"""The base commit of a change, and the paths that differ from it."""

from typing import TypeAlias

from rubric_ci.model.dataclass import dataclass

SYMLINK = "120000"
SUBMODULE = "160000"
ABSENT = "000000"

NEW_CASE = "new case"  # reason why a case runs, as reports show it
CASE_EDITED = "case edited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """The event that started a CI run, with the commits to compare; "" if unknown."""

    event: str  # GitHub's name: "pull_request", "push", …
    sha: str = ""  # the commit that the workflow runs on: a pull request's merge commit
    base_sha: str = ""  # of a push: the former commit
    head_sha: str = ""  # pull_request.head.sha
    ref: str = ""  # push: "refs/heads/…"
    default_branch: str = ""  # repository.default_branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The commit that the checkout is compared with."""

    commit: str
    origin: str  # for messages: "the merge base with `main`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoBase:
    """There is no base to compare with, so every case runs."""

    reason: str


FoundBase: TypeAlias = Base | NoBase


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A path of a commit: a file, a symbolic link or a submodule."""

    mode: str  # as git writes it: "100644", SYMLINK, SUBMODULE
    object_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A path that differs between the base and the working tree."""

    path: str  # relative to the root, forward slashes
    old_mode: str  # ABSENT: not in the base
    new_mode: str  # ABSENT: not in the working tree
