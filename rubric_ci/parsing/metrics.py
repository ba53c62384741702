"""Checked evaluators that measure and compare to specs."""

from collections.abc import Iterator
from typing import Any

from rubric_ci.model.diagnostics import Span
from rubric_ci.model.evaluators import (
    CostSpec,
    ExpectedCall,
    FieldAccuracySpec,
    FieldSpec,
    LatencySpec,
    MeasuringSpec,
    TokenUsageSpec,
    ToolTrajectorySpec,
)
from rubric_ci.parsing.file_references import UsedFiles
from rubric_ci.validation.agentv import is_agentv_file
from rubric_ci.yaml_text.problems import Path
from rubric_ci.yaml_text.source import Source


def measuring_spec(
    source: Source, evaluator: dict[str, Any], path: Path, files: UsedFiles
) -> MeasuringSpec:
    """Return the spec of an evaluator; the schema allows no other types."""
    name, weight = evaluator["name"], float(evaluator.get("weight", 1.0))
    span = Span(*source.locate((*path, "name")))
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
        case "field_accuracy":
            return FieldAccuracySpec(
                name=name,
                weight=weight,
                aggregation=evaluator.get("aggregation", "weighted_average"),
                fields=tuple(_fields(source, evaluator["fields"], (*path, "fields"), files)),
                span=span,
            )
        case _:
            return ToolTrajectorySpec(
                name=name,
                weight=weight,
                mode=evaluator["mode"],
                minimums=evaluator.get("minimums", {}),
                expected=tuple(_call(call) for call in evaluator.get("expected", ())),
                span=span,
            )


def _fields(source: Source, fields: Any, path: Path, files: UsedFiles) -> Iterator[FieldSpec]:
    of_agentv = is_agentv_file(source.data, files.lookup)
    for index, field in enumerate(fields):
        yield _field(field, Span(*source.locate((*path, index))), of_agentv)


def _field(field: dict[str, Any], span: Span, of_agentv: bool) -> FieldSpec:
    required = field.get("required")
    return FieldSpec(
        path=field["path"],
        match=field["match"],
        weight=float(field.get("weight", 1.0)),
        required=required is True and not of_agentv,
        optional=required is False,
        may_lack_reference=required is False or of_agentv,
        tolerance=float(field.get("tolerance", 0.0)),
        relative=field.get("relative", False),
        formats=tuple(field.get("formats", ())),
        span=span,
    )


def _call(call: dict[str, Any]) -> ExpectedCall:
    args = call.get("args", "any")
    return ExpectedCall(
        tool=call["tool"],
        args=None if args == "any" else args,
        max_duration_ms=call.get("max_duration_ms"),
    )
