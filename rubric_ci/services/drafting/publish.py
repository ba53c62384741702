"""Publish the drafts: a commit in the checkout, or with `--pr` on GitHub.

`--pr` commits on the branch of a pull request, or opens a new pull request. It never commits to a
fork, a protected branch or the default branch, and never on top of a commit of rubric-ci: with
another bot that removes the rubrics, that would be an endless loop.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from rubric_ci.errors import CannotConfigure, CannotPush
from rubric_ci.files.project.suite_name import slug
from rubric_ci.github import commits_and_pull_requests
from rubric_ci.github.actions import Event, read_event
from rubric_ci.github.commits_and_pull_requests import Branch, Change, Proposal
from rubric_ci.github.rest_api import ApiError, Server
from rubric_ci.services.drafting.drafter import DraftRequest
from rubric_ci.services.drafting.review_and_insertion import Rewrite, echo
from rubric_ci.system.actions_runner import in_workflow
from rubric_ci.system.git import branch
from rubric_ci.system.git.plumbing import open_repository
from rubric_ci.system.git.process import Repository
from rubric_ci.text import escape
from rubric_ci.text.numbers import listed
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase

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


def digest(cases: Iterable[EvalCase]) -> str:
    """Return a digest of the cases and of the texts that their drafts are made from."""
    facts = [
        [case.file, case.id, case.expected_outcome, case.question, case.reference_answer]
        for case in cases
    ]
    return hashlib.sha256(json.dumps(sorted(facts)).encode()).hexdigest()[:16]


def digest_in(text: str) -> str:
    """Return the digest in a commit message of rubric-ci, or "" if there is none."""
    trailers = [line for line in text.splitlines() if line.startswith(TRAILER)]
    return trailers[-1].removeprefix(TRAILER).strip() if trailers else ""


def _names(ids: Sequence[str], show: Callable[[str], str]) -> str:
    return listed([show(name[:MAX_ID_LENGTH]) for name in ids], MAX_NAMED)


def _inert(text: str) -> str:
    return _ACTIVE.sub("_", escape.one_line(text))


BRANCH_PREFIX = "rubric-ci/rubrics-"
"""Prefix of the branches with drafts; the base branch and the name of a suite follow."""

READ_ONLY = frozenset({"dependabot[bot]"})
_PERMISSION = (
    "Give the job `permissions: {contents: write, pull-requests: write}`. To open pull requests, "
    "also allow it in Settings, Actions, General: Allow GitHub Actions to create pull requests."
)
_OWN_COMMIT = "the last commit on `{}` is from rubric-ci; not adding another"


def open_proposal(
    requests: Sequence[DraftRequest], environment: Mapping[str, str], suite: str = ""
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
    return _on_branch(event, environment)


def _on_branch(event: Event, environment: Mapping[str, str]) -> Publish | NothingToPublish:
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
