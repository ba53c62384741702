"""Evaluators that measure and compare, from YAML to their specs."""

from collections.abc import Callable
from functools import partial
from textwrap import dedent, indent

import pytest

from rubric_ci.files.project.loader import load
from rubric_ci.parts.graders.field_accuracy import FieldAccuracySpec, FieldSpec
from rubric_ci.parts.graders.tool_trajectory import ExpectedCall, ToolTrajectorySpec
from rubric_ci.parts.graders.usage_limits import CostSpec, LatencySpec, TokenUsageSpec
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvaluatorSpec,
    WeightedAverage,
    every_evaluator,
)
from rubric_ci.values.references import Found, NotFound

REFERENCE = "{supplier: {name: Acme}, total: 3, due: 03.04.2025}"


def evaluator(text: str) -> EvaluatorSpec:
    head = "evalcases:\n- id: a\n  input: q\n  evaluators:\n  - name: e\n"
    written = head + indent(dedent(text), "    ") + f"\n  expected_output: {REFERENCE}\n"
    loaded = load("evals/a.yaml", written, lambda _: NotFound("no"))
    assert loaded.diagnostics == ()
    assert loaded.eval_file is not None
    (spec,) = loaded.eval_file.cases[0].evaluators
    return spec


FIELDS = """\
    type: field_accuracy
    fields:
      - {path: supplier.name, match: exact, required: true, weight: 2}
      - {path: total, match: numeric_tolerance, tolerance: 1, relative: true}
      - {path: due, match: date, formats: [DD.MM.YYYY]}
"""
CALLS = """\
    type: tool_trajectory
    mode: in_order
    expected:
      - {tool: search, args: {q: 1}, max_duration_ms: 20}
      - {tool: answer, args: any}
      - tool: end
"""
EXPECTED = (
    ExpectedCall(tool="search", args={"q": 1}, max_duration_ms=20),
    ExpectedCall(tool="answer"),
    ExpectedCall(tool="end"),
)
SPECS: dict[str, tuple[str, Callable[..., EvaluatorSpec]]] = {
    "latency": (
        "type: latency\nthreshold: 2000\nweight: 0.5",
        partial(LatencySpec, weight=0.5, threshold_ms=2000.0),
    ),
    "cost": ("type: cost\nbudget: 0.1", partial(CostSpec, budget_usd=0.1)),
    "token usage": ("type: token_usage\nmax_total: 9", partial(TokenUsageSpec, max_total=9)),
    "token usage in the older spelling": (
        "type: token_usage\nmaxInput: 9\nmaxOutput: 4",
        partial(TokenUsageSpec, max_input=9, max_output=4),
    ),
    "calls in order": (CALLS, partial(ToolTrajectorySpec, mode="in_order", expected=EXPECTED)),
    "calls in any order": (
        "type: tool_trajectory\nmode: any_order\nminimums: {search: 2}",
        partial(ToolTrajectorySpec, mode="any_order", minimums={"search": 2}),
    ),
}


@pytest.mark.parametrize(("text", "expected"), SPECS.values(), ids=SPECS)
def test_specs(text: str, expected: Callable[..., EvaluatorSpec]) -> None:
    found = evaluator(text)
    assert found == expected(name="e", span=found.span)
    assert found.span.line == 5


def test_fields() -> None:
    found = evaluator(FIELDS)
    assert isinstance(found, FieldAccuracySpec)
    name, total, due = found.fields
    assert [field.span.line for field in found.fields] == [8, 9, 10]
    assert name == FieldSpec(
        path="supplier.name", match="exact", required=True, weight=2.0, span=name.span
    )
    assert total == FieldSpec(
        path="total", match="numeric_tolerance", tolerance=1.0, relative=True, span=total.span
    )
    assert due == FieldSpec(path="due", match="date", formats=("DD.MM.YYYY",), span=due.span)
    assert found == FieldAccuracySpec(name="e", fields=found.fields, span=found.span)


REQUIRED = """\
{head}evalcases:
- id: a
  input: q
  expected_output: {{a: 1, b: 1, c: 1}}
  evaluators:
  - name: e
    type: field_accuracy
    fields:
    - {{path: a, match: exact, required: true}}
    - {{path: b, match: exact}}
    - {{path: c, match: exact, required: false}}
"""
OWN = [(True, False, False), (False, False, False), (False, True, True)]
AGENTV = [(False, False, True), (False, False, True), (False, True, True)]


@pytest.mark.parametrize(
    ("head", "folder", "expected"),
    [
        pytest.param("", "", OWN, id="own"),
        pytest.param("$schema: agentv-eval-v2\n", "", AGENTV, id="schema"),
        pytest.param("", ".agentv/targets.yaml", AGENTV, id="targets-of-agentv"),
        pytest.param("", ".agentv/config.yaml", AGENTV, id="config-of-agentv"),
        pytest.param("$schema: eval.schema.json\n", ".agentv/targets.yaml", OWN, id="own-schema"),
    ],
)
def test_required_fields(head: str, folder: str, expected: list[tuple[bool, ...]]) -> None:
    def lookup(name: str) -> Found | NotFound:
        return Found(name, "") if name == folder else NotFound("no such file")

    loaded = load("evals/a.yaml", REQUIRED.format(head=head), lookup)
    assert loaded.eval_file is not None
    (spec,) = loaded.eval_file.cases[0].evaluators
    assert isinstance(spec, FieldAccuracySpec)
    assert [(f.required, f.optional, f.may_lack_reference) for f in spec.fields] == expected


def test_a_composite_of_all_kinds() -> None:
    read = evaluator("""\
        type: composite
        weight: 2
        evaluators:
          - {name: fast, type: latency, threshold: 1}
          - name: inner
            type: composite
            evaluators: [{name: cheap, type: cost, budget: 1}]
            aggregator: {type: code_judge, path: python gate.py, cwd: ../tools}
        aggregator: {type: weighted_average, weights: {fast: 0.3, inner: 7}}
    """)
    assert isinstance(read, CompositeSpec)
    assert (read.name, read.weight) == ("e", 2.0)
    assert read.aggregator == WeightedAverage(weights={"fast": 0.3, "inner": 7.0})
    fast, inner = read.evaluators
    assert isinstance(fast, LatencySpec)
    assert isinstance(inner, CompositeSpec)
    assert isinstance(inner.aggregator, CodeJudgeSpec)
    assert (inner.aggregator.script, inner.aggregator.cwd) == ("python gate.py", "tools")
    assert inner.aggregator.config == {}
    assert [spec.name for spec in every_evaluator([read])] == [
        "e",
        "fast",
        "inner",
        "cheap",
        "inner",
    ]
