"""The table of effects: each change of each field is told, or its field is listed as silent."""

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, TypeVar

import pytest

from rubric_ci.gate.differences.case_changes import changes_of
from rubric_ci.gate.differences.config_changes import config_changes
from rubric_ci.gate.differences.effect_of_each_key import EVERY, effect_of, rows_of
from rubric_ci.values.config import Config
from rubric_ci.values.evals import CompositeSpec, EvalCase, EvaluatorSpec, RubricSpec
from rubric_ci.values.rubric import Assertion, Criterion, Level, Levelled, Rubric
from rubric_ci.values.targets import Target
from rubric_ci.values.walk import ABSENT, differences
from tests.gate.selection.test_edits import some_of_each_place
from tests.model_values import Change, changes, examples

Value = TypeVar("Value")

SILENT_IN_A_CASE = {
    "*Span.*": "where it stands in its file",
    "EvalCase.id": "another id is another case",
    "EvalCase.file": "a moved case is the same case",
    "EvalCase.written_id": "a part of the id",
    "EvalCase.target": "the target itself is compared",
    "EvalCase.references": "the files are compared",
    "EvalCase.note": "carried for people",
    "EvalCase.stopped": "the missing file is no part of the messages",
    "EvalCase.variant": "a comparison sets it while it runs",
    "EvalCase.inapplicable": "it follows from the evaluators",
    "EvalCase.only_shared": "it follows from the evaluators",
    "EvalCase.opts_out": "it follows from the evaluators",
    "EvalCase.tags": "told where it decides: a tag of the gate, of a group, or `safety`",
    "*.tags": "told where it is `safety`",
    "Message.in_list": "how the message is sent is under test",
    "EvalCase.input_messages": "a system message and a file are prompts, under test",
    "Turn.text": "of a message of parts, it is their text",
    "CodeJudgeSpec.weight": "the script of a prompt has none that counts",
    "EvalCase.expected_messages": "the same reference, written otherwise",
    "*Part.*": "the same text, by another name",
    "*Spec.name": "another name is another evaluator",
    "*Spec.type": "it follows from the class",
    "LlmJudgeSpec.prompt_path": "its text is compared",
    "CompositeSpec.evaluators": "their order",
    "Rubric.criteria": "their order",
    "*.id": "another id is another criterion",
    "*.template": "the text is compared",
    "Assertion.text": "the rule decides",
    "Workspace.of_target": "it says whose variables the setup gets",
}
"""Pattern of "Class.field" to the reason that nothing is told of some changes of it."""
SILENT_IN_A_CONFIGURATION = {
    "Config.evals": "cases that it loses are told as removed",
    "Config.compare": "told with the targets that decide",
    "Config.judges": "it follows from the base",
    "Config.targets": "a new target is told where a case has it",
    "*.name": "another name is another target",
    "*.held": "it follows from the base",
    "*.concurrency": "how many requests are in flight",
    "Endpoint.model": "under test",
    "Endpoint.options": "parameters are under test",
    "Endpoint.identity": "who asks",
    "LlmTarget.prompt": "under test",
    "ServiceTarget.prompt": "under test",
    "*.skill": "under test",
    "AgentProgram.model": "under test",
    "AgentProgram.tools": "under test",
    "*.depends_on": "as assumed where it is not written",
}


def cases() -> Iterator[EvalCase]:
    plain = examples(EvalCase)[0]
    bare = replace(plain, input_messages=(), expected_messages=(), evaluators=())
    yield from (replace(each, evaluators=()) for each in examples(EvalCase)[:2])
    yield from (replace(bare, evaluators=(usable(each),)) for each in examples(EvaluatorSpec))


def usable(spec: EvaluatorSpec) -> EvaluatorSpec:
    """Return an evaluator that can grade, without members."""
    match spec:
        case CompositeSpec():
            return replace(spec, evaluators=())
        case RubricSpec(rubric=rubric):
            return replace(spec, rubric=Rubric(tuple(map(valid, rubric))))
        case _:
            return spec


def valid(criterion: Criterion) -> Criterion:
    """Return a criterion that can be marked, also without one of its levels."""
    if isinstance(criterion, Assertion):
        return replace(criterion, key="contains")
    if isinstance(criterion, Levelled):
        levels = tuple(Level(level=n, text=f"level {n}") for n in (1, 5, 9))
        return replace(criterion, levels=levels, required_min_level=5)
    return criterion


def drawn(of: type[Value], values: Iterator[Value]) -> Iterator[tuple[Value, Change]]:
    """Yield some changes of each place."""
    return some_of_each_place((value, each) for value in values for each in changes(of, value))


def is_listed(change: Change, silent: dict[str, str]) -> bool:
    return any(fnmatchcase(at, each) for at in change.place for each in silent)


def untold(found: Iterator[tuple[Change, bool]], silent: dict[str, str]) -> list[Any]:
    every = [*found]
    told = {change.place for change, is_told in every if is_told}
    places = {change.place for change, _ in every}
    return sorted(place for place in places - told if not is_listed(Change(place, None), silent))


def test_every_field_of_a_case_is_told_or_listed() -> None:
    """A new field is told as `changed` without further code; its direction needs a row."""
    found = (
        (change, bool([*changes_of(change.value, case, Config())]))
        for case, change in drawn(EvalCase, cases())
    )
    assert untold(found, SILENT_IN_A_CASE) == []


def configurations() -> Iterator[Config]:
    plain = examples(Config)[0]
    yield replace(plain, targets={})
    for number, target in enumerate(examples(Target)):
        yield replace(plain, targets={f"t{number}": replace(target, judge_target="")})


def test_every_field_of_a_configuration_is_told_or_listed() -> None:
    found = (
        (change, bool([*config_changes(change.value, config)]))
        for config, change in drawn(Config, configurations())
    )
    assert untold(found, SILENT_IN_A_CONFIGURATION) == []


@pytest.mark.parametrize(
    ("path", "effect"),
    [
        (("vars", "evaluators", "x", "weight"), "asks"),
        (("metadata", "criteria", "a", "weight"), "grades"),
        (("evaluators", "s", "config", "evaluators", "x"), "grades"),
        (("evaluators", "all", "evaluators", "in", "weight"), "grades"),
        (("evaluators", "a", "rubric", "criteria", "c", "tags", "0"), "policy"),
        (("a_new_field",), "asks"),
        (("turns", "0", "a_new_field"), "asks"),
    ],
)
def test_the_effect_of_a_place(path: tuple[str, ...], effect: str) -> None:
    """Keys of a user's data are none of the table."""
    assert effect_of(path) == effect


def test_each_row_is_about_a_place() -> None:
    """A row of a field that is gone is removed with it."""
    seen: set[int] = set()
    for case, change in drawn(EvalCase, cases()):
        for each in differences(case, change.value):
            seen |= {id(row) for row in rows_of("case", each.path)[1]}
    kept = [row.pattern for row in EVERY["case"] if id(row) not in seen]
    assert [each for each in kept if "." not in each] == ["*"]  # of fields to come


def test_what_is_absent_is_shown_as_nothing() -> None:
    assert f"{ABSENT}" == ""
