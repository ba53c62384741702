"""What becomes of the changed files: a commit of the checkout, made and told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rubric_ci.drafting import commit_message
from rubric_ci.drafting.engine import DraftRequest
from rubric_ci.drafting.rewrite import Rewrite
from rubric_ci.drafting.summary import tell
from rubric_ci.git import branch
from rubric_ci.git.plumbing import Repository, open_repository
from rubric_ci.github.actions import read_event

Publish: TypeAlias = Callable[[Sequence[Rewrite]], None]
"""Carry on with the files that were written."""


@dataclass(frozen=True, slots=True)
class NothingToPublish:
    """Nothing is to be drafted, for nothing could or should be published."""

    reason: str


def open_commit(
    root: Path, orders: Sequence[DraftRequest], environment: Mapping[str, str], fixup: str = ""
) -> Publish:
    """Make sure, before anything is spent, that a commit can be made."""
    repository = open_repository(root, environment)
    event = read_event(environment)
    branch.check(
        repository,
        paths_of(orders),
        fixup=fixup,
        default_branch=event.default_branch if event else "",
    )
    return lambda changes: commit(changes, repository, fixup)


def paths_of(orders: Sequence[DraftRequest]) -> list[str]:
    """Return the files that are to be changed."""
    return [*dict.fromkeys(order.case.file for order in orders)]


def added_by(changes: Sequence[Rewrite]) -> dict[str, tuple[str, ...]]:
    """Return the ids of the cases that were given rubrics, by file."""
    return {change.name: change.added for change in changes if change.added}


def commit(changes: Sequence[Rewrite], repository: Repository, fixup: str = "") -> None:
    """Make one commit with git, unless nothing was changed."""
    added = added_by(changes)
    if added:
        made = branch.commit(repository, [*added], commit_message.message(added), fixup=fixup)
        tell(f"committed {made[:10]} on {branch.current(repository)}")
