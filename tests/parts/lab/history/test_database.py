"""The history file: migrated, shared by writers, whole after a kill."""

import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rubric_ci.errors import CannotReadHistory, CannotWriteFile
from rubric_ci.parts.lab.history.database import MIGRATIONS, History
from rubric_ci.parts.lab.history.from_report import record_of
from tests.parts.lab.history.nights import a_history, a_night, records

WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from rubric_ci.parts.lab.history.database import History
from tests.parts.lab.history.nights import records
first = next(records())
history = History(path=Path(sys.argv[1]))
for n in range(int(sys.argv[3])):
    history.add([replace(first, duration_seconds=n + 0.5, commit=sys.argv[2])])
    print(n, flush=True)
"""
ROOT = Path(__file__).parents[4]


def writer(path: Path, name: str, runs: int) -> "subprocess.Popen[str]":
    arguments = [sys.executable, "-c", WRITER, str(path), name, str(runs)]
    return subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_runs_come_back_the_oldest_first(tmp_path: Path) -> None:
    history = History(path=tmp_path / "new" / "history.sqlite")
    every = list(records())
    assert history.add(reversed(every)) == 12
    assert list(history.records()) == every
    assert list(history.records(last=2)) == every[-2:]


def test_a_run_is_added_once(tmp_path: Path) -> None:
    history = History(path=a_history(tmp_path))
    assert history.add(records()) == 0
    assert len(list(history.records())) == 12


def test_concurrent_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    writers = [writer(path, f"writer {n}", 15) for n in range(4)]
    for each in writers:
        each.communicate(timeout=100)
    assert [each.returncode for each in writers] == [0] * 4
    found = sorted((r.commit, r.duration_seconds) for r in History(path=path).records())
    assert found == [(f"writer {n}", i + 0.5) for n in range(4) for i in range(15)]


def test_a_killed_writer_leaves_whole_runs(tmp_path: Path) -> None:
    path, chance = tmp_path / "history.sqlite", random.Random(0)
    for n in range(6):
        with writer(path, f"writer {n}", 10_000) as process:
            assert process.stdout
            process.stdout.readline()
            time.sleep(chance.random() * 0.05)
            process.kill()
            said = 1 + len(process.stdout.read().splitlines())
        kept = [r for r in History(path=path).records() if r.commit == f"writer {n}"]
        assert len(kept) in {said, said + 1}, "what was reported as added is there"
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_an_older_schema_is_migrated(tmp_path: Path) -> None:
    path = a_history(tmp_path)
    newer = (*MIGRATIONS, ("ALTER TABLE run ADD COLUMN branch TEXT NOT NULL DEFAULT 'main'",))
    assert list(History(path=path, migrations=newer).records()) == list(records())
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT DISTINCT branch FROM run").fetchall() == [("main",)]
        assert connection.execute("PRAGMA user_version").fetchall() == [(2,)]
    with pytest.raises(CannotReadHistory) as caught:
        History(path=path).add([record_of(a_night(0))])
    assert caught.value.message == f"{path}: schema version 2 is newer than this program's 1"


def test_a_failed_migration_changes_nothing(tmp_path: Path) -> None:
    path = a_history(tmp_path)
    broken = (*MIGRATIONS, ("ALTER TABLE run ADD COLUMN branch TEXT", "ALTER TABLE none ADD x"))
    with pytest.raises(CannotWriteFile, match="cannot use the history: no such table: none"):
        list(History(path=path, migrations=broken).records())
    assert list(History(path=path).records()) == list(records())


def test_a_read_only_history_is_read(tmp_path: Path) -> None:
    path = a_history(tmp_path)
    path.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        assert len(list(History(path=path).records())) == 12
    finally:
        tmp_path.chmod(0o700)


def test_no_history(tmp_path: Path) -> None:
    with pytest.raises(CannotReadHistory) as caught:
        list(History(path=(path := tmp_path / "h.sqlite")).records())
    assert caught.value.message == f"{path}: there is no history"


def test_another_file(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    path.write_text("not a database, and longer than the header of a database " * 20)
    with pytest.raises(CannotReadHistory, match="not a history: file is not a database"):
        list(History(path=path).records())


def test_the_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mail (text)")
    with pytest.raises(CannotReadHistory, match="it is the database of another program"):
        History(path=path).add(records())


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CannotWriteFile, match="unable to open database file"):
        History(path=tmp_path / "h.sqlite").add(records())
    tmp_path.chmod(0o700)
