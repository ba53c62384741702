"""Detached worktrees of a base commit; real git."""

from pathlib import Path

import pytest

from rubric_ci.system.git import worktree as worktrees
from rubric_ci.system.git.plumbing import open_repository
from rubric_ci.system.git.worktree import remove_abandoned, worktree
from rubric_ci.system.scratch import hold
from tests.checkout import ENVIRONMENT, Checkout


def known(checkout: Checkout) -> int:
    return checkout.git("worktree", "list").count(worktrees.PREFIX)


@pytest.mark.parametrize("folder", [".", "app"])
def test_the_files_of_the_commit_in_a_folder_of_their_own(checkout: Checkout, folder: str) -> None:
    base = checkout.commit({"app/a.txt": "then"})
    checkout.commit({"app/a.txt": "now"})
    checkout.write({"app/a.txt": "not committed"})
    opened = open_repository(checkout.root / folder, ENVIRONMENT)
    with worktree(opened, base) as tree:
        assert known(checkout) == 0  # it is created when it is needed
        root = tree.root()
        assert tree.root() == root
        assert (root / Path("app/a.txt").relative_to(folder)).read_text() == "then"
        (root / "new.txt").write_text("left behind")
        assert known(checkout) == 1
    assert not root.exists()
    assert known(checkout) == 0
    assert (checkout.root / "app/a.txt").read_text() == "not committed"


def interrupted(checkout: Checkout, base: str, roots: list[Path]) -> None:
    with worktree(checkout.repository, base) as tree:
        roots.append(tree.root())
        raise KeyboardInterrupt


def test_it_is_removed_after_ctrl_c(checkout: Checkout) -> None:
    base, roots = checkout.commit({"a.txt": "then"}), list[Path]()
    with pytest.raises(KeyboardInterrupt):
        interrupted(checkout, base, roots)
    assert ([root.exists() for root in roots], known(checkout)) == ([False], 0)


def test_only_abandoned_worktrees_are_removed(checkout: Checkout, tmp_path: Path) -> None:
    """Those of a process that runs, and those of the user, stay."""
    checkout.commit({"a.txt": "then"})
    paths = {name: tmp_path / name / worktrees.TREE for name in ("mine", "held", "left")}
    prefixed = {
        name: path if name == "mine" else tmp_path / f"{worktrees.PREFIX}{name}" / worktrees.TREE
        for name, path in paths.items()
    }
    for path in prefixed.values():
        path.parent.mkdir()
        checkout.git("worktree", "add", "--quiet", "--detach", str(path), "HEAD")
    with hold(prefixed["held"].parent / worktrees.LOCK):
        remove_abandoned(checkout.repository)
    assert [name for name, path in prefixed.items() if path.exists()] == ["mine", "held"]
    assert not prefixed["left"].parent.exists()
