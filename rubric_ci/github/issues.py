"""One issue of rubric-ci that is open while the gate fails, identified by marker and author."""

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from rubric_ci.github.client import Server, connected, is_by, own_login, with_retries
from rubric_ci.model.dataclass import dataclass

if TYPE_CHECKING:
    from github import Github
    from github.Issue import Issue
    from github.Repository import Repository

Done: TypeAlias = Literal["opened", "updated", "unchanged", "closed", "not needed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueKey:
    """The repository and name of an issue; each name has its own issue, and begins its title."""

    repository: str  # owner/name
    name: str

    @property
    def marker(self) -> str:
        """A hidden HTML comment at the start of the body."""
        return f"<!-- rubric-ci issue: {re.sub(r'[^A-Za-z0-9._-]', '-', self.name)} -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueResult:
    """The action on the issue, its number and URL."""

    done: Done
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
            ours = _find_own(client, repository, topic)
            wanted = f"{topic.marker}\n{body}"
            if ours is None:
                return _open(repository, title, wanted) if red else IssueResult(done="not needed")
            return _update(ours, title, wanted) if red else _close(ours, wanted)

    # Each attempt searches first, so it finds an issue whose response was lost.
    return with_retries(server, attempt)


def _find_own(client: "Github", repository: "Repository", topic: IssueKey) -> "Issue | None":
    marked = [
        issue
        for issue in repository.get_issues(state="open")
        if (issue.body or "").startswith(topic.marker)
    ]
    login = own_login(client) if marked else ""
    return next((issue for issue in marked if is_by(issue.user, login)), None)


def _open(repository: "Repository", title: str, body: str) -> IssueResult:
    issue = repository.create_issue(title=title, body=body)
    return IssueResult(done="opened", number=issue.number, url=issue.html_url)


def _update(issue: "Issue", title: str, body: str) -> IssueResult:
    same = issue.body.replace("\r\n", "\n").rstrip() == body.rstrip()
    if same and issue.title == title:
        return IssueResult(done="unchanged", number=issue.number, url=issue.html_url)
    issue.edit(title=title, body=body)
    return IssueResult(done="updated", number=issue.number, url=issue.html_url)


def _close(issue: "Issue", body: str) -> IssueResult:
    issue.edit(body=body, state="closed", state_reason="completed")
    return IssueResult(done="closed", number=issue.number, url=issue.html_url)
