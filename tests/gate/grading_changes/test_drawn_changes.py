"""Every kind of change of every kind of file: the drawn directions are those of the program.

Some changes of different places are looked at together, which takes as long as one of them. Where
one conceals another, as the removal of a case does, they are parted.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import Checkout
from tests.gate.grading_changes.drawn import FILES, TOOLS, Drawn, drawn
from tests.gate.grading_changes.test_all_changes import changes_of, committed, write

ROWS, OF_TOOLS = drawn("drawn_changes"), drawn("drawn_tool_changes")
TOGETHER = 10
SCHEMAS = Path(__file__).parents[3] / "schemas"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return committed(tmp_path_factory.mktemp("project"), FILES)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return committed(tmp_path_factory.mktemp("tools"), TOOLS)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("OPENAI_KEY", "sk-2")


def told(checkout: Checkout, files: Mapping[str, str], rows: Sequence[Drawn]) -> list[str]:
    texts = {row.file: files[row.file] for row in rows}
    for row in sorted(rows, key=lambda row: place(row, files), reverse=True):
        start, end = place(row, files)
        texts[row.file] = texts[row.file][:start] + row.after + texts[row.file][end:]
    write(checkout, texts)
    try:
        with chdir(checkout.root):
            found = changes_of(checkout)
    finally:
        write(checkout, {name: files[name] for name in texts})
    return sorted(f"{change.direction} {change.kind}" for change in found)


def place(row: Drawn, files: Mapping[str, str]) -> tuple[int, int]:
    start = files[row.file].index(row.before)
    return start, start + len(row.before)


def together(rows: Sequence[Drawn], files: Mapping[str, str]) -> list[list[Drawn]]:
    """Spread the changes over lists without two of one place, about `TOGETHER` in each."""
    lists: list[list[Drawn]] = [[] for _ in range(len(rows) // TOGETHER)]
    alone: list[list[Drawn]] = []
    for number, row in enumerate(rows):
        turn = number % len(lists)
        fitting = (each for each in lists[turn:] + lists if not overlaps(row, each, files))
        if (found := next(fitting, None)) is None:
            alone.append([row])
        else:
            found.append(row)
    return alone + lists


def overlaps(row: Drawn, others: Sequence[Drawn], files: Mapping[str, str]) -> bool:
    start, end = place(row, files)
    places = [place(each, files) for each in others if each.file == row.file]
    return any(start < last and first < end for first, last in places)


LISTS, LISTS_OF_TOOLS = together(ROWS, FILES), together(OF_TOOLS, TOOLS)


def check(checkout: Checkout, files: Mapping[str, str], rows: Sequence[Drawn]) -> None:
    found, expected = told(checkout, files, rows), sorted(chain(*(row.told for row in rows)))
    if found == expected or len(rows) == 1:
        assert (rows, found) == (rows, expected)
    else:
        middle = len(rows) // 2
        check(checkout, files, rows[:middle])
        check(checkout, files, rows[middle:])


@pytest.mark.parametrize("rows", LISTS, ids=range(len(LISTS)))
def test_drawn_changes(project: Checkout, rows: Sequence[Drawn]) -> None:
    check(project, FILES, rows)


@pytest.mark.parametrize("rows", LISTS_OF_TOOLS, ids=range(len(LISTS_OF_TOOLS)))
def test_drawn_changes_of_a_tool_s_files(tools: Checkout, rows: Sequence[Drawn]) -> None:
    check(tools, TOOLS, rows)


def test_without_a_change_nothing_is_told(project: Checkout, tools: Checkout) -> None:
    assert told(project, FILES, []) == told(tools, TOOLS, []) == []


def test_every_row_is_looked_at() -> None:
    assert sorted(chain(*LISTS)) == sorted(ROWS)
    assert sorted(chain(*LISTS_OF_TOOLS)) == sorted(OF_TOOLS)


@pytest.mark.parametrize("name", ["eval", "config", "waivers"])
def test_every_key_of_a_schema_is_drawn(name: str) -> None:
    """A new key needs a row that says what a change of it does to the grading."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    keys = {*keys_of(name, schema)}
    keys |= {key for part, each in schema["$defs"].items() for key in keys_of(part, each)}
    known = {key for row in ROWS for key in row.keys.split()}
    missing = sorted(key for key in keys if not any(is_in(each, key) for each in known))
    assert missing == [], "add a line to drawn_changes.jsonl: what does a change do to the grading?"


SILENT = {
    "under test": """
        agentTarget.model agentTarget.tools target.max_tokens target.model target.prompt
        target.skill target.temperature""",
    "a price": "target.input_cost_per_token target.output_cost_per_token",
    "a system message is a prompt, under test": "eval.messages message.content message.role",
    "a file next to a text is a prompt, under test": "part.value",
    "carried for people": """
        case.description case.note case.notes eval.description message.metadata waiver.owner
        waiver.reason""",
    "carried for people, where no script reads it": "eval.metadata",
    "a name in reports": "eval.dataset",
    "tests of criteria mark no case": """
        seeingRubrics.tests caseTest.name caseTest.answer caseTest.marks""",
    "for editors": "config.$schema eval.$schema waivers.$schema",
    "policy that decides no verdict": """
        config.env config.untrusted env.allow untrusted.max_cases untrusted.max_characters
        untrusted.max_cost_usd""",
    "how many requests are in flight": "target.concurrency target.workers",
    "a tag that decides nothing": "case.tags",
    "the suite shares none": "case.shared_rubrics",
    "each case has rubrics or evaluators of its own": """
        config.default_evaluator eval.evaluator eval.rubrics""",
}
"""Keys with a change of which nothing is told, by the reason."""


def test_a_key_is_told_or_named_as_silent() -> None:
    silent = {key for row in ROWS if not row.told for key in row.keys.split()}
    assert sorted(silent) == sorted(" ".join(SILENT.values()).split())


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
