"""`--pr`: a commit on the branch of a pull request, or a pull request of our own.

Never on a fork, a protected branch or the default branch, and never on top of a commit of ours:
a bot that takes the rubrics away again must not keep the two of us busy for ever.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rubric_ci.drafting import commit_message
from rubric_ci.drafting.engine import DraftRequest
from rubric_ci.drafting.publish import NothingToPublish, Publish, added_by, commit, paths_of
from rubric_ci.drafting.rewrite import Rewrite
from rubric_ci.drafting.select import digest
from rubric_ci.drafting.summary import tell
from rubric_ci.errors import CannotConfigure, CannotPush
from rubric_ci.git import branch
from rubric_ci.git.plumbing import open_repository
from rubric_ci.github import branches
from rubric_ci.github.actions import Event, read_event
from rubric_ci.github.branches import Branch, Proposal
from rubric_ci.github.client import ApiError, Server
from rubric_ci.github.commits import Change

OURS = "rubric-ci/rubrics-"
"""The branches of our own pull requests; the name of the base branch comes after it."""

READ_ONLY = frozenset({"dependabot[bot]"})
_PERMISSION = (
    "The job needs `permissions: {contents: write, pull-requests: write}`; for a pull request of "
    "its own, also Settings, Actions, General: allow GitHub Actions to create pull requests."
)
_IS_OURS = "the last commit of `{}` is one of ours; nothing is put on top of it"


def open_proposal(
    root: Path, orders: Sequence[DraftRequest], environment: Mapping[str, str]
) -> Publish | NothingToPublish:
    """Make sure, before anything is spent, that there is a place for the drafts."""
    event = read_event(environment)
    if event is None:
        raise CannotConfigure(
            "--pr: this is no workflow run of GitHub Actions",
            "Here, use --commit, and push the branch.",
        )
    if event.from_fork or environment.get("GITHUB_ACTOR") in READ_ONLY:
        return NothingToPublish("nothing is drafted: the token of this pull request may not write")
    if event.pull_request is None:
        return _with_pull_request(event, orders, environment)
    if event.head_branch == event.default_branch:
        raise CannotPush(
            f"--pr: the head of the pull request, `{event.head_branch}`, is the default branch",
            "To it no commit is made; open the pull request from a branch of its own.",
        )
    if environment.get("GITHUB_TOKEN"):
        return _by_api(event, environment)
    return _by_git(event, root, orders, environment)


def _by_api(event: Event, environment: Mapping[str, str]) -> Publish | NothingToPublish:
    place = _branch(event, event.head_branch, environment)
    with _explaining():
        head = branches.head(place)
    if head is None:
        raise CannotPush(f"--pr: there is no branch `{place.name}` any more")
    if head.protected:
        raise CannotPush(
            f"--pr: `{place.name}` is protected", "Use a branch that is not, or --commit."
        )
    if head.sha != event.head_sha:
        return NothingToPublish(f"`{place.name}` has moved on; the newer push has a run of its own")
    if commit_message.is_ours(head.message):
        return NothingToPublish(_IS_OURS.format(place.name))

    def publish(changes: Sequence[Rewrite]) -> None:
        added = added_by(changes)
        if added:
            message = commit_message.message(added)
            with _explaining():
                made = branches.add_commit(place, head.sha, _files(changes), message)
            tell(f"committed {made[:10]} on {place.name}")

    return publish


def _by_git(
    event: Event, root: Path, orders: Sequence[DraftRequest], environment: Mapping[str, str]
) -> Publish | NothingToPublish:
    """Commit and push with git, where there is no token: its credentials are the checkout's."""
    repository = open_repository(root, environment)
    name = event.head_branch
    if branch.current(repository) != name:
        raise CannotPush(
            f"--pr: without GITHUB_TOKEN git has to push, and `{name}` is not checked out",
            "Set GITHUB_TOKEN in the step's `env:`, or check out `ref: ${{ github.head_ref }}`.",
        )
    branch.check(repository, paths_of(orders))
    if commit_message.is_ours(branch.message(repository, "HEAD")):
        return NothingToPublish(_IS_OURS.format(name))

    def publish(changes: Sequence[Rewrite]) -> None:
        if added_by(changes):
            commit(changes, repository)
            branch.push(repository, name)
            tell(f"pushed to {name}")

    return publish


def _with_pull_request(
    event: Event, orders: Sequence[DraftRequest], environment: Mapping[str, str]
) -> Publish | NothingToPublish:
    base = _base(environment)
    place = _branch(event, OURS + base, environment)
    with _explaining():
        head = branches.head(place)
    if head and not commit_message.is_ours(head.message):
        return NothingToPublish(f"`{place.name}` holds commits of others; it is left to them")
    if head and head.protected:
        raise CannotPush(f"--pr: `{place.name}` is protected", "Lift the protection of this name.")
    if head and commit_message.digest(head.message) == digest(order.case for order in orders):
        with _explaining():
            url = branches.open_proposal(place)
        if url:
            return NothingToPublish(f"the drafts for these cases wait in {url}")

    seen = head.sha if head else None

    def publish(changes: Sequence[Rewrite]) -> None:
        added = added_by(changes)
        if not added:
            return
        done = [o.case for o in orders if o.case.id in added.get(o.case.file, ())]
        message = commit_message.message(added, digest(done))
        title, body = commit_message.subject(added), commit_message.pull_request_body(added)
        proposal = Proposal(base=base, title=title, body=body)
        with _explaining():
            made = branches.propose(
                place, event.head_sha, _files(changes), message, proposal, seen=seen
            )
        tell(f"pull request {made.done}: {made.url}")

    return publish


def _base(environment: Mapping[str, str]) -> str:
    ref = environment.get("GITHUB_REF", "")
    if not ref.startswith("refs/heads/"):
        raise CannotPush(f"--pr: `{ref}` is no branch, so there is nothing to merge into")
    return ref.removeprefix("refs/heads/")


def _branch(event: Event, name: str, environment: Mapping[str, str]) -> Branch:
    token = environment.get("GITHUB_TOKEN", "")
    if not token:
        raise CannotConfigure(
            "--pr: GITHUB_TOKEN is not set", "Set it in the step's `env:` to `${{ github.token }}`."
        )
    server = Server(api_url=event.api_url, token=token)
    return Branch(server=server, repository=event.repository, name=name)


@contextmanager
def _explaining() -> Iterator[None]:
    """Say which permission is missing."""
    try:
        yield
    except ApiError as refused:
        if refused.status != 403 or refused.is_rate_limit:
            raise
        raise CannotPush(f"--pr: {refused.message}", _PERMISSION) from refused


def _files(changes: Sequence[Rewrite]) -> list[Change]:
    return [
        Change(path=change.name, before=change.page.content, after=change.content)
        for change in changes
        if change.added
    ]
