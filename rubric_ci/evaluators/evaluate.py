"""Let an evaluator assess an answer: a score and a verdict, or the reason why there is none."""

from dataclasses import fields, replace
from typing import Any, Final

from rubric_ci.errors import NoVerdict
from rubric_ci.evaluators.judge_choice import judge_model
from rubric_ci.evaluators.table import KINDS
from rubric_ci.system.coroutines import worked_on
from rubric_ci.system.output_and_masking import redactor
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase, EvaluatorSpec
from rubric_ci.values.results import Answer, Assessed, Assessment, EvaluatorResult, Unassessed
from rubric_ci.values.scoring import Thresholds, verdict
from rubric_ci.values.usage import NOTHING_USED, Usage

_FOUND: Final = [field.name for field in fields(Assessment)]


async def evaluate(
    case: EvalCase, answer: Answer, spec: EvaluatorSpec, context: RunContext
) -> EvaluatorResult:
    """Return the score and the verdict of one evaluator, or the reason why it has none."""
    try:
        found = await _assess(case, answer, spec, context)
    except NoVerdict as error:
        judge = judge_model(spec, context.judge)
        return unassessed(spec, str(error), judge=judge, usage=error.usage)
    return assessed(spec, found, context.thresholds)


async def _assess(
    case: EvalCase, answer: Answer, spec: EvaluatorSpec, context: RunContext
) -> Assessment:
    """Return the assessment that the estimate found in the cache, or assess by the type's row."""
    if found := context.prepared.take(case, spec, context.trial, answer):
        return found
    kind = KINDS[spec.type]
    if kind.assess:
        assessed = await kind.assess(case, answer, spec, context)
        assert isinstance(assessed, Assessment)  # noqa: S101 - a run sends its requests
        return assessed
    assert kind.measure  # noqa: S101 - each row has one of both
    answer = replace(answer, text=answer.said) if answer.media else answer
    return await worked_on(len(answer.text), kind.measure, case, answer, spec, redactor())


def assessed(spec: EvaluatorSpec, found: Assessment, thresholds: Thresholds) -> Assessed:
    return Assessed(
        **_written(spec),
        verdict=verdict(found.score, found.gated_by, thresholds),
        **{name: getattr(found, name) for name in _FOUND},
    )


def unassessed(
    spec: EvaluatorSpec, reason: str, *, judge: str = "", usage: Usage = NOTHING_USED
) -> Unassessed:
    return Unassessed(**_written(spec), reason=reason, judge=judge, usage=usage)


def _written(spec: EvaluatorSpec) -> dict[str, Any]:
    return {"name": spec.name, "type": spec.type, "weight": spec.weight, "line": spec.span.line}
