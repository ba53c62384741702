"""Evaluators that measure and compare, as written, to their specs."""

from typing import Any

from rubric_ci.model.diagnostic import Span
from rubric_ci.model.evals import EvaluatorSpec
from rubric_ci.model.specs import CostSpec, LatencySpec, TokenUsageSpec


def measuring_spec(evaluator: dict[str, Any], span: Span) -> EvaluatorSpec | None:
    """Return the spec, or None where the evaluator is of another type."""
    name, weight = evaluator["name"], float(evaluator.get("weight", 1.0))
    match evaluator["type"]:
        case "latency":
            threshold = float(evaluator["threshold"])
            return LatencySpec(name=name, weight=weight, threshold_ms=threshold, span=span)
        case "cost":
            budget = float(evaluator["budget"])
            return CostSpec(name=name, weight=weight, budget_usd=budget, span=span)
        case "token_usage":
            return TokenUsageSpec(
                name=name,
                weight=weight,
                max_total=evaluator.get("max_total", evaluator.get("maxTotal")),
                max_input=evaluator.get("max_input", evaluator.get("maxInput")),
                max_output=evaluator.get("max_output", evaluator.get("maxOutput")),
                span=span,
            )
        case _:
            return None
