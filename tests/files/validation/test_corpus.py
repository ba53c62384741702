"""A file is a test: `tests/evals/valid` has no problem, `invalid` has those of its `.txt`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from rubric_ci.files.project.loader import load
from rubric_ci.files.project.working_tree import lookup
from rubric_ci.files.validation.schema import read_schema
from rubric_ci.files.validation.schema_errors import explain
from rubric_ci.files.validation.validator import Surroundings, check_evals
from rubric_ci.files.yaml_text.source import decode, open_source
from rubric_ci.values.problems import LocatedProblem
from rubric_ci.values.references import NotFound
from tests import platforms
from tests.evals.__main__ import FOLDER, diagnostics, evals, report

VALID, INVALID = evals("valid"), evals("invalid")
SCHEMA = read_schema("eval")
QUICK, SLOW = Draft202012Validator(SCHEMA), jsonschema.Draft202012Validator(SCHEMA)


def name(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", VALID, ids=name)
def test_valid(path: Path) -> None:
    assert report(path) == ""
    sidecar_path = path.with_suffix(".yaml")
    sidecar = sidecar_path.read_text(encoding="utf-8") if path.suffix == ".jsonl" else None
    text = path.read_bytes().decode()
    loaded = load(path.name, text, lookup(FOLDER, path), sidecar)
    assert loaded.eval_file is not None
    assert loaded.eval_file.cases


@pytest.mark.parametrize("path", INVALID, ids=name)
def test_invalid(path: Path) -> None:
    expected = path.with_suffix(".txt").read_text(encoding="utf-8")
    assert report(path) == expected != "", "run `make golden` and read what changed"


@pytest.mark.parametrize("path", INVALID, ids=name)
def test_what_has_errors_is_not_graded(path: Path) -> None:
    text = decode(path.read_bytes())
    if not isinstance(text, LocatedProblem):
        suite = path.with_suffix(".yaml") if path.suffix == ".jsonl" else None
        sidecar = suite.read_text(encoding="utf-8") if suite and suite.exists() else None
        loaded = load(path.name, text, lookup(FOLDER, path), sidecar)
        errors = [d for d in loaded.diagnostics if d.severity.value == "error"]
        assert (loaded.eval_file is None) == bool(errors)


@pytest.mark.parametrize("path", [*VALID, *INVALID], ids=name)
def test_both_validators_agree(path: Path) -> None:
    text = decode(path.read_bytes())
    source = open_source(path.name, "" if isinstance(text, LocatedProblem) else text)
    if source.readable:
        assert agree(source.data)


def agree(data: Any) -> bool:
    """Return True if both validators and the explanation agree."""
    explained = explain(SCHEMA, data, lambda _: None)
    return QUICK.is_valid(data) == SLOW.is_valid(data) == (explained == [])


@pytest.mark.parametrize("path", [*VALID, *INVALID], ids=name)
def test_every_problem_has_a_place_in_the_file(path: Path) -> None:
    for found in diagnostics(path):
        text = (path.parent / found.file).read_bytes().decode("utf-8", "replace")
        assert 1 <= found.span.line <= len(text.splitlines()) + 1
        assert (found.span.end_line, found.span.end_column) >= (found.span.line, found.span.column)


KEYS_AND_NAMES = """
    evalcases id input rubrics expected_outcome score_ranges score_range levels level criteria
    weight required execution evaluators type name target rubric llm_judge code_judge composite
    content role user aggregator fields mode metadata description outcome script prompt
"""
WORDS = st.sampled_from(KEYS_AND_NAMES.split())
SCALARS = (
    WORDS | st.none() | st.booleans() | st.integers(-2, 12) | st.floats() | st.text(max_size=4)
)
SHAPES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=24,
)


@given(st.dictionaries(WORDS, SHAPES, max_size=5))
def test_any_shape_is_explained_and_agreed_upon(data: dict[str, Any]) -> None:
    assert agree(data)


LINES = st.sampled_from(
    (
        "evalcases:",
        "- id: a",
        "  input: q",
        "  rubrics:",
        "  - x",
        "  - {levels: {1: a, 2: b}}",
        "    weight: 1:30",
        "&a b",
        "*a",
        "<<: *a",
        "  <<: {outcome: 2024-01-01, weight: 1_0}",
        "? x",
        "\t- y",
        "---",
        "...",
        "| ",
        "'",
        '"',
        "    score_ranges: {0: a, 5: b}",
        "  execution: {evaluators: []}",
        "# rubric-ci: ignore[x]",
    )
)


@given(st.lists(LINES | st.text(max_size=8), max_size=14).map("\n".join))
def test_any_text_is_read_or_explained(text: str) -> None:
    for file in ("a.yaml", "a.jsonl"):
        source = open_source(file, text.encode("utf-8", "replace").decode())
        found = check_evals(source, Surroundings(lambda _: NotFound("no such file")))
        assert source.readable or found


# A text of 16 MB is made in its test: each worker collects all tests and keeps what they are given.
LARGE = {
    "values": ("a.yaml", "evalcases: [{metadata: {a: [" + "1," * 1_950_000 + "1]}}]\n", 1),
    "values without signs": ("a.yaml", "evalcases: {" + "a,\n" * 150_000 + "}\n", 99_999),
    "lists in lists": ("a.yaml", "evalcases:\n" + ("- " * 50 + "x\n") * 10_000, 4_001),
    "lines": ("a.jsonl", '{"id": "a", "input": "q"}\n' * 60_000, 1),
    "brackets": ("a.jsonl", f'{{"metadata": [{("[" * 90 + "]" * 90 + ",") * 3_000}1]}}', 1),
    "characters": ("a.yaml", "evalcases: {x}", 1),
    "characters of a line": ("a.jsonl", '{"id": "{x}"}', 1),
}


@pytest.mark.parametrize(("file", "text", "line"), LARGE.values(), ids=LARGE)
def test_large_files_are_refused_before_they_are_read(file: str, text: str, line: int) -> None:
    source = open_source(file, text.replace("{x}", "x" * 16_000_000))
    assert [(found.rule.id, found.line) for _, found in source.text_problems] == [
        ("file-size", line)
    ]
    assert not source.readable


PROSE = "well: this, that, and [so on], " * 20_000


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.yaml", f"evalcases:\n- id: a\n  input: |\n    {PROSE}\n"),
        ("a.jsonl", json.dumps({"id": "a", "input": PROSE, "note": '"\\'})),
    ],
)
def test_long_texts_are_not_counted_as_values(file: str, text: str) -> None:
    assert not open_source(file, text).text_problems


HEAVY = ("alias-bomb.yaml", "merge-bomb.yaml", "deep-flow.yaml", "deep.jsonl", "huge-number.yaml")

PEAK_OF = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, else KiB
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // unit)
"""


@platforms.MEMORY
def test_bombs_stay_small() -> None:
    files = [str(FOLDER / "invalid" / file) for file in HEAVY]
    command = [sys.executable, "-m", "rubric_ci", "validate", *files]
    # NOTE: a child's peak starts at its parent's size, so a small process starts the child.
    between = [sys.executable, "-I", "-c", PEAK_OF, *command]
    done = subprocess.run(between, capture_output=True, text=True, check=True)
    code, peak = map(int, done.stdout.split())
    assert code == 1
    assert peak < 100  # MiB
