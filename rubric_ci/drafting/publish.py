"""Commit the changed eval files in the checkout."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from rubric_ci.drafting import commit_message
from rubric_ci.drafting.engine import DraftRequest
from rubric_ci.drafting.rewrite import Rewrite
from rubric_ci.drafting.summary import echo
from rubric_ci.git import branch
from rubric_ci.git.plumbing import open_repository
from rubric_ci.git.process import Repository
from rubric_ci.github.actions import read_event
from rubric_ci.model.dataclass import dataclass
from rubric_ci.system.runner import in_workflow
from rubric_ci.text import escape

Publish: TypeAlias = Callable[[Sequence[Rewrite]], None]
"""Publish the files that were written: a commit or a pull request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingToPublish:
    """Why nothing is drafted: the drafts could or should not be published."""

    reason: str


def open_commit(
    root: Path, requests: Sequence[DraftRequest], environment: Mapping[str, str], fixup: str = ""
) -> Publish:
    """Check that a commit can be made, before any model request."""
    repository = open_repository(root, environment)
    event = read_event(environment)
    branch.check(
        repository,
        paths_of(requests),
        fixup=fixup,
        default_branch=event.default_branch if event else "",
    )
    return lambda changes: commit(changes, repository, fixup)


def paths_of(requests: Sequence[DraftRequest]) -> list[str]:
    """Return the files to change."""
    return [*dict.fromkeys(request.case.file for request in requests)]


def added_by(changes: Sequence[Rewrite]) -> dict[str, tuple[str, ...]]:
    """Return the ids of the cases that got rubrics, by file."""
    return {change.name: change.added for change in changes if change.added}


def commit(changes: Sequence[Rewrite], repository: Repository, fixup: str = "") -> None:
    """Make one commit with git if any file changed."""
    added = added_by(changes)
    if added:
        made = branch.commit(
            repository,
            [*added],
            commit_message.message(added),
            fixup=fixup,
            as_bot=in_workflow(repository.environment),
        )
        echo(f"committed {escape.commit(made)} on {branch.current(repository)}")
