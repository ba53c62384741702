"""Fields of a JSON answer, compared with those of the reference answer."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rubric_ci.errors import CannotMeasure
from rubric_ci.evaluators import code_blocks
from rubric_ci.evaluators.json_compare import disagreement
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import JSON, DataPart, EvalCase
from rubric_ci.model.evaluators import FieldAccuracySpec, FieldSpec
from rubric_ci.model.results import Answer, Assessed, CriterionResult
from rubric_ci.model.scoring import verdict, weighted_mean
from rubric_ci.system.masking import redact

_STEP = re.compile(r"[^.\[\]]+")
_SHOWN = 120


@dataclass(frozen=True, slots=True)
class _Missing:
    """Nothing stands at a path."""


def field_accuracy(
    case: EvalCase, answer: Answer, spec: FieldAccuracySpec, context: RunContext
) -> Assessed:
    """Compare field by field; raises CannotMeasure where there is nothing to compare with."""
    expected = _reference(case)
    given = _parsed(answer.text)
    results = [_compare(field, given, expected) for field in spec.fields]
    gated_by = tuple(result.id for result in results if result.gated)
    score = _score(spec, results)
    return Assessed(
        name=spec.name,
        type=spec.type,
        weight=spec.weight,
        line=spec.span.line,
        score=score,
        verdict=verdict(score, gated_by, context.thresholds).value,
        gated_by=gated_by,
        reasoning="the answer is no JSON" if isinstance(given, _Missing) else "",
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
                    raise CannotMeasure("the reference answer of the case is no JSON")
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
    wanted, got = _at(expected, field.path), _at(given, field.path)
    if isinstance(wanted, _Missing):
        raise CannotMeasure(f"the reference answer has no `{field.path}` to compare with")
    if isinstance(got, _Missing):
        reason = f"missing; expected {_shown(wanted)}"
    else:
        reason = disagreement(field, got, wanted)
    return CriterionResult(
        id=field.path,
        kind="checklist",
        line=field.span.line,
        text=f"`{field.path}` is {_shown(wanted)}",
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
        raise CannotMeasure("every field has weight 0, so none decides")
    if spec.aggregation == "all_or_nothing":
        return 1.0 if all(result.mark for result in results) else 0.0
    return weighted_mean((result.weight, result.normalised) for result in results)


def _shown(value: JSON) -> str:
    text = redact(json.dumps(value, ensure_ascii=False))  # before it is cut
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
