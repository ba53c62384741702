"""Whether a file holds cases, in every spelling of its keys."""

import pytest

from rubric_ci.files.project.file_kinds import (
    foreign_tool,
    lines_hold_cases,
    lines_may_hold_cases,
    yaml_holds_cases,
)

CASE = b'{"id": "a", "input": "b"}'
ANSWER = b'{"id": "a", "answer": "b"}'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"evalcases: []", True),
        (b"a: 1\n'evalcases' : []", True),
        (b'"evalcas\\x65s": []', True),
        (b'? "eval\\\n  cases"\n: []', True),
        (b"? evalcases\n: []", True),
        (b"{description: a, evalcases: []}", True),
        (b"&a evalcases: []", True),
        (b"!!str evalcases: []", True),
        (b"a: &a evalcases\n*a : []", True),
        (b"<<: {evalcases: []}", True),
        (b"[broken, evalcases", True),
        (b"evalcases: \xff", True),
        (b"# evalcases", False),
        (b"a: the evalcases", False),
        (b"a: {evalcases: []}", False),
        (b"[evalcases]", False),
        (b'"a\\x65": []', False),
        (b"{{ helm }}: \\", False),
        (b"", False),
        (b"tests: [{id: a, input: b, criteria: c}]", True),
        (b"tests: [{vars: {a: b}}]\nprompts: [c]", False),
        (b'"tes\\x74s": [{id: a, input: b, criteria: c}]', False),
    ],
)
def test_yaml(data: bytes, *, expected: bool) -> None:
    assert yaml_holds_cases(data) is expected


@pytest.mark.parametrize(
    ("data", "tool"),
    [
        (b"prompts: [a]\ntests: [{vars: {a: b}}]", "promptfoo"),
        (b"prompts: [a]\nproviders: [b]", ""),
        (b"tests: 5", ""),
        (b"tests: \xff", ""),
    ],
)
def test_foreign_tool(data: bytes, tool: str) -> None:
    assert foreign_tool(data) == tool


@pytest.mark.parametrize(
    ("lines", "holds", "may_hold"),
    [
        ([CASE], True, True),
        ([b"", b'{"note": 1}', CASE], True, True),
        ([b"1", CASE], True, True),
        ([b'{"id": "a", "inpu\\u0074": "b"}'], True, True),
        ([b'{"id": "a", "input": '], True, True),
        ([b'{"id": "a", "prompt": "b"}'], False, True),
        ([ANSWER, b'{"id": "b", "question": "c"}'], False, True),
        ([b"{"], False, True),
        ([b'{"id": "a", "input_messages": []}'], True, True),
        ([b'{"id": "a", "inputs": "b"}'], False, True),
        ([b'{"id": "a", "input_message": "b"}'], False, True),
        ([b'{"id": "a", "messages": []}'], False, True),
        ([b" ", b'{"id": "a", "input": '], True, True),
        ([b"[" * 100_000, CASE], True, True),
        ([ANSWER, b'{"id": "b", "input": '], False, False),
        ([ANSWER], False, False),
        ([], False, True),
    ],
)
def test_json_lines(lines: list[bytes], *, holds: bool, may_hold: bool) -> None:
    data = b"\xef\xbb\xbf" + b"\n".join(lines)
    assert (lines_hold_cases(data), lines_may_hold_cases(data)) == (holds, may_hold)
