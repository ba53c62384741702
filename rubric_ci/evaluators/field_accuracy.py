"""The `field_accuracy` evaluator: fields of a JSON answer against the reference answer."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rubric_ci.errors import CannotMeasure
from rubric_ci.evaluators import code_blocks
from rubric_ci.evaluators.json_compare import difference, shortened
from rubric_ci.model.evals import JSON, DataPart, EvalCase
from rubric_ci.model.evaluators import FieldAccuracySpec, FieldSpec
from rubric_ci.model.results import Answer, Assessment, CriterionResult
from rubric_ci.model.scoring import weighted_mean

_STEP = re.compile(r"[^.\[\]]+")


@dataclass(frozen=True, slots=True)
class _Missing:
    """There is no value at a path."""


def field_accuracy(case: EvalCase, answer: Answer, spec: FieldAccuracySpec) -> Assessment:
    """Compare field by field; raises CannotMeasure without a reference value."""
    expected = _reference(case)
    given = _parsed(answer.text)
    results = [_compare(field, given, expected) for field in spec.fields]
    return Assessment(
        score=_score(spec, results),
        gated_by=tuple(result.id for result in results if result.gated),
        reasoning="the answer is not JSON" if isinstance(given, _Missing) else "",
        criteria=tuple(results),
    )


def _reference(case: EvalCase) -> JSON:
    for message in reversed(case.expected_messages):
        match message.parts:
            case (DataPart(data),):
                return data
            case ():
                continue
            case _:
                expected = _parsed(message.text)
                if isinstance(expected, _Missing):
                    raise CannotMeasure("the reference answer of the case is not JSON")
                return expected
    raise CannotMeasure("the case has no reference answer (`expected_messages`) to compare with")


def _parsed(text: str) -> JSON | _Missing:
    """Read JSON, bare or in a fenced block."""
    for candidate in (text, code_blocks.extract(text).text):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    return _Missing()


def _compare(field: FieldSpec, given: JSON | _Missing, expected: JSON) -> CriterionResult:
    expected_value, got = _at(expected, field.path), _at(given, field.path)
    if isinstance(expected_value, _Missing):
        raise CannotMeasure(f"the reference answer has no `{field.path}` to compare with")
    if isinstance(got, _Missing):
        reason = f"missing; expected {shortened(expected_value)}"
    else:
        reason = difference(field, got, expected_value)
    return CriterionResult(
        id=field.path,
        kind="checklist",
        line=field.span.line,
        text=f"`{field.path}` is {shortened(expected_value)}",
        weight=field.weight,
        mark=not reason,
        normalised=0.0 if reason else 1.0,
        gated=field.required and bool(reason),
        gate="required" if field.required else "",
        reasoning=reason,
    )


def _at(value: JSON | _Missing, path: str) -> JSON | _Missing:
    for step in _STEP.findall(path):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _Missing()
    return value


def _score(spec: FieldAccuracySpec, results: Sequence[CriterionResult]) -> float:
    if not any(result.weight for result in results):
        raise CannotMeasure("every field has weight 0; set a weight above 0 for at least one")
    if spec.aggregation == "all_or_nothing":
        return 1.0 if all(result.mark for result in results) else 0.0
    return weighted_mean((result.weight, result.normalised) for result in results)
