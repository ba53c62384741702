"""Evaluators that measure and compare, from YAML to their specs."""

from dataclasses import replace
from textwrap import dedent, indent

import pytest

from rubric_ci.model.evals import EvaluatorSpec
from rubric_ci.model.references import NotFound
from rubric_ci.model.specs import CostSpec, LatencySpec, TokenUsageSpec
from rubric_ci.source.load import load
from tests.cases import span


def evaluator(text: str) -> EvaluatorSpec:
    head = "evalcases:\n- id: a\n  input: q\n  evaluators:\n  - name: e\n"
    written = head + indent(dedent(text), "    ")
    loaded = load("evals/a.yaml", written, lambda _: NotFound("no"))
    assert loaded.diagnostics == ()
    assert loaded.eval_file is not None
    (spec,) = loaded.eval_file.cases[0].evaluators
    return spec


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        pytest.param(
            "type: latency\nthreshold: 2000\nweight: 0.5",
            LatencySpec(name="e", weight=0.5, threshold_ms=2000.0, span=span()),
            id="latency",
        ),
        pytest.param(
            "type: cost\nbudget: 0.1", CostSpec(name="e", budget_usd=0.1, span=span()), id="cost"
        ),
        pytest.param(
            "type: token_usage\nmax_total: 9",
            TokenUsageSpec(name="e", max_total=9, span=span()),
            id="token-usage",
        ),
        pytest.param(
            "type: token_usage\nmaxInput: 9\nmaxOutput: 4",
            TokenUsageSpec(name="e", max_input=9, max_output=4, span=span()),
            id="token-usage-in-the-older-spelling",
        ),
    ],
)
def test_specs(text: str, spec: EvaluatorSpec) -> None:
    read = evaluator(text)
    assert replace(read, span=spec.span) == spec
    assert read.span.line == 5
