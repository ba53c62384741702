"""The clone of a hostile pull request is as git makes it."""

from pathlib import Path

import pytest

from tests.checkout import Checkout
from tests.platforms import FILE_NAMES
from tests.security.hostile_pull_requests.generator import open_pull_request
from tests.security.hostile_pull_requests.objects import Objects

FILES = {"a/b.md": "-> ../c", "a-b": "1", "a.b": "2", "a\nb/c d": "é", "c": "3"}
CHANGED = {"c": "4\n", "a/d": "5"}
LATER = {"README.md": "The base branch went on.\n"}


def shown(clone: Checkout) -> list[str]:
    """Return what git shows of a clone."""
    questions = ("ls-files --stage", "status --porcelain", "for-each-ref", "log --format=%H:%P:%T")
    found = [clone.git(*question.split()) for question in (*questions, "symbolic-ref HEAD")]
    return [*found, (clone.root / ".git/shallow").read_text()]


@FILE_NAMES
@pytest.mark.parametrize("depth", [1, 2])
def test_the_clone_is_as_git_clones_it(depth: int, tmp_path: Path) -> None:
    made = open_pull_request(tmp_path / "made", FILES, CHANGED, depth=depth).clone
    origin = Checkout.create(tmp_path / "origin")
    written = Objects(origin.root / ".git/objects")
    first = written.commit(FILES)
    head, tip = (written.commit(FILES | more, first) for more in (CHANGED, LATER))
    merge = written.commit(FILES | CHANGED | LATER, tip, head)
    origin.git("update-ref", "refs/heads/merge", merge)
    clone = origin.clone(tmp_path / "clone", f"--depth={depth}", "--branch=merge")
    assert shown(made) == shown(clone)
    assert made.git("fsck", "--strict") == ""
