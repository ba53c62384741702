"""The `field_accuracy` evaluator: fields of a JSON answer against the reference answer."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

from rubric_ci.errors import CannotMeasure
from rubric_ci.evaluators.kind import Written, is_agentv_file
from rubric_ci.parts.graders.json_compare import FieldSpec, Show, difference, json_values, shortened
from rubric_ci.text.redact import Redactor
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, MeasuringSpec
from rubric_ci.values.json_value import JSON, Missing, value_at
from rubric_ci.values.messages import DataPart
from rubric_ci.values.results import Answer, Assessment, CriterionResult
from rubric_ci.values.scoring import CHECKLIST, weighted_mean
from rubric_ci.values.written_keys import Key, read_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAccuracySpec(MeasuringSpec):
    """Fields of a JSON answer are compared with the reference answer."""

    type: str = "field_accuracy"
    fields: Annotated[
        tuple[FieldSpec, ...],
        Key([{"path": "total", "match": "numeric_tolerance", "tolerance": 0.5}], minItems=1),
    ]
    """Fields to compare."""
    aggregation: Annotated[Literal["weighted_average", "all_or_nothing"], Key("all_or_nothing")] = (
        "weighted_average"
    )
    """Weighted mean of the fields, or 1 only if all of them match."""


def read_field_accuracy(written: Written) -> FieldAccuracySpec:
    of_agentv = is_agentv_file(written.source.data, written.files.lookup)
    fields = enumerate(written.data["fields"])
    specs = tuple(_field(each, written.span("fields", n), of_agentv) for n, each in fields)
    return read_keys(FieldAccuracySpec, written.data, span=written.span("name"), fields=specs)


def _field(field: dict[str, Any], span: Span, of_agentv: bool) -> FieldSpec:
    required = field.get("required")
    return read_keys(
        FieldSpec,
        field,
        required=required is True and not of_agentv,
        optional=required is False,
        may_lack_reference=required is False or of_agentv,
        span=span,
    )


def field_accuracy(
    case: EvalCase, answer: Answer, spec: FieldAccuracySpec, redact: Redactor
) -> Assessment:
    """Compare field by field; raises CannotMeasure without a reference value."""
    show = partial(shortened, redact=redact)
    expected = _reference(case)
    _check(spec, expected)
    found = json_values(answer.text, "[" if isinstance(expected, list) else "{")
    results = _results(spec, found[0], expected, show) if len(found) == 1 else []
    none_counts = not any(result.weight for result in results)
    if none_counts:
        results = [_missing(field, value_at(expected, field.path), show) for field in spec.fields]
    return Assessment(
        score=_score(spec, results),
        gated_by=tuple(result.id for result in results if result.gated),
        reasoning=_reasoning(len(found)) if none_counts else "",
        criteria=tuple(results),
    )


def _reasoning(found: int) -> str:
    match found:
        case 0:
            return "the answer is not JSON"
        case 1:
            return "the answer has none of the fields that count"
        case _:
            return f"the answer has {found} different JSON values, so none is compared"


def _reference(case: EvalCase) -> JSON:
    for message in reversed(case.expected_messages):
        match message.parts:
            case (DataPart(data),):
                return data
            case ():
                continue
            case _:
                found = json_values(message.text)
                if len(found) != 1:
                    problem = "has several JSON values" if found else "is not JSON"
                    raise CannotMeasure(f"the reference answer of the case {problem}")
                return found[0]
    raise CannotMeasure("the case has no reference answer (`expected_messages`) to compare with")


def _check(spec: FieldAccuracySpec, expected: JSON) -> None:
    if not any(field.weight for field in spec.fields):
        raise CannotMeasure("every field has weight 0; set a weight above 0 for at least one")
    lacking = [f for f in spec.fields if isinstance(value_at(expected, f.path), Missing)]
    for field in lacking:
        if not field.may_lack_reference:
            raise CannotMeasure(f"the reference answer has no `{field.path}` to compare with")
    if len(lacking) == len(spec.fields):
        raise CannotMeasure("the reference answer has none of the fields to compare with")


def _results(
    spec: FieldAccuracySpec, given: JSON, expected: JSON, show: Show
) -> list[CriterionResult]:
    return [_compare(field, given, expected, show) for field in spec.fields]


def _compare(field: FieldSpec, given: JSON, expected: JSON, show: Show) -> CriterionResult:
    expected_value, got = value_at(expected, field.path), value_at(given, field.path)
    if isinstance(expected_value, Missing):
        text = f"`{field.path}` is not in the reference answer"
        return _result(field, text, "", note="not compared")
    if not isinstance(got, Missing):
        reason = difference(field, got, expected_value, show)
        return _result(field, f"`{field.path}` is {show(expected_value)}", reason)
    if field.optional:
        text = f"`{field.path}` is {show(expected_value)}, or missing"
        return replace(_result(field, text, "", note="missing, so it is not counted"), weight=0.0)
    return _missing(field, expected_value, show)


def _missing(field: FieldSpec, expected: JSON | Missing, show: Show) -> CriterionResult:
    value = "in the answer" if isinstance(expected, Missing) else show(expected)
    return _result(field, f"`{field.path}` is {value}", f"missing; expected {value}")


def _result(field: FieldSpec, text: str, reason: str, note: str = "") -> CriterionResult:
    """Return a field that differs for a reason, or one that does not."""
    return CriterionResult(
        id=field.path,
        kind=CHECKLIST,
        line=field.span.line,
        text=text,
        weight=field.weight,
        mark=not reason,
        normalised=0.0 if reason else 1.0,
        gated=field.required and bool(reason),
        gate="required" if field.required else "",
        reasoning=reason or note,
    )


def _score(spec: FieldAccuracySpec, results: Sequence[CriterionResult]) -> float:
    if spec.aggregation == "all_or_nothing":
        return 1.0 if all(result.mark for result in results) else 0.0
    return weighted_mean((result.weight, result.normalised) for result in results)
