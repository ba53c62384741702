"""AgentV's lines and tables: places, and what has no counterpart."""

import pytest

from rubric_ci.files.yaml_text.source import open_source
from rubric_ci.parts.bring.translation import TranslatedSource
from rubric_ci.values.references import Found, NotFound


def test_a_table_is_for_the_import() -> None:
    def find(name: str) -> list[Found | NotFound]:
        return [Found(name, "id,input,__expected\na,Hi,contains:hello\n")]

    source = open_source("suite.yaml", "name: shop\ntests: [file://cases.csv]\n", find=find)
    said = [(file, problem.line, problem.message) for file, problem in source.text_problems]
    table = "`file://cases.csv`: a table is not read in place; `rubric-ci import` reads it"
    assert said == [("suite.yaml", 2, table)]


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
