"""Write a file: complete or not at all; a replaced file keeps its mode and other changes."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path
from threading import Event, Thread
from time import time
from typing import Any

import pytest

from rubric_ci.errors import CannotWriteFile, ChangedMeanwhile
from rubric_ci.system import file_io
from tests import platforms
from tests.checkout import Checkout


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"old\r\n")
    return path


def test_write_creates_the_folder_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "new/folder/a.json"
    for content in (b"old\r\n", b"new"):
        file_io.write(path, content)
        assert path.read_bytes() == content
    assert [path.name for path in path.parent.iterdir()] == ["a.json"]
    (tmp_path / "ordinary").write_bytes(b"")
    assert path.stat().st_mode == (tmp_path / "ordinary").stat().st_mode


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (".rubric-ci/report.json", ""),
        (".rubric-ci/cache/ab/cd.json", ""),
        ("reports/report.json", "?? reports/report.json"),
    ],
    ids=["our folder", "a folder in it", "a folder that the user chose"],
)
def test_git_ignores_our_folder(path: str, status: str, tmp_path: Path) -> None:
    checkout = Checkout.create(tmp_path)
    file_io.write(tmp_path / path, b"{}")
    assert checkout.git("status", "--porcelain", "--untracked-files=all") == status


def test_a_folder_that_exists_keeps_its_rules(tmp_path: Path) -> None:
    (tmp_path / ".rubric-ci").mkdir()
    file_io.write(tmp_path / ".rubric-ci/report.json", b"{}")
    assert [path.name for path in tmp_path.rglob("*")] == [".rubric-ci", "report.json"]


@platforms.MESSAGES
def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(IsADirectoryError):
        file_io.write(tmp_path / "a.json", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_pieces_that_end_early_leave_the_old_file(file: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        file_io.write_pieces(file, pieces())
    assert file.read_bytes() == b"old\r\n"
    assert [path.name for path in file.parent.iterdir()] == ["a.yaml"]


def test_replace(file: Path) -> None:
    file_io.replace(file, file.read_bytes(), b"new\r\n")
    assert file.read_bytes() == b"new\r\n"
    assert [path.name for path in file.parent.iterdir()] == ["a.yaml"]


@platforms.MODES
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664])
def test_the_mode_stays(file: Path, mode: int) -> None:
    file.chmod(mode)
    file_io.replace(file, b"old\r\n", b"new")
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_a_symbolic_link_is_not_written_through(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    link = folder / "b.yaml"
    platforms.symlink(link, os.path.relpath(file, folder))
    with pytest.raises(CannotWriteFile, match="is a symbolic link"):
        file_io.replace(link, b"old\r\n", b"new")
    assert file.read_bytes() == b"old\r\n"
    assert [path.name for path in folder.iterdir()] == ["b.yaml"]


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="Windows opens no folder")
def test_a_link_that_replaces_a_folder_at_any_moment_leads_nothing_out(tmp_path: Path) -> None:
    (root := tmp_path / "repository").mkdir()
    (outside := tmp_path / "outside").mkdir()
    (folder := root / ".rubric-ci").mkdir()
    ended, refused = Event(), 0

    def swap() -> None:
        for n in count():
            for step in (
                lambda n=n: folder.rename(root / f"old-{n}"),
                lambda: platforms.symlink(folder, outside),
                folder.unlink,
                folder.mkdir,
            ):
                with suppress(OSError):  # the writer was faster
                    step()
            if ended.is_set():
                return

    swapping = Thread(target=swap)
    swapping.start()
    until = time() + 30
    while refused < 20 and time() < until:
        try:
            file_io.write_within(folder / "cache/a.json", b"{}", root)
        except (CannotWriteFile, OSError):
            refused += 1
    ended.set()
    swapping.join()
    assert (list(outside.iterdir()), refused) == ([], 20)


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="Windows opens no folder")
@pytest.mark.parametrize(("removals", "is_written"), [(1, True), (2, True), (3, False)])
def test_a_folder_that_is_removed_on_the_way_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, removals: int, is_written: bool
) -> None:
    path, left = tmp_path / ".rubric-ci/cache/a.json", count(1)
    made = file_io._draft

    def draft(*given: Any, **named: Any) -> Any:
        if next(left) <= removals:
            shutil.rmtree(tmp_path / ".rubric-ci")
        return made(*given, **named)

    monkeypatch.setattr(file_io, "_draft", draft)
    with nullcontext() if is_written else pytest.raises(FileNotFoundError):
        file_io.write_within(path, b"{}", tmp_path)
    assert path.exists() == is_written


def test_a_file_below_the_root_of_the_file_system_is_written(tmp_path: Path) -> None:
    root = Path(tmp_path.anchor)
    file_io.write_within(tmp_path / "cache/a.json", b"{}", root)
    assert (tmp_path / "cache/a.json").read_bytes() == b"{}"


def test_a_file_that_changed_is_left_alone(file: Path) -> None:
    before = file.read_bytes()
    file.write_bytes(b"theirs")
    with pytest.raises(ChangedMeanwhile, match="changed on disk in the meantime"):
        file_io.replace(file, before, b"ours")
    assert file.read_bytes() == b"theirs"
    assert [path.name for path in file.parent.iterdir()] == ["a.yaml"]


def test_a_file_that_is_gone_is_not_made_again(file: Path) -> None:
    file.unlink()
    with pytest.raises(ChangedMeanwhile):
        file_io.replace(file, b"old\r\n", b"ours")
    assert list(file.parent.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_folder_that_cannot_be_written_to(file: Path) -> None:
    file.parent.chmod(0o555)
    try:
        with pytest.raises(CannotWriteFile, match="Permission denied"):
            file_io.replace(file, b"old\r\n", b"new")
    finally:
        file.parent.chmod(0o755)


@pytest.mark.parametrize(("refused", "written"), [(2, "new"), (9, "old")])
def test_a_file_that_is_open_elsewhere_on_windows(
    refused: int, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows refuses to put a file in its place, and a moment later it does not."""
    tries, replace = [], os.replace

    def open_elsewhere(draft: str, path: Path) -> None:
        tries.append(draft)
        if len(tries) <= refused:
            raise PermissionError(13, "Access is denied")
        replace(draft, path)

    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr("os.replace", open_elsewhere)
    monkeypatch.setattr(file_io, "_WAITS", (0.0,) * 5)
    (tmp_path / "a").write_text("old")
    if written == "new":
        file_io.write(tmp_path / "a", b"new")
    else:
        with pytest.raises(PermissionError):
            file_io.write(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_text() == written
    assert len(tries) == min(refused + 1, 6)


def test_a_file_with_a_long_name_is_edited(tmp_path: Path) -> None:
    """A draft next to it has a name of its own: with more it would have more than 255 bytes."""
    path = tmp_path / f"{'é' * 120}.eval.yaml"
    path.write_bytes(b"a")
    file_io.replace(path, b"a", b"b")
    assert path.read_bytes() == b"b"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@platforms.MODES
def test_a_file_that_is_read_only_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.eval.yaml"
    path.write_bytes(b"a")
    path.chmod(0o444)
    with pytest.raises(CannotWriteFile, match="is read-only"):
        file_io.replace(path, b"a", b"b")
    assert path.read_bytes() == b"a"


def test_drafts_of_a_killed_writer_are_deleted(file: Path) -> None:
    old = time() - file_io.ABANDONED - 1
    names = [f"{file.name}.0123abcd.tmp", f"{file.name}.mine.tmp", "other.yaml.0123abcd.tmp"]
    for name in (*names, f"{file.name}.89abcdef.tmp"):
        file.with_name(name).write_bytes(b"half")
    for name in names:
        os.utime(file.with_name(name), (old, old))
    file_io.replace(file, file.read_bytes(), b"new")
    left = {path.name for path in file.parent.iterdir()}
    assert left == {file.name, f"{file.name}.89abcdef.tmp", *names[1:]}
