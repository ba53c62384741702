"""Every kind of change of every kind of file: the drawn directions are those of the program."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import Checkout
from tests.gate.grading_changes.drawn import FILES, TOOLS, Drawn, drawn
from tests.gate.grading_changes.test_all_changes import changes_of, write

ROWS, OF_TOOLS = drawn("drawn_changes"), drawn("drawn_tool_changes")
SCHEMAS = Path(__file__).parents[3] / "schemas"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return committed(tmp_path_factory.mktemp("project"), FILES)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return committed(tmp_path_factory.mktemp("tools"), TOOLS)


def committed(root: Path, files: Mapping[str, str]) -> Checkout:
    checkout = Checkout.create(root)
    checkout.commit(dict(files))
    return checkout


def told(
    checkout: Checkout, files: Mapping[str, str], row: Drawn, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("OPENAI_KEY", "sk-2")
    monkeypatch.chdir(checkout.root)
    assert row.before in files[row.file]
    write(checkout, row.file, files[row.file].replace(row.before, row.after, 1))
    try:
        found = changes_of(checkout)
    finally:
        write(checkout, row.file, files[row.file])
    return sorted(f"{change.direction} {change.kind}" for change in found)


def names(rows: Sequence[Drawn]) -> list[str]:
    return [f"{n} {(row.keys or row.file).split()[0]}" for n, row in enumerate(rows)]


@pytest.mark.parametrize("row", ROWS, ids=names(ROWS))
def test_a_drawn_change(project: Checkout, row: Drawn, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(project, FILES, row, monkeypatch) == sorted(row.told)


@pytest.mark.parametrize("row", OF_TOOLS, ids=names(OF_TOOLS))
def test_a_drawn_change_of_a_tool_s_file(
    tools: Checkout, row: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told(tools, TOOLS, row, monkeypatch) == sorted(row.told)


def test_without_a_change_nothing_is_told(
    project: Checkout, tools: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for checkout in (project, tools):
        monkeypatch.chdir(checkout.root)
        assert changes_of(checkout) == ()


@pytest.mark.parametrize("name", ["eval", "config", "waivers"])
def test_every_key_of_a_schema_is_drawn(name: str) -> None:
    """A new key needs a row that says what a change of it does to the grading."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    keys = {*keys_of(name, schema)}
    keys |= {key for part, each in schema["$defs"].items() for key in keys_of(part, each)}
    known = {key for row in ROWS for key in row.keys.split()}
    missing = sorted(key for key in keys if not any(is_in(each, key) for each in known))
    assert missing == [], "add a line to drawn_changes.jsonl: what does a change do to the grading?"


def is_in(drawn: str, key: str) -> bool:
    """Return True if a change of the drawn key is a change of the key: it is the same or below."""
    return drawn == key or drawn.startswith(f"{key}.")


def keys_of(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    for key, value in schema.get("properties", {}).items():
        if value is not False:
            yield f"{name}.{key}"
        if isinstance(value, dict):
            yield from keys_of(f"{name}.{key}", value)
            yield from keys_of(f"{name}.{key}", value.get("items") or {})


def test_all_directions_are_drawn() -> None:
    words = [{each.split()[0] for each in row.told} for row in (*ROWS, *OF_TOOLS)]
    counts = {
        each: sum(each in found for found in words) for each in ("weaker", "stronger", "changed")
    }
    assert len(words) > 300
    assert {each: count > 20 for each, count in counts.items()} == dict.fromkeys(counts, True)
    assert sum(not found for found in words) > 20
