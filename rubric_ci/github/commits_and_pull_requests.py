"""Commits on GitHub's branches, and the pull request of rubric-ci's own branch.

A branch is only moved forward, except rubric-ci's own, which holds a single commit. A commit is
created from git objects through the API, so that GitHub signs it; a file whose content on GitHub is
not the content that was changed here is a conflict.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from rubric_ci.errors import CannotPush
from rubric_ci.github.rest_api import ApiError, Server, connected, with_retries
from rubric_ci.text import escape
from rubric_ci.values.dataclass import dataclass

if TYPE_CHECKING:
    from github.GitCommit import GitCommit
    from github.GitRef import GitRef
    from github.PullRequest import PullRequest
    from github.Repository import Repository

T = TypeVar("T")
TREE = "tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An existing file and its new content."""

    path: str  # relative to the root of the repository, forward slashes
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    server: Server
    repository: str  # owner/name
    name: str

    @property
    def about(self) -> str:
        return f"the branch {self.name} of {self.repository}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    sha: str
    message: str  # of the commit
    protected: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    base: str  # the branch to merge into
    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalResult:
    done: Literal["created", "updated"]
    url: str
    number: int
    commit: str


def head(branch: Branch) -> Head | None:
    """Return the head of a branch; None if there is no such branch."""

    def find(repository: "Repository") -> Head:
        found = repository.get_branch(branch.name)
        return Head(
            sha=found.commit.sha, message=found.commit.commit.message, protected=found.protected
        )

    try:
        return _with_repository(branch, find)
    except ApiError as refused:
        if refused.status == 404:
            return None
        raise


def open_proposal(branch: Branch) -> str:
    """Return the URL of the open pull request of a branch; "" if there is none."""
    found = _with_repository(branch, lambda repository: _pull(repository, branch))
    return found.html_url if found else ""


def add_commit(branch: Branch, onto: str, changes: Sequence[Change], message: str) -> str:
    """Add one commit to the branch, whose head must still be the commit `onto`."""
    made = _commit(branch, onto, changes, message)
    # A retry after a lost response moves nothing: it is the same commit.
    _with_repository(branch, lambda repository: _move(repository, branch, made, force=False))
    return made


def propose(
    branch: Branch,
    base_sha: str,
    changes: Sequence[Change],
    message: str,
    proposal: Proposal,
    *,
    seen: str | None,
) -> ProposalResult:
    """Set rubric-ci's branch to one commit on top of a base, and keep one pull request for it.

    `seen` is the head that the branch had before; None: there was no branch. If it has another head
    now, it is not changed.
    """
    made = _commit(branch, base_sha, changes, message)
    _with_repository(branch, lambda repository: _place(repository, branch, made, seen))
    return _with_repository(
        branch, lambda repository: _keep_pull(repository, branch, proposal, made)
    )


def _with_repository(branch: Branch, act: Callable[["Repository"], T]) -> T:
    def attempt() -> T:
        with connected(branch.server, branch.about) as client:
            return act(client.get_repo(branch.repository))

    return with_retries(branch.server, attempt)


def _commit(branch: Branch, onto: str, changes: Sequence[Change], message: str) -> str:
    return _with_repository(
        branch, lambda repository: create_commit(repository, onto, changes, message)
    )


def _move(repository: "Repository", branch: Branch, sha: str, *, force: bool) -> None:
    from github import GithubException

    try:
        _ref(repository, branch).edit(sha, force=force)
    except GithubException as error:
        if error.status not in {409, 422}:
            raise
        reason = (error.data or {}).get("message", error.status)
        raise _moved(
            branch, f"has newer commits, or its rules reject the commit: {reason}"
        ) from error


def _place(repository: "Repository", branch: Branch, sha: str, seen: str | None) -> None:
    from github import GithubException

    if seen is None:
        try:
            repository.create_git_ref(f"refs/heads/{branch.name}", sha)
        except GithubException as error:
            if error.status != 422:  # 422: it was created meanwhile, possibly by a lost attempt
                raise
        else:
            return
    if _ref(repository, branch).object.sha not in {seen, sha}:
        raise _moved(branch, "has newer commits")
    _move(repository, branch, sha, force=True)


def _ref(repository: "Repository", branch: Branch) -> "GitRef":
    # NOTE: only GitHub's response has the URL for changes.
    return repository.get_git_ref(f"heads/{branch.name}").complete()


def _moved(branch: Branch, what: str) -> CannotPush:
    hint = "Nothing was pushed; the run for the newer commits takes over."
    return CannotPush(f"--pr: `{branch.name}` {what}", hint)


def _keep_pull(
    repository: "Repository", branch: Branch, proposal: Proposal, commit: str
) -> ProposalResult:
    found = _pull(repository, branch)
    if found is None:
        made = repository.create_pull(
            base=proposal.base, head=branch.name, title=proposal.title, body=proposal.body
        )
        return ProposalResult(done="created", url=made.html_url, number=made.number, commit=commit)
    found.edit(title=proposal.title, body=proposal.body)
    return ProposalResult(done="updated", url=found.html_url, number=found.number, commit=commit)


def _pull(repository: "Repository", branch: Branch) -> "PullRequest | None":
    owner = branch.repository.partition("/")[0]
    pulls = repository.get_pulls(state="open", head=f"{owner}:{branch.name}")
    return next(iter(pulls), None)


def create_commit(
    repository: "Repository", onto: str, changes: Sequence[Change], message: str
) -> str:
    """Create a commit on top of another; no branch is moved. Raises CannotPush on a conflict."""
    from github import InputGitTreeElement

    parent = repository.get_git_commit(onto)
    entries = _Entries(repository, parent)
    elements = []
    for change in changes:
        mode, sha = entries.find(change.path)
        if sha != _blob_id(change.before):
            raise CannotPush(
                f"--pr: {change.path} differs between commit {escape.commit(onto)} and "
                "this checkout",
                "Check out its head: `ref: ${{ github.event.pull_request.head.sha }}`.",
            )
        content = base64.b64encode(change.after).decode()
        blob = repository.create_git_blob(content, "base64")
        elements.append(InputGitTreeElement(change.path, mode, "blob", sha=blob.sha))
    tree = repository.create_git_tree(elements, parent.tree)
    return repository.create_git_commit(message, tree, [parent]).sha


class _Entries:
    """The entries of a commit's folders, requested once each; GitHub truncates a recursive tree."""

    def __init__(self, repository: "Repository", commit: "GitCommit") -> None:
        self._repository = repository
        self._root = commit.tree.sha
        self._folders: dict[str, dict[str, tuple[str, str, str]]] = {}

    def find(self, path: str) -> tuple[str, str]:
        """Return the mode and object id of a file; ("", "") if there is none."""
        *folders, name = path.split("/")
        sha = self._root
        for folder in folders:
            kind, _, sha = self._entries(sha).get(folder, ("", "", ""))
            if kind != TREE:
                return "", ""
        _, mode, sha = self._entries(sha).get(name, ("", "", ""))
        return mode, sha

    def _entries(self, sha: str) -> dict[str, tuple[str, str, str]]:
        if sha not in self._folders:
            entries = self._repository.get_git_tree(sha).tree
            self._folders[sha] = {e.path: (e.type, e.mode, e.sha) for e in entries}
        return self._folders[sha]


def _blob_id(content: bytes) -> str:
    """Return git's object id of a file's content."""
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
