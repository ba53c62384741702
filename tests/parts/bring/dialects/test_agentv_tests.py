"""AgentV's tables and lines: the tests of its loader, places, what has no counterpart."""

from typing import Any

import pytest

from rubric_ci.files.yaml_text.csv_cases import CsvCases
from rubric_ci.files.yaml_text.source import open_source
from rubric_ci.parts.bring.dialects.agentv_tests import of_row
from rubric_ci.parts.bring.translation import TranslatedSource
from rubric_ci.values.references import Found, NotFound

SUITE = "name: shop\nprompts: ['{{ input }}']\ntests: [file://cases.csv]\n"


def graders(*cells: str) -> list[dict[str, Any]]:
    """Return the graders of a row with these cells."""
    row = {f"__expected{n or ''}": cell for n, cell in enumerate(cells)}
    found: list[dict[str, Any]] = of_row(row, 1).case["assert"]
    return found


@pytest.mark.parametrize(
    ("cell", "grader"),
    [
        ("icontains:HELLO", {"type": "icontains", "value": "HELLO"}),
        ("not-contains: a", {"type": "contains", "negate": True, "value": "a"}),
        ("contains-any:Hi, none", {"type": "contains-any", "value": ["Hi", "none"]}),
        ("contains-any", {"type": "contains-any", "value": []}),
        ("is-json", {"type": "is-json"}),
        ("starts-with(0.9):a", {"type": "starts-with", "value": "a", "min_score": 0.9}),
        ("latency(5)", {"type": "latency", "threshold": 5.0}),
        ("cost(0.5)", {"type": "cost", "budget": 0.5}),
        ("hello", {"type": "equals", "value": "hello"}),
        ("It is: 4", {"type": "equals", "value": "It is: 4"}),
        ("grade: Is kind", {"type": "llm-grader", "rubrics": [{"outcome": "Is kind"}]}),
        ("python:a.py", {"type": "script", "command": ["uv", "run", "python", "a.py"]}),
        ("similar(0.8):a", {"type": "similar", "value": "a", "min_score": 0.8}),
        ("fn:a > 3", {"type": "fn"}),
        ("file://a.py", {"type": "file://a.py"}),
    ],
)
def test_a_cell_as_a_grader(cell: str, grader: dict[str, Any]) -> None:
    assert graders(cell) == [grader]


def test_columns_of_a_row() -> None:
    row = {
        "id": "",
        "input": "Hi",
        "__prefix": "Please: ",
        "__suffix": "!",
        "__expected": "contains:a",
        "__expected2": "",
        "__expected3": "contains:b",
        "__metric": "m",
        "__description": "Greets",
        "__threshold": "0.8",
        "__metadata:source": "csv",
        "__metadata:tags[]": r"x, y\,z",
        "vars.user.name": "Ann",
        "lang": "en",
    }
    found = of_row(row, 3)
    assert found.case == {
        "id": "row-3",
        "input": "Please: Hi!",
        "assert": [
            {"type": "contains", "value": "a", "name": "m-1"},
            {"type": "contains", "value": "b", "name": "m-2"},
        ],
        "criteria": "Greets",
        "threshold": 0.8,
        "metadata": {"source": "csv", "tags": ["x", "y,z"]},
        "vars": {"user": {"name": "Ann"}, "lang": "en"},
    }
    assert found.columns["assert", 1] == "__expected3"
    assert found.columns["vars", "user", "name"] == "vars.user.name"


@pytest.mark.parametrize(
    ("columns", "test"),
    [
        (["a", "vars.a.b"], {"vars": {"a": "0"}, "vars.a.b": "1"}),
        (["vars.a.b", "a"], {"vars": {"a": {"b": "0"}}, "a": "1"}),
        (["a", "vars.a"], {"vars": {"a": "0"}, "vars.a": "1"}),
        (["a", "vars.a.b.c"], {"vars": {"a": "0"}, "vars.a.b.c": "1"}),
    ],
)
def test_a_column_that_is_no_variable(columns: list[str], test: dict[str, Any]) -> None:
    row = {name: str(number) for number, name in enumerate(columns)}
    assert of_row(row, 1).case == {"id": "row-1", **test}


TABLE = (
    "id,vars.input,__expected,__config:__expected:threshold\n"
    "a,Say hello,contains:hello,\n"
    "b,Say hello,similar(0.8):hello,0.5\n"
)


def opened(table: str) -> TranslatedSource:
    def find(name: str) -> list[Found | NotFound]:
        return [Found("cases.csv", table) if name == "cases.csv" else NotFound("no such file")]

    source = open_source("suite.yaml", SUITE, find=find)
    assert isinstance(source, TranslatedSource)
    return source


def test_cases_of_a_table_and_their_places() -> None:
    source = opened(TABLE)
    first = source.data["evalcases"][0]
    assert first == {
        "id": "a",
        "input": "Say hello",
        "rubrics": [{"contains": "hello", "required": False}],
    }
    assert source.location(("evalcases", 0, "rubrics", 0)) == ("cases.csv", (2, 13, 2, 27), None)
    assert source.location(("evalcases", 1, "input")) == ("cases.csv", (3, 3, 3, 12), None)
    said = [(file, problem.line, problem.message) for file, problem in source.text_problems]
    assert said == [
        ("cases.csv", 1, "`__config:__expected:threshold` has no counterpart"),
        ("cases.csv", 3, "the grader `similar` has no counterpart"),
    ]


def test_a_table_without_ids() -> None:
    table = CsvCases("c.csv", "q,__expected\nHi,hello\n", of_row)
    assert [case["id"] for case in table.cases] == ["row-1"]
    assert table.location((0, "id")).place == (2, 1, 2, 3)


LINES = (
    '{"id": "a", "input": "Hi", "assert": [{"type": "equals", "value": "x"}, "Greets"]}\n'
    '{"id": "b", "input": "Hi", "criteria": "Is polite", "vars": {"x": 1}}\n'
)
SIDECAR = """\
name: lines
tags: [a]
evaluator: code
execution:
  target: fixed
  assert:
    - {type: icontains, value: hello}
    - {type: nope}
"""


def test_lines_with_the_file_beside_them() -> None:
    source = open_source("lines.jsonl", LINES, SIDECAR)
    assert source.data["dataset"] == "lines"
    assert source.data["target"] == "fixed"
    first, second = source.data["evalcases"]
    hello = {"contains": "hello", "ignore_case": True, "required": False}
    greets = {"expected_outcome": "Greets", "required": False}
    assert first["rubrics"] == [{"equals": "x", "required": False}, greets, hello]
    assert second["expected_outcome"] == "Is polite"
    assert source.location(("evalcases", 0, "rubrics", 1)).place[0] == 1
    assert source.location(("evalcases", 1, "rubrics", 0))[:2] == ("lines.yaml", (7, 7, 7, 38))
    said = [(file, problem.line, problem.message) for file, problem in source.text_problems]
    assert sorted(set(said)) == [
        ("lines.jsonl", 2, "AgentV reads no `vars` of a line"),
        ("lines.yaml", 2, "AgentV reads no `tags` of the file next to the lines"),
        ("lines.yaml", 3, "`evaluator` has no counterpart"),
        ("lines.yaml", 8, "the grader `nope` has no counterpart"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "a", "input": "Hi", "rubrics": ["b"], "criteria": "c"}\n',
        '{"id": "a", "input": "Hi", "vars": {"b": 1}}\n',
        '{"input": "Hi", "assert": ["b"]}\n',
    ],
)
def test_lines_that_are_not_of_agentv(line: str) -> None:
    assert not isinstance(open_source("a.jsonl", line), TranslatedSource)
