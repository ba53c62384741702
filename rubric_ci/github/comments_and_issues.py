"""A comment, an issue and a check run of rubric-ci.

A comment and an issue are identified by marker and author: anyone can write the marker into a
comment, so the marker alone proves nothing. GitHub has no search for comments: all pages are read.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar
from urllib.parse import quote

from rubric_ci.errors import CannotFindPullRequest, PullRequestSuperseded
from rubric_ci.github.actions import FinishedRun
from rubric_ci.github.rest_api import ApiError, Server, connected, is_by, own_login, with_retries
from rubric_ci.text import escape
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Annotation

if TYPE_CHECKING:
    from github import Github
    from github.Issue import Issue
    from github.IssueComment import IssueComment

Entry = TypeVar("Entry", "Issue", "IssueComment")
Mode: TypeAlias = Literal["update", "on-failure", "off"]
TOO_LONG = 422
Done: TypeAlias = Literal["created", "updated", "unchanged", "not needed", "left to a newer run"]
_RUN: Final = re.compile(r"<!-- rubric-ci run (\d+)\.(\d+) -->")
IssueDone: TypeAlias = Literal["opened", "updated", "unchanged", "closed", "not needed"]


def _marker(what: str, name: str) -> str:
    """Return a hidden HTML comment with a name, which no other name has."""
    return f"<!-- {what}: {quote(name, safe='/ ', errors='replace')} -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The pull request and the key of a comment."""

    repository: str  # owner/name
    pull_request: int
    key: str = ""  # identifies this comment when a pull request has several
    run: tuple[int, int] | None = None  # id and attempt of the workflow run; None: by hand

    @property
    def about(self) -> str:
        """Description for messages."""
        return f"pull request #{self.pull_request} of {self.repository}"

    @property
    def marker(self) -> str:
        """A hidden HTML comment at the start of the body."""
        return _marker("rubric-ci", self.key or "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentResult:
    done: Done
    url: str = ""


Renew: TypeAlias = Callable[[str, str], str]
"""The body that a comment has and the one to write, to the one that replaces it."""


def post(
    server: Server,
    place: Place,
    bodies: Sequence[str],
    *,
    mode: Mode,
    failing: bool,
    renew: Renew = lambda _, body: body,
) -> CommentResult:
    """Write the longest body that GitHub accepts; `bodies` are sorted from the longest.

    The mode `on-failure` creates a comment only if `failing`, and updates an existing one.
    """
    if mode == "off":
        return CommentResult(done="not needed")
    begin = failing or mode == "update"
    return _write_longest(bodies, lambda body: _keep(server, place, body, renew, begin=begin))


def _write_longest(bodies: Sequence[str], write: Callable[[str], CommentResult]) -> CommentResult:
    for body in bodies[:-1]:
        try:
            return write(body)
        except ApiError as refused:
            if refused.status != TOO_LONG:
                raise
    return write(bodies[-1])


def _keep(server: Server, place: Place, body: str, renew: Renew, *, begin: bool) -> CommentResult:
    def attempt() -> CommentResult:
        with connected(server, place.about) as client:
            issue = _issue(client, place)
            ours = _own(client, issue.get_comments(), place.marker)
            if ours:
                if place.run and _written_by(ours.body) > place.run:
                    return CommentResult(done="left to a newer run", url=ours.html_url)
                return _update(issue, ours, place, renew(ours.body, body))
            return _create(issue, place, body) if begin else CommentResult(done="not needed")

    # Each attempt searches first, so it finds a comment whose response was lost.
    return with_retries(server, attempt)


def _issue(client: "Github", place: Place) -> "Issue":
    return client.get_repo(place.repository).get_issue(place.pull_request)


def _create(issue: "Issue", place: Place, body: str) -> CommentResult:
    made = issue.create_comment(_marked(place, body))
    return CommentResult(done="created", url=made.html_url)


def _update(issue: "Issue", comment: "IssueComment", place: Place, body: str) -> CommentResult:
    wanted = _marked(place, body)
    if _is_same(comment.body, wanted):
        return CommentResult(done="unchanged", url=comment.html_url)
    issue.get_comment(comment.id).edit(wanted)
    return CommentResult(done="updated", url=comment.html_url)


def _is_same(written: str, wanted: str) -> bool:
    return written.replace("\r\n", "\n").rstrip() == wanted.rstrip()


def _own(client: "Github", entries: "Iterable[Entry]", marker: str) -> "Entry | None":
    marked = [entry for entry in entries if (entry.body or "").startswith(marker)]
    login = own_login(client) if marked else ""
    return next((entry for entry in marked if is_by(entry.user, login)), None)


def _marked(place: Place, body: str) -> str:
    number = f"<!-- rubric-ci run {place.run[0]}.{place.run[1]} -->\n" if place.run else ""
    return f"{place.marker}\n{number}{body}"


def _written_by(body: str) -> tuple[int, int]:
    """Return the run and the attempt that wrote a comment; GitHub counts runs upwards."""
    found = _RUN.search(body.partition("\n")[2].partition("\n")[0])
    return (int(found[1]), int(found[2])) if found else (0, 0)


def pull_request_of(server: Server, repository: str, run: FinishedRun) -> int:
    """Return the number of the open pull request whose head is still the run's commit.

    The event of a fork's run has no pull request, and its artifacts are not trusted.
    """
    for name, value in (("owner", run.head_owner), ("branch", run.head_branch)):
        if not value:  # GitHub would list the pull requests of every branch
            message = f"the workflow run {run.id} has no head {name}"
            raise CannotFindPullRequest(message, "check whether the fork was deleted")
    branch = f"{run.head_owner}:{run.head_branch}"

    def attempt() -> list[tuple[int, str]]:
        with connected(server, f"the pull requests of {repository}") as client:
            pulls = client.get_repo(repository).get_pulls(state="open", head=branch)
            return [(pull.number, pull.head.sha) for pull in pulls]

    found = with_retries(server, attempt)
    for number, sha in found:
        if sha == run.head_sha:
            return number
    raise _not_found(repository, branch, run, [number for number, _ in found])


def _not_found(
    repository: str, branch: str, run: FinishedRun, numbers: list[int]
) -> CannotFindPullRequest:
    if numbers:
        shown = ", ".join(f"#{number}" for number in numbers)
        message = (
            f"the head of {shown} is no longer {escape.commit(run.head_sha)}, which the run graded"
        )
        return PullRequestSuperseded(
            message, "nothing to do: the run for the newer push takes over"
        )
    message = f"no open pull request of {repository} has the head {branch}"
    if run.event.startswith("pull_request"):
        return PullRequestSuperseded(message, "nothing to do: it was closed meanwhile")
    return CannotFindPullRequest(message, f"the run was for a {run.event or 'nameless'} event")


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueKey:
    """The repository and name of an issue; each name has its own issue, and begins its title."""

    repository: str  # owner/name
    name: str

    @property
    def marker(self) -> str:
        return _marker("rubric-ci issue", self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueResult:
    done: IssueDone
    number: int | None = None
    url: str = ""


def keep_issue(
    server: Server, topic: IssueKey, body: str, *, red: bool, wrong: str = ""
) -> IssueResult:
    """Open or update the issue if `red`, else close it with this body.

    `wrong`: what is wrong, for the title; a closed issue keeps the last one.
    """
    title = f"{topic.name}: {wrong}" if wrong else topic.name

    def attempt() -> IssueResult:
        with connected(server, topic.repository) as client:
            repository = client.get_repo(topic.repository)
            ours = _own(client, repository.get_issues(state="open"), topic.marker)
            wanted = f"{topic.marker}\n{body}"
            done: IssueDone = "unchanged"
            if ours is None:
                if not red:
                    return IssueResult(done="not needed")
                ours, done = repository.create_issue(title=title, body=wanted), "opened"
            elif not red:
                ours.edit(body=wanted, state="closed", state_reason="completed")
                done = "closed"
            elif ours.title != title or not _is_same(ours.body, wanted):
                ours.edit(title=title, body=wanted)
                done = "updated"
            return IssueResult(done=done, number=ours.number, url=ours.html_url)

    # Each attempt searches first, so it finds an issue whose response was lost.
    return with_retries(server, attempt)


Conclusion: TypeAlias = Literal["success", "failure", "neutral"]

PER_REQUEST = 50
REQUESTS = 10  # for annotations; a report of a fork may hold any number of them
SUMMARY_LIMIT = 65_000  # GitHub accepts 65,535 characters
_LEVELS = {"error": "failure", "warning": "warning", "notice": "notice"}


def create_check_run(
    server: Server,
    repository: str,
    head_sha: str,
    *,
    name: str,
    conclusion: Conclusion,
    title: str,
    summary: str,
    annotations: Sequence[Annotation],
) -> str:
    """Create a completed check run with its annotations; return the URL of its page.

    After ten requests the last annotation counts the rest.
    """
    entries = [_check_annotation(annotation) for annotation in _capped(annotations)]
    portions = [entries[at : at + PER_REQUEST] for at in range(0, len(entries), PER_REQUEST)]
    output: dict[str, Any] = {"title": title[:255], "summary": summary}

    def attempt() -> str:
        with connected(server, f"commit {escape.commit(head_sha)} of {repository}") as client:
            check = client.get_repo(repository).create_check_run(
                name=name,
                head_sha=head_sha,
                status="completed",
                conclusion=conclusion,
                output={**output, "annotations": portions[0] if portions else []},
            )
            for portion in portions[1:]:
                check.edit(output={**output, "annotations": portion})
            return check.html_url or ""

    return with_retries(server, attempt, repeatable=False)


def _capped(annotations: Sequence[Annotation]) -> list[Annotation]:
    shown = annotations[: PER_REQUEST * REQUESTS]
    rest = len(annotations) - len(shown) + 1
    if rest == 1:
        return list(shown)
    message = "The report files list all; a check run of rubric-ci shows 500 annotations."
    more = replace(shown[-1], level="notice", title=f"{rest:,} more", message=message)
    return [*shown[:-1], more]


def _check_annotation(annotation: Annotation) -> dict[str, Any]:
    return {
        "path": annotation.file,
        "start_line": annotation.line,
        "end_line": annotation.line,
        "annotation_level": _LEVELS[annotation.level],
        "title": annotation.title[:255],
        "message": annotation.message[:4096],
    }
