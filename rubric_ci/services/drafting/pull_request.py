"""`--pr`: a commit on the branch of a pull request, or a new pull request with the drafts.

Never commits to a fork, a protected branch or the default branch, and never on top of a commit
of rubric-ci: with another bot that removes the rubrics, that would be an endless loop.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rubric_ci.errors import CannotConfigure, CannotPush
from rubric_ci.files.project.suite_name import slug
from rubric_ci.github import commits_and_pull_requests
from rubric_ci.github.actions import Event, read_event
from rubric_ci.github.commits_and_pull_requests import Branch, Change, Proposal
from rubric_ci.github.rest_api import ApiError, Server
from rubric_ci.services.drafting.drafter import DraftRequest
from rubric_ci.services.drafting.publish import (
    NothingToPublish,
    Publish,
    Published,
    added_by,
    commit,
    commit_message,
    digest_in,
    is_generated,
    paths_of,
    pull_request_body,
    subject,
)
from rubric_ci.services.drafting.review import echo
from rubric_ci.services.drafting.rewrite import Rewrite
from rubric_ci.services.drafting.select import digest
from rubric_ci.system.git import branch
from rubric_ci.system.git.plumbing import open_repository
from rubric_ci.text import escape

BRANCH_PREFIX = "rubric-ci/rubrics-"
"""Prefix of the branches with drafts; the base branch and the name of a suite follow."""

READ_ONLY = frozenset({"dependabot[bot]"})
_PERMISSION = (
    "Give the job `permissions: {contents: write, pull-requests: write}`. To open pull requests, "
    "also allow it in Settings, Actions, General: Allow GitHub Actions to create pull requests."
)
_OWN_COMMIT = "the last commit on `{}` is from rubric-ci; not adding another"


def open_proposal(
    root: Path, requests: Sequence[DraftRequest], environment: Mapping[str, str], suite: str = ""
) -> Publish | NothingToPublish:
    """Check that the drafts can be published, before any model request.

    `suite`: the name of the suite, where a repository has several; each has its own branch.
    """
    event = read_event(environment)
    if event is None:
        raise CannotConfigure(
            "--pr works only in a workflow run of GitHub Actions",
            "Use --commit and push the branch.",
        )
    if event.from_fork or environment.get("GITHUB_ACTOR") in READ_ONLY:
        return NothingToPublish(
            reason="nothing is drafted: the token of this pull request is read-only"
        )
    if event.pull_request is None:
        return _with_pull_request(event, requests, environment, suite)
    if event.head_branch == event.default_branch:
        raise CannotPush(
            f"--pr: the head of the pull request, `{event.head_branch}`, is the default branch",
            "rubric-ci never commits to the default branch; open it from another branch.",
        )
    if environment.get("GITHUB_TOKEN"):
        return _by_api(event, environment)
    return _by_git(event, root, requests, environment)


def _by_api(event: Event, environment: Mapping[str, str]) -> Publish | NothingToPublish:
    place = _branch(event, event.head_branch, environment)
    with _naming_permission():
        head = commits_and_pull_requests.head(place)
    if head is None:
        raise CannotPush(f"--pr: the branch `{place.name}` no longer exists")
    if head.protected:
        raise CannotPush(
            f"--pr: `{place.name}` is protected", "Use an unprotected branch, or --commit."
        )
    if head.sha != event.head_sha:
        return NothingToPublish(
            reason=f"`{place.name}` has newer commits; the run for that push takes over"
        )
    if is_generated(head.message):
        return NothingToPublish(reason=_OWN_COMMIT.format(place.name))

    def publish(changes: Sequence[Rewrite]) -> Published:
        added = added_by(changes)
        if not added:
            return Published()
        message = commit_message(added)
        with _naming_permission():
            made = commits_and_pull_requests.add_commit(place, head.sha, _files(changes), message)
        echo(f"committed {escape.commit(made)} on {place.name}")
        return replace(_event_pull_request(event), commit=made)

    return publish


def _by_git(
    event: Event, root: Path, requests: Sequence[DraftRequest], environment: Mapping[str, str]
) -> Publish | NothingToPublish:
    """Commit and push with git and the credentials of the checkout, without a token."""
    repository = open_repository(root, environment)
    name = event.head_branch
    if branch.current(repository) != name:
        raise CannotPush(
            f"--pr: GITHUB_TOKEN is not set and `{name}` is not checked out, so git cannot push",
            "Set GITHUB_TOKEN in the step's `env:`, or check out `ref: ${{ github.head_ref }}`.",
        )
    branch.check(repository, paths_of(requests))
    if is_generated(branch.message(repository, "HEAD")):
        return NothingToPublish(reason=_OWN_COMMIT.format(name))

    def publish(changes: Sequence[Rewrite]) -> Published:
        if not added_by(changes):
            return Published()
        made = commit(changes, repository)
        branch.push(repository, name)
        echo(f"pushed to {name}")
        return replace(_event_pull_request(event), commit=made.commit)

    return publish


def _with_pull_request(
    event: Event, requests: Sequence[DraftRequest], environment: Mapping[str, str], suite: str
) -> Publish | NothingToPublish:
    base = _base(environment)
    own = f"-{slug(suite).replace('.', '-')}" if suite else ""  # git refuses dots in some places
    place = _branch(event, f"{BRANCH_PREFIX}{base}{own}", environment)
    with _naming_permission():
        head = commits_and_pull_requests.head(place)
    if head and not is_generated(head.message):
        return NothingToPublish(
            reason=f"`{place.name}` has commits that are not from rubric-ci; it is left unchanged"
        )
    if head and head.protected:
        raise CannotPush(
            f"--pr: `{place.name}` is protected", "Remove the protection of this branch."
        )
    if head and digest_in(head.message) == digest(request.case for request in requests):
        with _naming_permission():
            url = commits_and_pull_requests.open_proposal(place)
        if url:
            return NothingToPublish(reason=f"the drafts for these cases are in {url}", url=url)

    seen = head.sha if head else None

    def publish(changes: Sequence[Rewrite]) -> Published:
        added = added_by(changes)
        if not added:
            return Published()
        done = [r.case for r in requests if r.case.id in added.get(r.case.file, ())]
        message = commit_message(added, digest(done))
        title, body = subject(added), pull_request_body(added)
        proposal = Proposal(base=base, title=title, body=body)
        with _naming_permission():
            made = commits_and_pull_requests.propose(
                place, event.head_sha, _files(changes), message, proposal, seen=seen
            )
        echo(f"pull request {made.done}: {made.url}")
        return Published(commit=made.commit, url=made.url, number=str(made.number))

    return publish


def _event_pull_request(event: Event) -> Published:
    number = str(event.pull_request)
    url = f"{event.server_url}/{event.repository}/pull/{number}"
    return Published(url=url, number=number)


def _base(environment: Mapping[str, str]) -> str:
    ref = environment.get("GITHUB_REF", "")
    if not ref.startswith("refs/heads/"):
        raise CannotPush(f"--pr: `{ref}` is not a branch, so there is no base for a pull request")
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
def _naming_permission() -> Iterator[None]:
    """Add the required permissions to an error of status 403."""
    try:
        yield
    except ApiError as refused:
        if refused.status != 403 or refused.is_rate_limit:
            raise
        raise CannotPush(f"--pr: {refused.message}", _PERMISSION) from refused


def _files(changes: Sequence[Rewrite]) -> list[Change]:
    return [
        Change(path=change.name, before=change.source.content, after=change.content)
        for change in changes
        if change.added
    ]
