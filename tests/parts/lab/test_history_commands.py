"""`rubric-ci history` as a process, and its file: each run once, the oldest first."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rubric_ci.errors import CannotReadHistory, CannotWriteFile
from rubric_ci.gate.report import json_format
from rubric_ci.parts.lab.history import record_of
from rubric_ci.parts.lab.history_commands import add_record
from rubric_ci.parts.lab.history_commands import records as read
from tests import platforms
from tests.invoke import invoke
from tests.parts.lab.nights import a_history, a_night, records

HISTORY = str(Path(".rubric-ci/history.jsonl"))
SHOWN = """\
started (UTC)     verdict            score  pass rate  cost
2026-01-10 02:43  error, gate fails  0.93   75 %       $0.0400
2026-01-11 02:43  fail, gate fails   0.84   80 %       $0.0500
2026-01-12 02:43  fail, gate fails   0.78   60 %       $0.0500

cases without a steady pass, the oldest run first:  █ pass  ▓ borderline  _ fail  w waived  ? no verdict
█__  e.yaml: broken  1 verdict change
▓█▓  e.yaml: tone  2 verdict changes
?██  e.yaml: late
"""  # noqa: E501 - as it is printed


def history(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return invoke(folder, os.environ, "history", *arguments)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with a history of twelve nights."""
    a_history(tmp_path / ".rubric-ci")
    return tmp_path


def test_add_once(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json_format.render(a_night(0)), encoding="utf-8")
    first, second = (history(tmp_path, "add", "report.json") for _ in range(2))
    assert (first.returncode, first.stderr) == (0, f"added the run to {HISTORY}\n")
    assert (second.returncode, second.stderr) == (0, f"{HISTORY} has this run already\n")
    shown = history(tmp_path, "show")
    assert shown.stdout.splitlines()[1].startswith("2026-01-01 02:43  pass ")


def test_show(kept: Path) -> None:
    done = history(kept, "show", "--last", "3")
    assert (done.returncode, done.stdout, done.stderr) == (0, SHOWN, "")


@platforms.SIGNALS
def test_several_processes_lose_no_run(tmp_path: Path) -> None:
    begun = []
    for number in range(8):
        name = f"{number}.json"
        (tmp_path / name).write_text(json_format.render(a_night(number)), encoding="utf-8")
        more = ("--history", "kept/history.jsonl")
        words = (sys.executable, "-m", "rubric_ci", "history", "add", name, *more)
        begun.append(subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL))
    assert [each.wait() for each in begun] == [0] * 8
    lines = (tmp_path / "kept/history.jsonl").read_text().splitlines()
    started = [json.loads(line)["started_at"] for line in lines]
    assert started == sorted({a_night(number).started_at for number in range(8)})


def test_no_history(tmp_path: Path) -> None:
    done = history(tmp_path, "show")
    assert done.returncode == 2
    assert done.stderr.startswith(f"rubric-ci: {HISTORY}: there is no history\n")


def test_runs_come_back_the_oldest_first(tmp_path: Path) -> None:
    path, every = tmp_path / "new/history.jsonl", list(records())
    assert all(add_record(path, each) for each in reversed(every))
    assert list(read(path)) == every
    assert list(read(path, last=2)) == every[-2:]


def test_a_run_is_added_once(tmp_path: Path) -> None:
    path = a_history(tmp_path)
    before = path.read_bytes()
    assert not any(add_record(path, each) for each in records())
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", [None, "", "\n"], ids=["no file", "empty", "a blank line"])
def test_a_file_without_runs(tmp_path: Path, text: str | None) -> None:
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
        add_record(path, record_of(a_night(0)))
    assert caught.value.message.startswith(f"{path}:13: not a record of a run: ")
    assert path.read_text() == text


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CannotWriteFile, match="cannot write the history: Permission denied"):
        add_record(tmp_path / "h.jsonl", record_of(a_night(0)))
    tmp_path.chmod(0o700)
