"""The history file: JSON Lines, each run once, the oldest first."""

import os
from pathlib import Path

import pytest

from rubric_ci.errors import CannotReadHistory, CannotWriteFile
from rubric_ci.parts.lab.history.history_file import add
from rubric_ci.parts.lab.history.history_file import records as read
from rubric_ci.parts.lab.history.record import record_of
from tests.parts.lab.history.nights import a_history, a_night, records


def test_runs_come_back_the_oldest_first(tmp_path: Path) -> None:
    path, every = tmp_path / "new/history.jsonl", list(records())
    assert all(add(path, each) for each in reversed(every))
    assert list(read(path)) == every
    assert list(read(path, last=2)) == every[-2:]


def test_a_run_is_added_once(tmp_path: Path) -> None:
    path = a_history(tmp_path)
    before = path.read_bytes()
    assert not any(add(path, each) for each in records())
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", [None, "", "\n"], ids=["no file", "empty", "a blank line"])
def test_no_history(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "h.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CannotReadHistory) as caught:
        read(path)
    assert caught.value.message == f"{path}: there is no history"


def test_a_wrong_line_adds_nothing(tmp_path: Path) -> None:
    path = a_history(tmp_path)
    path.write_text(text := path.read_text() + "{}\n")
    with pytest.raises(CannotReadHistory) as caught:
        add(path, record_of(a_night(0)))
    assert caught.value.message.startswith(f"{path}:13: not a record of a run: ")
    assert path.read_text() == text


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CannotWriteFile, match="cannot write the history: Permission denied"):
        add(tmp_path / "h.jsonl", record_of(a_night(0)))
    tmp_path.chmod(0o700)
