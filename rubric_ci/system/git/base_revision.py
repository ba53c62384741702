"""The base commit that a checkout is compared with: named, or from an event of GitHub.

A base that is missing is `NoBase`, never a guess: every case runs, and the report explains why.
"""

import re

from rubric_ci.errors import CannotFindRevision
from rubric_ci.system.actions_runner import EVENTS
from rubric_ci.system.git import plumbing
from rubric_ci.system.git.process import Repository
from rubric_ci.values.changes import Base, FoundBase, NoBase, Trigger

DEEPER = "check out with `fetch-depth: 0`"
PULL_REQUEST_BASE = "the pull request's base branch"

_OBJECT_ID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def since(repository: Repository, revision: str, option: str = "--changed-since") -> FoundBase:
    """Return the last common commit with a revision that the user names with an option."""
    if ".." in revision:
        first = revision.partition("..")[0] or "main"
        raise CannotFindRevision(
            f"{option}: `{revision}` is a range; one commit is wanted",
            f"write {option} {first}: the last commit that HEAD shares with it is the base",
        )
    if not revision.strip("0"):
        return NoBase(reason=f"`{revision}` is not a commit: the branch is new")
    if plumbing.commit(repository, "HEAD") is None:
        return NoBase(reason="the repository has no commit yet")
    if plumbing.commit(repository, revision) is not None:
        return _merge_base(repository, revision, f"`{revision}`")
    if plumbing.is_shallow(repository):
        return NoBase(reason=f"`{revision}` is not in this shallow clone; {DEEPER}")
    if _OBJECT_ID.fullmatch(revision):
        return NoBase(reason=f"`{revision}` is not in this clone; was the branch force-pushed?")
    raise CannotFindRevision(
        f"{option}: there is no revision `{revision}` here",
        "run `git fetch`, or name a branch, tag or commit that `git rev-parse` knows",
    )


def trigger_base(repository: Repository, trigger: Trigger) -> FoundBase:
    """Return the base of the change that started a workflow."""
    match EVENTS.get(trigger.event):
        case "pull request":
            return _pull_request_base(repository, trigger)
        case "push":
            return _push_base(repository, trigger)
        case "merge group":
            return _present(repository, trigger.base_sha, "the base of the merge group")
        case None:
            return NoBase(reason=f"`{trigger.event}` events have no base commit")


def policy_base(repository: Repository, trigger: Trigger) -> FoundBase:
    """Return the commit that a change is merged into: the tip of the branch, not the merge base.

    An old merge base could hold a policy that the branch has replaced since.
    """
    name = (
        "the merge group's base"
        if EVENTS.get(trigger.event) == "merge group"
        else PULL_REQUEST_BASE
    )
    head = plumbing.commit(repository, "HEAD")
    merged = plumbing.parents(repository, "HEAD") if head else ()
    if head == trigger.sha and trigger.head_sha and merged[1:] == (trigger.head_sha,):
        return Base(commit=merged[0], origin=name)  # GitHub made this merge commit, not the author
    return _present(repository, trigger.base_sha, name, "`fetch-depth: 2` (0 with a `ref`)")


def default_branch_base(repository: Repository, option: str = "--changed-since") -> FoundBase:
    """Return the last common commit with the remote's default branch."""
    if plumbing.commit(repository, "origin/HEAD") is None:
        return NoBase(reason=f"`origin/HEAD` is not known; name a base with `{option}`")
    return since(repository, "origin/HEAD")


def _pull_request_base(repository: Repository, trigger: Trigger) -> FoundBase:
    head = plumbing.commit(repository, "HEAD")
    if head == trigger.base_sha:
        return NoBase(reason="the checkout is the base branch, not the pull request")
    merged = plumbing.parents(repository, "HEAD")
    if head != trigger.head_sha and merged[1:] == (trigger.head_sha,):
        return Base(commit=merged[0], origin=PULL_REQUEST_BASE)
    if plumbing.commit(repository, trigger.base_sha) is None:
        return NoBase(reason=_absent(repository, "the pull request's base", "`fetch-depth: 2`"))
    return _merge_base(repository, trigger.base_sha, PULL_REQUEST_BASE)


def _push_base(repository: Repository, trigger: Trigger) -> FoundBase:
    if trigger.base_sha.strip("0"):
        return _present(repository, trigger.base_sha, "the branch before the push")
    if not trigger.ref.startswith("refs/heads/"):
        return NoBase(reason=f"`{trigger.ref}` is not a branch, so it has no earlier state")
    default = f"origin/{trigger.default_branch}"
    if trigger.ref == f"refs/heads/{trigger.default_branch}":
        return NoBase(reason="the push creates the default branch")
    if plumbing.commit(repository, default) is None:
        return NoBase(reason=f"the push creates a branch, and `{default}` is not here; {DEEPER}")
    return _merge_base(repository, default, f"`{default}`")


def _present(
    repository: Repository, commit: str, name: str, depth: str = "`fetch-depth: 0`"
) -> FoundBase:
    if plumbing.commit(repository, commit) is None:
        return NoBase(reason=_absent(repository, name, depth))
    return Base(commit=commit, origin=name)


def _merge_base(repository: Repository, revision: str, name: str) -> FoundBase:
    found = plumbing.merge_base(repository, revision, "HEAD")
    if found is not None:
        return Base(commit=found, origin=f"the last common commit with {name}")
    if plumbing.is_shallow(repository):
        return NoBase(reason=f"this shallow clone does not reach back to {name}; {DEEPER}")
    return NoBase(reason=f"HEAD has no history in common with {name}")


def _absent(repository: Repository, name: str, depth: str) -> str:
    if plumbing.is_shallow(repository):
        return f"{name} is not in this shallow clone; check out with {depth}"
    return f"{name} is not in this clone; was the branch force-pushed?"
