"""A history that a script of an earlier commit left: its schema runs nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rubric_ci.parts.lab.history.database import APPLICATION, MIGRATIONS, History
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
SCHEMAS = {
    "recursive-view": (
        "DROP TABLE run",
        f"CREATE VIEW run AS {ENDLESS} i id, i started_at, '' record, 1 case_list FROM n",
    ),
    "view-of-the-cases": (
        "DROP TABLE case_list",
        f"CREATE VIEW case_list AS {ENDLESS} i AS id, '' AS cases FROM n",
    ),
    "trigger": (f"CREATE TRIGGER t BEFORE INSERT ON run BEGIN {ENDLESS} max(i) FROM n; END",),
    "virtual-table": ("CREATE VIRTUAL TABLE t USING fts5(a)",),
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_runs_nothing(schema: tuple[str, ...], tmp_path: Path) -> None:
    Checkout.create(tmp_path)
    path = tmp_path / ".rubric-ci/history.sqlite"
    assert History(path=path).add([]) == 0
    with closing(sqlite3.connect(path)) as connection:
        for statement in schema:
            connection.execute(statement)
        connection.commit()
    done = invoke(tmp_path, ENVIRONMENT, "history", "show")
    assert done.returncode == 2, done.stdout
    assert "not a history: it has views, triggers or virtual tables" in done.stderr


def test_an_endless_statement_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An expression of an index, say, which the kinds of entries in the schema do not show."""
    monkeypatch.setattr("rubric_ci.parts.lab.history.database.LONGEST", 0.5)
    path = tmp_path / "history.sqlite"
    history = History(path=path)
    history.add([])
    with history._opened("rw") as connection:
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            connection.execute(f"{ENDLESS} max(i) FROM n")


def test_the_file_is_what_the_schema_says(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    History(path=path).add([])
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    assert list(History(path=path).records()) == []
