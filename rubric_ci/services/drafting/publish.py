"""Commit the changed eval files in the checkout, and the words of commits and pull requests."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from rubric_ci.github.actions import read_event
from rubric_ci.services.drafting.drafter import DraftRequest
from rubric_ci.services.drafting.review import echo
from rubric_ci.services.drafting.rewrite import Rewrite
from rubric_ci.system.actions_runner import in_workflow
from rubric_ci.system.git import branch
from rubric_ci.system.git.plumbing import open_repository
from rubric_ci.system.git.process import Repository
from rubric_ci.text import escape
from rubric_ci.text.numbers import listed
from rubric_ci.values.dataclass import dataclass

TRAILER = "Rubric-CI: generate rubrics"
"""Marks a commit of rubric-ci, so that no second one is added on top of it."""

MAX_NAMED = 12  # cases listed per file; of the rest, only the number
MAX_ID_LENGTH = 60  # characters of a case's id

# GitHub acts on these anywhere in a message: [skip ci], #12, GH-12, @someone.
_ACTIVE = re.compile(r"[\[\]#@*]|(?i:\bGH-(?=\d))|(?i:\bskip-checks\b)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Where the drafts are; empty: not there."""

    commit: str = ""
    url: str = ""  # of the pull request
    number: str = ""


Publish: TypeAlias = Callable[[Sequence[Rewrite]], Published]
"""Publish the files that were written: a commit or a pull request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingToPublish:
    """Why nothing is drafted: the drafts could or should not be published."""

    reason: str
    url: str = ""  # of the pull request that has them


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
    return [*dict.fromkeys(request.case.file for request in requests)]


def added_by(changes: Sequence[Rewrite]) -> dict[str, tuple[str, ...]]:
    """Return the ids of the cases that got rubrics, by file."""
    return {change.name: change.added for change in changes if change.added}


def commit(changes: Sequence[Rewrite], repository: Repository, fixup: str = "") -> Published:
    """Make one commit with git if any file changed."""
    added = added_by(changes)
    if not added:
        return Published()
    made = branch.commit(
        repository,
        [*added],
        commit_message(added),
        fixup=fixup,
        as_bot=in_workflow(repository.environment),
    )
    echo(f"committed {escape.commit(made)} on {branch.current(repository)}")
    return Published(commit=made)


def commit_message(added: Mapping[str, Sequence[str]], digest: str = "") -> str:
    """Return the commit message; `added` has the ids of the cases that got rubrics, by file.

    A later run compares the digest of the cases, to avoid drafting the same ones again.
    """
    cases = "\n".join(f"- {_inert(file)}: {_names(ids, _inert)}" for file, ids in added.items())
    return (
        f"{subject(added)}\n\n"
        "Drafted from the expected outcomes: review them like any other change.\n\n"
        f"{cases}\n\n{TRAILER}{digest and ' '}{digest}\n"
    )


def subject(added: Mapping[str, Sequence[str]]) -> str:
    """Return the first line of the commit message."""
    count = sum(len(ids) for ids in added.values())
    return f"evals: add rubrics to {count:,} case{'' if count == 1 else 's'}"


def pull_request_body(added: Mapping[str, Sequence[str]]) -> str:
    files = "\n".join(
        f"- {escape.code_span(file)}: {_names(ids, escape.code_span)}"
        for file, ids in added.items()
    )
    return (
        "These cases had an expected outcome and no rubrics. The rubrics here are drafts: read "
        "each criterion, remove the wrong ones, and merge the rest.\n\n"
        f"{files}\n\n"
        "rubric-ci rewrites this branch while there are cases without rubrics, and leaves it alone "
        "once it has commits of others.\n"
    )


def is_generated(text: str) -> bool:
    """Return True if rubric-ci made the commit with this message."""
    return any(line.startswith(TRAILER) for line in text.splitlines())


def digest_in(text: str) -> str:
    """Return the digest in a commit message of rubric-ci, or "" if there is none."""
    trailers = [line for line in text.splitlines() if line.startswith(TRAILER)]
    return trailers[-1].removeprefix(TRAILER).strip() if trailers else ""


def _names(ids: Sequence[str], show: Callable[[str], str]) -> str:
    return listed([show(name[:MAX_ID_LENGTH]) for name in ids], MAX_NAMED)


def _inert(text: str) -> str:
    return _ACTIVE.sub("_", escape.one_line(text))
