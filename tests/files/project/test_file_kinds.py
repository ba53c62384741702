"""The kind of a file by its name, and by its content in every spelling of its keys."""

import pytest

from rubric_ci.files.project.file_kinds import (
    CONFIG_NAMES,
    agentv_configs,
    folder_served,
    foreign_tool,
    is_targets_file,
    lines_hold_cases,
    lines_may_hold_cases,
    sidecar_name,
    targets_candidates,
    yaml_holds_cases,
)

CASE = b'{"id": "a", "input": "b"}'
ANSWER = b'{"id": "a", "answer": "b"}'


@pytest.mark.parametrize(
    ("name", "sidecar"),
    [("evals/a.jsonl", "evals/a.yaml"), ("a.eval.jsonl", "a.eval.yaml"), ("a.yaml", ""), ("a", "")],
)
def test_the_suite_fields_of_json_lines(name: str, sidecar: str) -> None:
    assert sidecar_name(name) == sidecar


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("targets.yaml", ""),
        ("a/targets.yaml", "a"),
        (".agentv/targets.yaml", ""),
        ("a/.agentv/targets.yaml", "a"),
        ("a/.agentv/b/targets.yaml", "a/.agentv/b"),
    ],
)
def test_the_folder_that_a_targets_file_serves(name: str, folder: str) -> None:
    assert folder_served(name) == folder


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("", [".agentv/config.yaml"]),
        ("a/b", ["a/b/.agentv/config.yaml", "a/.agentv/config.yaml", ".agentv/config.yaml"]),
        ("../a/b", ["../a/b/.agentv/config.yaml"]),
        ("..", ["../.agentv/config.yaml"]),
        ("..a", ["..a/.agentv/config.yaml", ".agentv/config.yaml"]),
        ("/a/b", ["/a/b/.agentv/config.yaml"]),
    ],
)
def test_the_configurations_of_agentv(folder: str, expected: list[str]) -> None:
    assert list(agentv_configs(folder)) == expected


def test_the_configuration_in_the_order_of_preference() -> None:
    assert CONFIG_NAMES == ("rubric-ci.yaml", "rubric-ci.yml")


def test_the_targets_files() -> None:
    names = ("targets.yaml", "targets.yml", ".agentv/targets.yaml", ".agentv/targets.yml")
    near = [*names, ".agentv/providers.yaml", ".agentv/providers.yml"]
    assert list(targets_candidates("a")) == [*(f"a/{name}" for name in near), *near]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("targets.yml", True),
        ("a/targets.yaml", True),
        ("a/.agentv/providers.yaml", True),
        ("providers.yaml", False),
        ("a.agentv/providers.yaml", False),
        (".agentv/config.yaml", False),
    ],
)
def test_a_targets_file_by_its_name(name: str, found: bool) -> None:
    assert is_targets_file(name) is found


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
def test_yaml_with_cases(data: bytes, *, expected: bool) -> None:
    assert yaml_holds_cases(data) is expected


@pytest.mark.parametrize(
    ("data", "tool"),
    [
        (b"prompts: [a]\ntests: [{vars: {a: b}}]", "promptfoo"),
        (b"prompts: [a]\nproviders: [b]", ""),
        (b"tests: [{question: a, reference_answer: b}]", "a golden set"),
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
def test_json_lines_with_cases(lines: list[bytes], *, holds: bool, may_hold: bool) -> None:
    data = b"\xef\xbb\xbf" + b"\n".join(lines)
    assert (lines_hold_cases(data), lines_may_hold_cases(data)) == (holds, may_hold)
