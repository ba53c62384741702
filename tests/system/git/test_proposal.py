"""The files of a stranger's commit on top of a checkout, read as git objects."""

import os
import shutil
from pathlib import Path

import pytest

from rubric_ci.errors import CannotConfigure, CannotFindRevision, CannotUseGit
from rubric_ci.system.git import plumbing
from rubric_ci.system.git.process import guarded
from rubric_ci.system.git.snapshot import Proposal, open_proposal
from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    made = Checkout.create(tmp_path / "repository")
    made.commit({"kept.txt": "kept\n", "edited.txt": "old\n", "gone.txt": "gone\n"})
    return made


def proposal(checkout: Checkout, revision: str) -> Proposal:
    opened = plumbing.open_repository(checkout.root, ENVIRONMENT)
    return open_proposal(guarded(opened), revision)


def stranger(checkout: Checkout, files: dict[str, str]) -> str:
    checkout.git("switch", "--quiet", "--create", "stranger")
    sha = checkout.commit(files)
    checkout.git("switch", "--quiet", "main")
    return sha


def test_changed_files_are_those_of_the_commit(checkout: Checkout) -> None:
    (checkout.root / "gone.txt").unlink()
    sha = stranger(checkout, {"edited.txt": "new\n", "added.txt": "added\n"})
    found = proposal(checkout, sha)
    assert [each.path for each in found.changes] == ["added.txt", "edited.txt", "gone.txt"]
    texts = [found.now.text(name) for name in ("kept.txt", "edited.txt", "gone.txt", "added.txt")]
    assert texts == ["kept\n", "new\n", None, "added\n"]
    assert found.then.text("edited.txt") == "old\n"


def test_what_the_base_changed_since_is_kept(checkout: Checkout) -> None:
    sha = stranger(checkout, {"added.txt": "added\n"})
    checkout.commit({"kept.txt": "newer\n"})
    found = proposal(checkout, sha)
    assert [each.path for each in found.changes] == ["added.txt"]
    assert found.now.text("kept.txt") == "newer\n"


def test_without_a_common_commit_every_difference_counts(checkout: Checkout) -> None:
    checkout.git("switch", "--quiet", "--orphan", "stranger")
    sha = checkout.commit({"kept.txt": "kept\n", "edited.txt": "new\n"})
    checkout.git("switch", "--quiet", "main")
    assert [each.path for each in proposal(checkout, sha).changes] == ["edited.txt", "gone.txt"]


def test_a_submodule_has_no_files(checkout: Checkout) -> None:
    head = checkout.git("rev-parse", "HEAD")
    checkout.git("switch", "--quiet", "--create", "stranger")
    checkout.git("update-index", "--add", "--cacheinfo", f"160000,{head},module")
    checkout.git("commit", "--quiet", "--message", "module")
    sha = checkout.git("rev-parse", "HEAD")
    checkout.git("switch", "--quiet", "main")
    found = proposal(checkout, sha)
    assert [each.path for each in found.changes] == ["module"]
    assert found.now.read("module/kept.txt") is None


def test_a_commit_of_the_checkout_is_refused(checkout: Checkout) -> None:
    with pytest.raises(CannotConfigure, match="the checkout already has `HEAD`"):
        proposal(checkout, "HEAD")


def test_a_commit_that_is_not_here_is_refused(checkout: Checkout) -> None:
    with pytest.raises(CannotFindRevision, match="`eve` is not in this clone"):
        proposal(checkout, "eve")


def test_a_guarded_git_replaces_nothing_and_starts_no_filter(checkout: Checkout) -> None:
    first = checkout.git("rev-parse", "HEAD")
    second = checkout.commit({"kept.txt": "other\n"})
    checkout.git("replace", first, second)
    checkout.git("config", "filter.eve.clean", "touch pwned; cat")
    checkout.git("config", "core.fsmonitor", "touch pwned")
    (checkout.root / ".git/info/attributes").write_text("*.txt filter=eve\n")
    (checkout.root / "kept.txt").write_text("edited\n")
    repository = guarded(plumbing.open_repository(checkout.root, ENVIRONMENT))
    (change,) = plumbing.changes(repository, "HEAD")
    assert change.path == "kept.txt"
    assert repository.objects.read(plumbing.tree(repository, first)["kept.txt"].object_id) == (
        b"kept\n"
    )
    assert not (checkout.root / "pwned").exists()


@platforms.SHELL
def test_a_git_that_reads_no_variables_is_refused(checkout: Checkout, tmp_path: Path) -> None:
    """As one before 2.31, in which hooks and filters would stay on."""
    old = tmp_path / "git"
    old.write_text(f'#!/bin/sh\nunset GIT_CONFIG_COUNT\nexec {shutil.which("git")} "$@"\n')
    old.chmod(0o755)
    known = ENVIRONMENT | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with pytest.raises(CannotUseGit, match=r"this git is older than 2\.31"):
        guarded(plumbing.open_repository(checkout.root, known))
