"""Tests of criteria that a change removes."""

from rubric_ci.files.project.loader import load
from rubric_ci.gate.grading_changes.file_changes import case_tests, entry_changes, file_tests
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.references import NotFound
from tests.gate.grading_changes.test_file_changes import told

FILE = """\
criteria: [{id: greets, expected_outcome: Greets}]
tests:
- {answer: hello, marks: {greets: true}}
- {answer: bye, marks: {greets: false}}
"""
CASE = "evalcases:\n- id: a\n  input: Hi\n  rubrics:\n    " + FILE.replace("\n", "\n    ")


def removed(about: str, file: str, line: int, before: str) -> GradingChange:
    (change,) = told("criterion", file, ("changed", about, line, before, ""))
    return change


def lost(*texts: str) -> list[GradingChange]:
    then, now = ({"test": file_tests("r.yaml", text)} for text in texts)
    return [*entry_changes(then, now)]


def test_a_test_that_a_rubric_file_has_lost() -> None:
    less = FILE.replace("- {answer: bye, marks: {greets: false}}\n", "")
    assert lost(FILE, less) == [removed("tests", "r.yaml", 4, '“bye”: {"greets": false}')]
    assert lost(less, f"# moved\n{FILE}") == []


def test_a_test_with_other_marks_has_lost_the_old_ones() -> None:
    (found,) = lost(FILE, FILE.replace("false", "true"))
    assert found.before == '“bye”: {"greets": false}'


def cases(text: str) -> tuple[EvalCase, ...]:
    loaded = load("e.yaml", text, lambda _: NotFound("gone"))
    assert loaded.eval_file, loaded.diagnostics
    return loaded.eval_file.cases


def test_a_test_that_a_case_has_lost() -> None:
    (was,), (less,), (same,) = (
        cases(text)
        for text in (CASE, CASE.replace("bye", "Go away"), CASE.replace("input: Hi", "input: Hey"))
    )
    then, now, other = ({"test": case_tests(each, ("e.yaml", "a"))} for each in (was, less, same))
    assert [*entry_changes(then, now)] == [
        removed("a/tests", "e.yaml", 8, '“bye”: {"greets": [false]}')
    ]
    assert [*entry_changes(then, other)] == []
