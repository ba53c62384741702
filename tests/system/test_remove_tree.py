"""Folders are removed where the platform refuses to delete files that are read-only."""

import os
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.system.scratch import remove_tree, remove_what_can_be
from tests import platforms
from tests.checkout import Checkout

pytestmark = platforms.MODES


@pytest.fixture
def as_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to delete a file without the right to write, and one that is called `open`."""
    unlink = os.unlink

    def refusing(path: Any, **named: Any) -> None:
        found = os.stat(path, dir_fd=named.get("dir_fd"), follow_symlinks=False)
        if not found.st_mode & 0o200 or os.fspath(path).endswith("open"):
            raise PermissionError(13, "Access is denied", path)
        unlink(path, **named)

    monkeypatch.setattr("os.unlink", refusing)


@pytest.mark.usefixtures("as_on_windows")
def test_a_repository_with_its_objects(tmp_path: Path) -> None:
    made = Checkout.create(tmp_path / "a")
    made.commit({"b.txt": "x"})
    remove_tree(made.root)
    assert not made.root.exists()


@pytest.mark.usefixtures("as_on_windows")
def test_a_file_that_is_open(tmp_path: Path) -> None:
    for name in ("a/open", "a/b/read-only", "a/c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "a/b/read-only").chmod(0o400)
    with pytest.raises(PermissionError):
        remove_tree(tmp_path / "a")
    remove_what_can_be(tmp_path / "a")
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["a", "open"]


def test_what_a_link_leads_to_stays_as_it_is(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("x")
    kept.chmod(0o400)
    (tmp_path / "a").mkdir()
    (tmp_path / "a/link").symlink_to(kept)
    remove_tree(tmp_path / "a")
    assert (kept.stat().st_mode & 0o777, (tmp_path / "a").exists()) == (0o400, False)
