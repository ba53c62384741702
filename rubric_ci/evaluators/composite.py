"""Several evaluators whose results become one: by their weighted mean, a script or a judge.

A gate that is missed inside a member that counts is missed, whatever the aggregator says.
"""

import json
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias, assert_never

from rubric_ci.errors import NoVerdict
from rubric_ci.evaluators import code_judge, script_output
from rubric_ci.evaluators.llm_judge import ask_opinion
from rubric_ci.evaluators.rubric import chosen_judge
from rubric_ci.evaluators.script_input import payload
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import (
    JSON,
    CodeJudgeSpec,
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
    WeightedAverage,
)
from rubric_ci.model.llm_calls import NOTHING_USED, Usage
from rubric_ci.model.results import Answer, Assessed, CriterionResult, EvaluatorResult, Unassessed
from rubric_ci.model.scoring import DECIMALS, verdict, weighted_mean
from rubric_ci.system import task_groups

Evaluate: TypeAlias = Callable[
    [EvalCase, Answer, EvaluatorSpec, RunContext], Coroutine[Any, Any, EvaluatorResult]
]

_RESULTS = "EVALUATOR_RESULTS_JSON"
_QUESTION = """\
Several evaluators have looked at one answer. Decide what the answer is worth as a whole.

{{ question }}

{{ expected_outcome }}

{{ answer }}

{{ EVALUATOR_RESULTS_JSON }}"""
_HIDDEN = frozenset({"outcome", "usage", "line", "warnings", "marks", "cached_marks"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """What an aggregator makes of the members."""

    score: float
    reasoning: str = ""
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    details: JSON = None
    warnings: tuple[str, ...] = ()
    judge: str = ""
    marks: int = 0
    cached_marks: int = 0
    usage: Usage = NOTHING_USED


async def composite(
    case: EvalCase, answer: Answer, spec: CompositeSpec, context: RunContext, evaluate: Evaluate
) -> Assessed:
    """Let every member assess the answer, then aggregate; a counted one without score is fatal."""
    found = await task_groups.gather_all(
        evaluate(case, answer, member, context) for member in spec.evaluators
    )
    members = [replace(member, weight=_weight(spec, member)) for member in found]
    spent = sum((member.usage for member in members), NOTHING_USED)
    counted = _counted(members, spent)
    assessed = [member for member in members if isinstance(member, Assessed)]
    whole = await _aggregate(case, answer, spec, context, members)
    judges = [*(member.judge for member in members), whole.judge]
    gated_by = tuple(f"{m.name}/{gate}" for m in counted for gate in m.gated_by)
    return Assessed(
        name=spec.name,
        type=spec.type,
        weight=spec.weight,
        line=spec.span.line,
        score=whole.score,
        verdict=verdict(whole.score, gated_by, context.thresholds).value,
        gated_by=gated_by,
        reasoning=whole.reasoning,
        criteria=tuple(_criteria(counted)),
        hits=whole.hits,
        misses=whole.misses,
        details=whole.details,
        judge=", ".join(dict.fromkeys(name for name in judges if name)),
        marks=whole.marks + sum(m.marks for m in assessed),
        cached_marks=whole.cached_marks + sum(m.cached_marks for m in assessed),
        warnings=(*whole.warnings, *(f"{m.name}: {w}" for m in counted for w in m.warnings)),
        usage=spent + whole.usage,
    )


def _weight(spec: CompositeSpec, member: EvaluatorResult) -> float:
    weights = spec.aggregator.weights if isinstance(spec.aggregator, WeightedAverage) else {}
    return weights.get(member.name, member.weight)


def _counted(members: Sequence[EvaluatorResult], spent: Usage) -> list[Assessed]:
    for member in members:
        if isinstance(member, Unassessed) and member.weight > 0:
            raise NoVerdict(f"{member.name}: {member.reason}", spent)
    counted = [m for m in members if isinstance(m, Assessed) and m.weight > 0]
    if not counted:
        raise NoVerdict("every member has weight 0, so none decides; give one a weight", spent)
    return counted


async def _aggregate(
    case: EvalCase,
    answer: Answer,
    spec: CompositeSpec,
    context: RunContext,
    members: Sequence[EvaluatorResult],
) -> _Whole:
    match spec.aggregator:
        case WeightedAverage():
            return _mean(members)
        case CodeJudgeSpec() as judge:
            return await _by_script(case, answer, judge, context, _results(members))
        case LlmJudgeSpec() as judge:
            return await _by_judge(case, answer, judge, context, _results(members))
        case _:
            assert_never(spec.aggregator)


def _mean(members: Sequence[EvaluatorResult]) -> _Whole:
    assessed = [member for member in members if isinstance(member, Assessed)]
    told = [(m, f"{m.name}: {m.score:g}, {m.verdict}") for m in assessed if m.weight > 0]
    return _Whole(
        score=weighted_mean((member.weight, member.score) for member, _ in told),
        hits=tuple(text for member, text in told if member.verdict == "pass"),
        misses=tuple(text for member, text in told if member.verdict != "pass"),
        details={"members": _results(members)},
    )


async def _by_script(
    case: EvalCase, answer: Answer, judge: CodeJudgeSpec, context: RunContext, results: JSON
) -> _Whole:
    asked = {**payload(case, answer, judge.config, context.root), "results": results}
    mark = script_output.read(await code_judge.run_script(judge, asked, answer.text, context))
    return _Whole(
        score=round(mark.score, DECIMALS),
        reasoning=mark.reasoning,
        hits=mark.hits,
        misses=mark.misses,
        details={"members": results, "script": mark.details},
        warnings=mark.warnings,
    )


async def _by_judge(
    case: EvalCase, answer: Answer, judge: LlmJudgeSpec, context: RunContext, results: JSON
) -> _Whole:
    asking = judge if judge.prompt else replace(judge, prompt=_QUESTION)
    more = {_RESULTS: json.dumps(results, ensure_ascii=False, indent=2)}
    heard = await ask_opinion(case, answer, asking, context, more)
    return _Whole(
        score=round(heard.value.score, DECIMALS),
        reasoning=heard.value.reasoning,
        hits=heard.value.hits,
        misses=heard.value.misses,
        details={"members": results},
        judge=chosen_judge(context, judge.model).endpoint.model,
        marks=1,
        cached_marks=heard.usage.cache_hits,
        usage=heard.usage,
    )


def _results(members: Sequence[EvaluatorResult]) -> Mapping[str, JSON]:
    """Return what each member found, by name, as scripts and judges read it."""
    return {
        member.name: {k: v for k, v in asdict(member).items() if k not in _HIDDEN}
        for member in members
    }


def _criteria(counted: Sequence[Assessed]) -> Iterator[CriterionResult]:
    """Name the members' criteria `member/criterion`; their weights are shares of the member's."""
    for member in counted:
        total = sum(criterion.weight for criterion in member.criteria)
        for criterion in member.criteria:
            share = round(member.weight * criterion.weight / total, DECIMALS)
            yield replace(criterion, id=f"{member.name}/{criterion.id}", weight=share)
