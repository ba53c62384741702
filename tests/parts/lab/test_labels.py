"""Labels: the round trip, invalid lines, and labels of missing cases or criteria."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.parts.lab.labels import Label, dump, match, parse
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.rubric import Check, Rubric, Scored, ScoreRange
from rubric_ci.values.trace import CaseTrace, FileChange, KeptFile, Step
from tests.cases import build_case, span
from tests.tables import rows

RUBRIC = Rubric(
    (
        Check(id="city", text="Names it", span=span()),
        Scored(id="depth", ranges=(ScoreRange(low=0, high=10, text="any"),), span=span()),
    )
)
CASE: EvalCase = build_case(
    id="one", file="a.yaml", evaluators=(RubricSpec(name="rubric", rubric=RUBRIC, span=span()),)
)
MARKS = st.dictionaries(st.text(), st.booleans() | st.integers() | st.just("cannot_assess"))
TRACE = CaseTrace(
    steps=(Step(tool="ls", arguments={"path": ["."]}, result="a", duration_ms=1.5),),
    workspace=True,
    files=(KeptFile(path="a", text="1"),),
    usage={"token_usage": {"input": 1}},
)
LABELS = st.builds(
    Label,
    file=st.text(),
    id=st.text(),
    evaluator=st.text(),
    answer=st.text(),
    marks=MARKS,
    trace=st.sampled_from([None, TRACE]),
    file_changes=st.sampled_from([(), (FileChange(path="a", kind="added", diff="+1"),)]),
)


def label(**changes: Any) -> Label:
    facts = {"file": "a.yaml", "id": "one", "evaluator": "rubric", "answer": "x", "marks": {}}
    return Label(**{**facts, **changes})


@given(st.lists(LABELS))
def test_dump_then_parse_is_the_identity(labels: list[Label]) -> None:
    assert parse("l.jsonl", dump(labels)) == (tuple(labels), ())


INVALID = """
# no JSON
{
=> is not JSON
# keys
{"id": "a"}
=> a label has the keys file, id, evaluator, answer, marks, and may have trace, file_changes, media
# a number for an id
{"file": "", "id": 1, "evaluator": "", "answer": "", "marks": {}}
=> file, id, evaluator and answer must be texts
# the key of an earlier version
{"file": "", "id": "", "evaluator": "", "answer": "", "marks": {}, "split": "test"}
=> a label has the keys file, id, evaluator, answer, marks, and may have trace, file_changes, media
# a list of marks
{"file": "", "id": "", "evaluator": "", "answer": "", "marks": []}
=> marks must be an object, criterion id to mark
"""


@pytest.mark.parametrize(
    ("line", "messages"),
    [*rows(INVALID), pytest.param("[" * 100_000, ["is not JSON"], id="nested beyond reason")],
)
def test_invalid_lines(line: str, messages: list[str]) -> None:
    labels, problems = parse("l.jsonl", f"\n{line}\n")
    found = [(p.span.line, p.message) for p in problems]
    assert (labels, found) == ((), [(2, each) for each in messages])


@pytest.mark.parametrize(
    ("changed", "messages"),
    [
        pytest.param({"marks": {"city": True, "depth": 3}}, [], id="all is there"),
        pytest.param({"id": "two"}, ["a.yaml: two: there is no such case"], id="case"),
        pytest.param(
            {"evaluator": "style"},
            ["a.yaml: one: there is no evaluator 'style' with rubrics"],
            id="evaluator",
        ),
        pytest.param(
            {"marks": {"town": True, "depth": 11}},
            [
                "a.yaml: one: town: there is no such criterion",
                "a.yaml: one: depth: 11 is not a mark of a score-range",
            ],
            id="criterion and mark",
        ),
    ],
)
def test_labels_of_missing_criteria(changed: dict[str, object], messages: list[str]) -> None:
    matched, problems = match("l.jsonl", [label(**changed)], [CASE])
    assert [p.message for p in problems] == messages
    assert len(matched) == (not messages)
