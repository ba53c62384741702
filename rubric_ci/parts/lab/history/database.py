"""The SQLite file of the history: schema, migrations, adding and reading records.

The rollback journal is kept, not WAL: a backup or a cache of the one file is then complete whenever
no writer is at work. Every change is one transaction that begins with the write lock, so that
concurrent writers wait for each other, and a killed one leaves nothing.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Final, TypeAlias

from rubric_ci.errors import CannotReadHistory, CannotUseGit, CannotWriteFile
from rubric_ci.files.project import discovery
from rubric_ci.parts.lab.history.record import (
    RunRecord,
    digest,
    dump,
    dump_cases,
    parse,
    parse_cases,
)
from rubric_ci.system import file_io
from rubric_ci.system.git.committed import first_tracked
from rubric_ci.values.dataclass import dataclass

APPLICATION: Final = 0x52434948  # "RCIH", in the header of the file
PATIENCE: Final = 60.0  # seconds to wait for another writer
LONGEST: Final = 120.0  # seconds from opening the file to the end of the last statement
Migration: TypeAlias = Sequence[str]
"""Statements that lead from one version of the schema to the next."""
MIGRATIONS: Final[Sequence[Migration]] = (
    (
        # Most runs have the same cases, so that their names are stored once.
        "CREATE TABLE case_list (id INTEGER PRIMARY KEY, cases TEXT NOT NULL UNIQUE)",
        """CREATE TABLE run (id TEXT PRIMARY KEY, started_at TEXT NOT NULL, record TEXT NOT NULL,
        case_list INTEGER NOT NULL REFERENCES case_list (id))""",
        "CREATE INDEX run_started_at ON run (started_at)",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A history file."""

    path: Path
    migrations: Sequence[Migration] = MIGRATIONS

    def add(self, records: Iterable[RunRecord]) -> int:
        """Add runs, all or none, and return the number of new ones; creates the file.

        Raises CannotReadHistory if the file is not a history, CannotWriteFile if it is read-only or
        a link leads it out of the repository.
        """
        discovery.check_place(self.path)
        try:
            file_io.create_folder(self.path.parent)
        except OSError as error:
            raise self._cannot_write(error.strerror or str(error)) from error
        with self._opened(mode="rwc") as connection, _transaction(connection):
            self._migrate(connection)
            return sum(_insert(connection, each) for each in records)

    def records(self, last: int | None = None) -> Iterator[RunRecord]:
        """Yield the runs, the oldest first; of `last`, the newest ones only."""
        if not self.path.exists():
            raise CannotReadHistory(
                f"{self.path}: there is no history",
                "add a run with `rubric-ci history add`, or set another file with --history",
            )
        with self._opened(mode="rw") as connection:
            if self._version(connection) < len(self.migrations):  # else a read-only file will do
                with _transaction(connection):
                    self._migrate(connection)
            connection.execute("PRAGMA query_only = ON")
            rows = connection.execute(_SELECT, (-1 if last is None else last,)).fetchall()
        where = str(self.path)
        names = cache(lambda text: parse_cases(text, where))
        for text, cases in reversed(rows):
            yield replace(parse(text, where), cases=names(cases))

    @contextmanager
    def _opened(self, mode: str) -> Iterator[sqlite3.Connection]:
        discovery.check_place(self.path)
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        try:
            with closing(
                sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
            ) as connection:
                _distrust(connection)
                yield connection
        except sqlite3.OperationalError as error:  # a lock, a full disk, a read-only file
            raise self._cannot_write(str(error)) from error
        except sqlite3.DatabaseError as error:
            raise self._not_a_history(str(error)) from error

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Bring the schema up to date, within the transaction that uses it."""
        version = self._version(connection)
        for statement in (each for migration in self.migrations[version:] for each in migration):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION:d}")
        connection.execute(f"PRAGMA user_version = {len(self.migrations):d}")

    def _version(self, connection: sqlite3.Connection) -> int:
        """Return the number of migrations that the file has; raises CannotReadHistory."""
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if connection.execute(_PROGRAMS).fetchone() != (0,):
            raise self._not_a_history("it has views, triggers or virtual tables")
        if tables and application != APPLICATION:
            raise self._not_a_history("it is the database of another program")
        if version > len(self.migrations):
            raise CannotReadHistory(
                f"{self.path}: schema version {version} is newer than this program's "
                f"{len(self.migrations)}",
                "upgrade rubric-ci",
            )
        return int(version)

    def _not_a_history(self, reason: str) -> CannotReadHistory:
        return CannotReadHistory(
            f"{self.path}: not a history: {reason}",
            "remove the file and create it again with `rubric-ci history import`, or set another "
            "one with --history",
        )

    def _cannot_write(self, reason: str) -> CannotWriteFile:
        return CannotWriteFile(
            f"{self.path}: cannot use the history: {reason}",
            "make the file writable, or set another one with --history",
        )


def _distrust(connection: sqlite3.Connection) -> None:
    """Let a file that somebody else may have written run no code and no endless statement."""
    end = monotonic() + LONGEST
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.set_progress_handler(lambda: monotonic() > end, 100_000)


_PROGRAMS: Final = (
    "SELECT count(*) FROM sqlite_master"
    " WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'"
)
_SELECT: Final = (
    "SELECT record, cases FROM run JOIN case_list ON case_list.id = case_list"
    " ORDER BY started_at DESC, run.id DESC LIMIT ?"
)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite has ended it already if the disk is full
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _insert(connection: sqlite3.Connection, record: RunRecord) -> bool:
    """Insert a run; return False if it is there already."""
    cases = dump_cases(record.cases)
    connection.execute("INSERT OR IGNORE INTO case_list (cases) VALUES (?)", (cases,))
    text = dump(replace(record, cases=()))
    done = connection.execute(
        "INSERT OR IGNORE INTO run SELECT ?, ?, ?, id FROM case_list WHERE cases = ?",
        (digest(record), record.started_at, text, cases),
    )
    return done.rowcount == 1


def check_untracked(path: Path, environment: Mapping[str, str]) -> None:
    """Raise CannotReadHistory if git tracks the file, or if that is unknown."""
    if reason := why_untrusted(path, environment):
        raise CannotReadHistory(
            f"the history {path.as_posix()} was not read: {reason}",
            "set another file with --history; `rubric-ci history export` and `import` keep a "
            "history on a separate branch",
        )


def why_untrusted(path: Path, environment: Mapping[str, str]) -> str:
    """Return why a history must not be read; empty: it may.

    SQLite applies a journal that is next to the file.
    """
    files = [path.with_name(path.name + ending) for ending in ("", "-journal", "-wal")]
    try:
        tracked = next(filter(None, (first_tracked(file, environment) for file in files)), None)
    except CannotUseGit as error:
        return f"{error.message}; check that git can read the checkout"
    if tracked is None:
        return ""
    return f"git tracks {tracked}; run `git rm --cached {tracked}` and commit"
