"""The directions of evaluators: what can lift a failing answer is weaker."""

from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from rubric_ci.gate.differences.case_changes import changes_of
from rubric_ci.parts.graders.field_accuracy import FieldAccuracySpec, FieldSpec
from rubric_ci.parts.graders.usage_limits import CostSpec, LatencySpec, TokenUsageSpec
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.config import Config
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    WeightedAverage,
)
from rubric_ci.values.rubric import Check, Rubric
from tests.cases import build_case, span

SPAN = span()

GATE = Check(id="gate", text="Is right", span=SPAN)
GATED = RubricSpec(name="r", rubric=Rubric((GATE,)), span=SPAN)
SCRIPT = CodeJudgeSpec(name="s", script="exit 0", cwd=".", span=SPAN)
JUDGE = LlmJudgeSpec(name="j", prompt="Is it right?", span=SPAN)
MEAN = CompositeSpec(name="c", evaluators=(GATED,), aggregator=WeightedAverage(), span=SPAN)
FAST = LatencySpec(name="l", threshold_ms=100, span=SPAN)
CHEAP = CostSpec(name="$", budget_usd=1, span=SPAN)
SHORT = TokenUsageSpec(name="t", max_total=100, max_input=10, span=SPAN)
FIELD = FieldSpec(path="total", match="exact", span=SPAN)
FIELDS = FieldAccuracySpec(name="f", fields=(FIELD,), span=SPAN)
MOVED = replace(FIELDS, fields=(replace(FIELD, span=span(9)),))
BOTH = replace(MEAN, evaluators=(GATED, SCRIPT))
COUNTED = replace(BOTH, aggregator=WeightedAverage(weights={"s": 0}))
BY_SCRIPT = replace(MEAN, aggregator=SCRIPT)
UNCOUNTED = replace(SCRIPT, weight=0)
OTHER = replace(GATED, name="q")
REWORDED = replace(GATED, rubric=Rubric((replace(GATE, text="Is wrong"),)))
EDITED_AGGREGATOR = replace(BY_SCRIPT, aggregator=replace(SCRIPT, script="exit 1"))
HEAVY = replace(FIELDS, fields=(replace(FIELD, weight=2),))
STRICT = replace(MEAN, required_min_score=0.8)
BRIEF = replace(SHORT, max_output=9)
Specs: TypeAlias = list[EvaluatorSpec]
TABLE: dict[str, tuple[Specs, Specs, str]] = {
    "added where nothing was graded": ([], [SCRIPT], "stronger evaluator a/s"),
    "added beside gates": ([GATED], [GATED, SCRIPT], "stronger evaluator a/s"),
    "added beside a script": ([SCRIPT], [SCRIPT, GATED], "weaker evaluator a/r"),
    "added, not counted": ([SCRIPT], [SCRIPT, replace(GATED, weight=0)], "stronger evaluator a/r"),
    "added beside one that is not counted": (
        [GATED, UNCOUNTED],
        [GATED, UNCOUNTED, JUDGE],
        "stronger evaluator a/j",
    ),
    "added beside gates of a composite": ([MEAN], [MEAN, SCRIPT], "stronger evaluator a/s"),
    "added beside a composite that a script decides": (
        [BY_SCRIPT],
        [BY_SCRIPT, JUDGE],
        "weaker evaluator a/j",
    ),
    "added beside a member that the composite does not count": (
        [COUNTED],
        [COUNTED, JUDGE],
        "stronger evaluator a/j",
    ),
    "added beside a member that counts": ([BOTH], [BOTH, JUDGE], "weaker evaluator a/j"),
    "removed": ([GATED, SCRIPT], [GATED], "weaker evaluator a/s"),
    "of another type": ([GATED], [replace(SCRIPT, name="r")], "weaker evaluator a/r"),
    "rubrics of an llm_judge": (
        [replace(GATED, type="llm_judge")],
        [replace(JUDGE, name="r")],
        "weaker evaluator a/r",
    ),
    "weight": ([SCRIPT, JUDGE], [replace(SCRIPT, weight=2), JUDGE], "weaker weight a/s"),
    "both weights alike": (
        [SCRIPT, JUDGE],
        [replace(SCRIPT, weight=2), replace(JUDGE, weight=2)],
        "changed weight a/s; changed weight a/j",
    ),
    "weight 0": ([GATED, SCRIPT], [GATED, UNCOUNTED], "weaker weight a/s"),
    "weight beside gates": (
        [GATED, OTHER],
        [replace(GATED, weight=3), OTHER],
        "changed weight a/r",
    ),
    "member added beside gates": ([MEAN], [BOTH], "stronger evaluator a/c/s"),
    "members in another order": (
        [BOTH],
        [replace(MEAN, evaluators=(SCRIPT, GATED))],
        "changed evaluator a/c: evaluators",
    ),
    "another kind of aggregator": ([MEAN], [BY_SCRIPT], "weaker evaluator a/c: aggregator"),
    "script of an aggregator": (
        [BY_SCRIPT],
        [EDITED_AGGREGATOR],
        "changed evaluator a/c: aggregator",
    ),
    "a criterion": ([GATED], [REWORDED], "changed criterion a/gate"),
    "fields on other lines": ([FIELDS], [MOVED], ""),
}


@pytest.mark.parametrize(("base", "head", "expected"), TABLE.values(), ids=TABLE)
def test_evaluators(base: Specs, head: Specs, expected: str) -> None:
    assert told(base, head) == expected


def told(base: Specs, head: Specs) -> str:
    found = evaluator_changes(case(head), case(base))
    return "; ".join(f"{change.direction} {change.kind} {change.about}" for change in found)


SETTINGS: list[tuple[EvaluatorSpec, dict[str, Any], str]] = [
    (GATED, {"model": "b"}, "changed judge a/r"),
    (GATED, {"sees": ("answer", "files")}, "changed evaluator a/r: sees"),
    (JUDGE, {"prompt": "Say yes"}, "changed evaluator a/j: prompt"),
    (SCRIPT, {"script": "exit 1"}, "changed evaluator a/s: script"),
    (MEAN, {"required_min_score": 0.7}, "stronger evaluator a/c: required_min_score"),
    (STRICT, {"required_min_score": 0.7}, "weaker evaluator a/c: required_min_score"),
    (FAST, {"threshold_ms": 101}, "weaker evaluator a/l: threshold_ms"),
    (FAST, {"threshold_ms": 99}, "stronger evaluator a/l: threshold_ms"),
    (
        SHORT,
        {"max_total": 90, "max_input": 11},
        "stronger evaluator a/t: max_total; weaker evaluator a/t: max_input",
    ),
    (SHORT, {"max_total": None}, "weaker evaluator a/t: max_total"),
    (SHORT, {"max_input": 9}, "stronger evaluator a/t: max_input"),
    (SHORT, {"max_total": 101}, "weaker evaluator a/t: max_total"),
    (BRIEF, {"max_output": None}, "weaker evaluator a/t: max_output"),
    (SHORT, {"max_output": 9}, "stronger evaluator a/t: max_output"),
    (CHEAP, {"budget_usd": 2}, "weaker evaluator a/$: budget_usd"),
    (FIELDS, {"fields": (FIELD, FIELD)}, "weaker evaluator a/f: fields"),
    (FIELDS, {"fields": HEAVY.fields}, "weaker evaluator a/f: fields"),
]


@pytest.mark.parametrize(("spec", "edit", "expected"), SETTINGS)
def test_settings(spec: EvaluatorSpec, edit: dict[str, Any], expected: str) -> None:
    assert told([spec], [replace(spec, **edit)]) == expected


@pytest.mark.parametrize(
    ("base", "head", "before", "after", "line"),
    [
        ([GATED], [replace(SCRIPT, name="r", span=span(7))], "rubric", "code_judge", 7),
        ([], [replace(SCRIPT, span=span(7))], "", "code_judge", 7),
        ([SCRIPT], [], "code_judge", "", 3),
        ([SHORT], [replace(SHORT, max_output=9, span=span(7))], "", "9", 7),
        ([FAST], [replace(FAST, threshold_ms=9)], "100", "9", 1),
    ],
    ids=["type", "added", "removed", "set", "edited"],
)
def test_values_and_lines(base: Specs, head: Specs, before: str, after: str, line: int) -> None:
    [change] = evaluator_changes(case(head), case(base))
    assert (change.before, change.after, change.line) == (before, after, line)


def case(specs: Specs) -> EvalCase:
    return build_case(id="a", evaluators=tuple(specs))


def evaluator_changes(now: EvalCase, then: EvalCase) -> list[GradingChange]:
    return list(changes_of(now, then, Config()))


def test_what_is_shown_of_another_type() -> None:
    rubrics = replace(GATED, type="llm_judge", name="j")
    [change] = evaluator_changes(case([JUDGE]), case([rubrics]))
    assert (change.before, change.after) == ("llm_judge with rubrics", "llm_judge")
