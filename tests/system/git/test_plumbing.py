"""Git objects and the working tree, against the real git."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rubric_ci.errors import CannotUseGit
from rubric_ci.system.git import plumbing
from rubric_ci.values.changes import ABSENT, SUBMODULE, SYMLINK, Change
from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout

FILE = "100644"
NASTY = 'naïve "prompt"\n\t日本.md'


def edit(checkout: Checkout) -> None:
    checkout.write({"a.txt": "two\n"})


def edit_and_commit(checkout: Checkout) -> None:
    checkout.commit({"a.txt": "two\n"})


def edit_and_add(checkout: Checkout) -> None:
    checkout.write({"a.txt": "two\n"})
    checkout.git("add", "a.txt")


def touch(checkout: Checkout) -> None:
    os.utime(checkout.root / "a.txt", (0, 0))


def add_untracked(checkout: Checkout) -> None:
    checkout.write({"new/b.txt": ""})


def add_untracked_link(checkout: Checkout) -> None:
    platforms.symlink(checkout.root / "new", "a.txt")


def add_ignored(checkout: Checkout) -> None:
    checkout.write({".git/info/exclude": "*.log\n", "b.log": ""})


def delete(checkout: Checkout) -> None:
    (checkout.root / "a.txt").unlink()


def untrack(checkout: Checkout) -> None:
    checkout.git("rm", "--quiet", "--cached", "a.txt")


def rename(checkout: Checkout) -> None:
    checkout.git("mv", "a.txt", "b.txt")


def make_executable(checkout: Checkout) -> None:
    (checkout.root / "a.txt").chmod(0o755)


def turn_into_link(checkout: Checkout) -> None:
    (checkout.root / "a.txt").unlink()
    platforms.symlink(checkout.root / "a.txt", "elsewhere")


def odd_settings(checkout: Checkout) -> None:
    for name, value in {
        "diff.external": "false",
        "diff.noprefix": "true",
        "diff.renames": "copies",
        "core.pager": "false",
        "color.ui": "always",
        "core.quotepath": "true",
    }.items():
        checkout.git("config", name, value)
    checkout.git("mv", "a.txt", "b.txt")
    checkout.write({NASTY: ""})


@pytest.mark.parametrize(
    ("alter", "expected"),
    [
        pytest.param(lambda _: None, {}, id="nothing"),
        pytest.param(touch, {}, id="touched only"),
        pytest.param(edit, {"a.txt": (FILE, FILE)}, id="edited"),
        pytest.param(edit_and_add, {"a.txt": (FILE, FILE)}, id="edited and staged"),
        pytest.param(edit_and_commit, {"a.txt": (FILE, FILE)}, id="edited and committed"),
        pytest.param(add_untracked, {"new/b.txt": (ABSENT, FILE)}, id="untracked"),
        pytest.param(add_untracked_link, {"new": (ABSENT, SYMLINK)}, id="untracked link"),
        pytest.param(add_ignored, {}, id="ignored"),
        pytest.param(delete, {"a.txt": (FILE, ABSENT)}, id="deleted"),
        pytest.param(untrack, {"a.txt": (FILE, ABSENT)}, id="no longer tracked"),
        pytest.param(
            rename, {"a.txt": (FILE, ABSENT), "b.txt": (ABSENT, FILE)}, id="renamed is two paths"
        ),
        pytest.param(
            make_executable, {"a.txt": (FILE, "100755")}, marks=platforms.MODES, id="mode"
        ),
        pytest.param(turn_into_link, {"a.txt": (FILE, SYMLINK)}, id="symbolic link"),
        pytest.param(
            odd_settings,
            {"a.txt": (FILE, ABSENT), "b.txt": (ABSENT, FILE), NASTY: (ABSENT, FILE)},
            marks=platforms.FILE_NAMES,
            id="a user's settings change nothing",
        ),
    ],
)
def test_changes(
    checkout: Checkout, alter: Callable[[Checkout], None], expected: dict[str, tuple[str, str]]
) -> None:
    base = checkout.commit({"a.txt": "one\n", "same.txt": ""})
    alter(checkout)
    assert plumbing.changes(checkout.repository, base) == tuple(
        Change(path=path, old_mode=old, new_mode=new) for path, (old, new) in expected.items()
    )


def test_ignored(checkout: Checkout) -> None:
    checkout.commit({".gitignore": "*.log\nbuild/\n", "a.txt": ""})
    checkout.write({"a.log": "", "build/deep/b.txt": "", "src/c.log": "", "src/c.txt": ""})
    assert plumbing.ignored(checkout.repository) == ("a.log", "build", "src/c.log")


def test_changes_are_relative_to_a_root_inside_the_repository(checkout: Checkout) -> None:
    base = checkout.commit({"app/evals/a.yaml": "one", "b.txt": "one"})
    checkout.write({"app/evals/a.yaml": "two", "b.txt": "two", "app/new": "", "new": ""})
    inside = plumbing.open_repository(checkout.root / "app", ENVIRONMENT)
    assert [change.path for change in plumbing.changes(inside, base)] == ["evals/a.yaml", "new"]
    assert list(plumbing.tree(inside, base)) == ["evals/a.yaml"]


def test_a_submodule_is_one_path_with_its_commit(checkout: Checkout, tmp_path: Path) -> None:
    library = Checkout.create(tmp_path / "library")
    library.commit({"prompt.md": "one"})
    checkout.git("submodule", "--quiet", "add", library.root.as_uri(), "lib")
    base = checkout.commit()
    inner = Checkout(checkout.root / "lib")
    inner.write({"untracked.pyc": ""})
    assert plumbing.changes(checkout.repository, base) == ()
    inner.write({"prompt.md": "two"})
    expected = (Change(path="lib", old_mode=SUBMODULE, new_mode=SUBMODULE),)
    assert plumbing.changes(checkout.repository, base) == expected
    inner.commit()
    assert plumbing.changes(checkout.repository, base) == expected
    assert plumbing.tree(checkout.repository, base)["lib"].mode == SUBMODULE


@platforms.FILE_NAMES
def test_tree_and_blobs_give_the_bytes_of_a_commit(checkout: Checkout) -> None:
    texts = {"empty": "", "a/b.txt": "no final newline", NASTY: "日本\r\n", "nul": "a\0b\n\n"}
    base = checkout.commit(texts)
    checkout.commit(dict.fromkeys(texts, "later"))
    platforms.symlink(checkout.root / "link", "a/b.txt")
    entries = plumbing.tree(checkout.repository, base)
    read = checkout.repository.objects.read
    found = {path: read(entry.object_id).decode() for path, entry in entries.items()}
    assert found == texts


@pytest.mark.parametrize(
    ("revision", "found"),
    [
        ("HEAD", True),
        ("main", True),
        ("v1", True),
        ("HEAD~1", False),
        ("nonsense", False),
        ("--all", False),
        ("HEAD:a.txt", False),
        ("", False),
    ],
)
def test_commit(checkout: Checkout, revision: str, *, found: bool) -> None:
    head = checkout.commit({"a.txt": ""})
    checkout.git("tag", "--annotate", "--message", "one", "v1")
    assert plumbing.commit(checkout.repository, revision) == (head if found else None)


def test_parents_and_merge_base(checkout: Checkout) -> None:
    start = checkout.commit({"a.txt": ""})
    checkout.git("switch", "--quiet", "--create", "side")
    side = checkout.commit({"b.txt": ""})
    checkout.git("switch", "--quiet", "main")
    main = checkout.commit({"c.txt": ""})
    checkout.git("merge", "--quiet", "--no-edit", "side")
    checkout.git("checkout", "--quiet", "--orphan", "apart")
    checkout.commit()
    repository = checkout.repository
    assert plumbing.parents(repository, "main") == (main, side)
    assert plumbing.parents(repository, start) == ()
    assert plumbing.merge_base(repository, main, side) == start
    assert plumbing.merge_base(repository, "main", "apart") is None


def test_a_shallow_clone_has_no_parents(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit()
    checkout.commit()
    shallow = checkout.clone(tmp_path / "shallow", "--depth=1").repository
    assert plumbing.is_shallow(shallow)
    assert plumbing.parents(shallow, "HEAD") == ()
    assert not plumbing.is_shallow(checkout.repository)


def test_a_folder_without_git(tmp_path: Path) -> None:
    message = f"^git rev-parse failed in {re.escape(str(tmp_path))}: not a git repository"
    with pytest.raises(CannotUseGit, match=message):
        plumbing.open_repository(tmp_path, ENVIRONMENT | {"GIT_CEILING_DIRECTORIES": str(tmp_path)})


def test_a_job_without_a_checkout(tmp_path: Path) -> None:
    job = {"GITHUB_ACTIONS": "true", "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    with pytest.raises(CannotUseGit) as caught:
        plumbing.open_repository(tmp_path, ENVIRONMENT | job)
    assert caught.value.hint == (
        "put a step with actions/checkout before; the input `working-directory` is its `path`, if "
        "it has one"
    )


@platforms.MODES
@pytest.mark.parametrize("inside", [True, False], ids=["workspace", "elsewhere"])
def test_a_checkout_of_another_user(checkout: Checkout, tmp_path: Path, *, inside: bool) -> None:
    """As in a job in a container: only the checkout of the job's own workspace is trusted."""
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    first = checkout.commit({"evals/a.yaml": "a"})
    for path in [checkout.root, *checkout.root.rglob("*")]:
        os.chown(path, 4_321, 4_321)
    workspace = checkout.root.parent if inside else tmp_path / "other"
    job = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(workspace), "HOME": str(tmp_path)}
    known = ENVIRONMENT | job | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    if inside:
        assert plumbing.commit(plumbing.open_repository(checkout.root, known), "HEAD") == first
        assert plumbing.commit(plumbing.open_repository(checkout.root / "evals", known), "HEAD")
        return
    with pytest.raises(CannotUseGit, match="detected dubious ownership") as caught:
        plumbing.open_repository(checkout.root, known)
    assert caught.value.hint == (
        "To add an exception for this directory, call: git config --global --add safe.directory "
        f"{checkout.root}"
    )


def test_git_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotUseGit, match=r"^git is not installed, or not on PATH$"):
        plumbing.open_repository(tmp_path, {"PATH": str(tmp_path)})
