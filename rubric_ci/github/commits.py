"""A commit of changed files, created from git objects through the API, so that GitHub signs it.

A file whose content on GitHub is not the content that was changed here is a conflict.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rubric_ci.errors import CannotPush
from rubric_ci.text import escape

if TYPE_CHECKING:
    from github.GitCommit import GitCommit
    from github.Repository import Repository

TREE = "tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An existing file and its new content."""

    path: str  # relative to the root of the repository, forward slashes
    before: bytes
    after: bytes


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
