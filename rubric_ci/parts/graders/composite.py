"""The `composite` evaluator: members, aggregated to one score, which may itself be a gate.

A missed gate of a member with a weight is a missed gate of the composite, at any score.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, assert_never

from rubric_ci.errors import NoVerdict
from rubric_ci.evaluators import code_judge
from rubric_ci.evaluators.evaluate import evaluate
from rubric_ci.evaluators.kind import RESULTS_VARIABLE, Written
from rubric_ci.evaluators.llm_judge import llm_judge, prompt_of
from rubric_ci.evaluators.rubric import for_judges
from rubric_ci.evaluators.scripts import payload
from rubric_ci.system import coroutines
from rubric_ci.system.output_and_masking import redacted
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvalCase,
    LlmJudgeSpec,
    WeightedAverage,
)
from rubric_ci.values.json_value import JSON
from rubric_ci.values.results import (
    Answer,
    Assessed,
    Assessment,
    CriterionResult,
    EvaluatorResult,
    Unassessed,
    weighed,
)
from rubric_ci.values.scoring import ASSERTION, DECIMALS, total_points, weighted_mean
from rubric_ci.values.usage import NOTHING_USED, Usage
from rubric_ci.values.written_keys import read_keys

_PROMPT = """\
Several evaluators have looked at one answer. Decide what the answer is worth as a whole.

{{ question }}

{{ expected_outcome }}

{{ answer }}

{{ EVALUATOR_RESULTS_JSON }}"""
_HIDDEN = frozenset({"outcome", "usage", "line", "warnings", "marks", "cached_marks"})


def read_composite(written: Written) -> CompositeSpec:
    """Return the spec of a composite, whose members were read before."""
    return read_keys(
        CompositeSpec,
        written.data,
        evaluators=written.members,
        aggregator=_aggregator(written),
        required_min_score=round(float(written.data.get("required_min_score", 0.0)), DECIMALS),
        span=written.span("name"),
    )


def _aggregator(written: Written) -> WeightedAverage | CodeJudgeSpec | LlmJudgeSpec:
    name, given = written.data["name"], written.data.get("aggregator")
    settings: dict[str, Any] = given if isinstance(given, dict) else {}
    match settings.get("type"):
        case "code_judge":
            data = {**settings, "name": name, "script": settings["path"]}
            del data["path"]
            spec = code_judge.read_code_judge(written._replace(data=data))
            return replace(spec, span=written.span("aggregator"))
        case "llm_judge":
            text, file = prompt_of(settings.get("prompt", ""), written.files)
            own: Any = {"name": name, "prompt": text, "prompt_path": file}
            return read_keys(LlmJudgeSpec, settings, **own, span=written.span("aggregator"))
        case _:
            return read_keys(WeightedAverage, settings)


async def composite(
    case: EvalCase, answer: Answer, spec: CompositeSpec, context: RunContext
) -> Assessment:
    """Let every member assess the answer, then aggregate; raises NoVerdict if one has no score."""
    found = await coroutines.gather_all(
        evaluate(case, answer, member, context) for member in spec.evaluators
    )
    members = [replace(member, weight=_weight(spec, member)) for member in found]
    spent = sum((member.usage for member in members), NOTHING_USED)
    counted = _counted(members, spent)
    assessed = [member for member in members if isinstance(member, Assessed)]
    try:
        whole = await _aggregate(case, answer, spec, context, members)
    except NoVerdict as error:
        raise error.with_usage(spent + error.usage) from error
    judges = [*(member.judge for member in members), whole.judge]
    criteria = (*_criteria(counted), *_own_gate(spec, whole.score))
    return replace(
        whole,
        gated_by=tuple(each.id for each in criteria if each.gated),
        criteria=criteria,
        judge=", ".join(dict.fromkeys(name for name in judges if name)),
        marks=whole.marks + sum(member.marks for member in assessed),
        cached_marks=whole.cached_marks + sum(member.cached_marks for member in assessed),
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
        raise NoVerdict("every member has weight 0; set a weight above 0 for at least one", spent)
    return counted


async def _aggregate(
    case: EvalCase,
    answer: Answer,
    spec: CompositeSpec,
    context: RunContext,
    members: Sequence[EvaluatorResult],
) -> Assessment:
    match spec.aggregator:
        case WeightedAverage():
            return _mean(members)
        case CodeJudgeSpec() as judge:
            return await _by_script(case, answer, judge, context, _results(members))
        case LlmJudgeSpec() as judge:
            return await _by_judge(case, answer, judge, context, _results(members))
        case _:
            assert_never(spec.aggregator)


def _mean(members: Sequence[EvaluatorResult]) -> Assessment:
    assessed = [member for member in members if isinstance(member, Assessed)]
    counted = [(m, f"{m.name}: {m.score:g}, {m.verdict}") for m in assessed if m.weight > 0]
    return Assessment(
        score=weighted_mean((member.weight, member.score) for member, _ in counted),
        hits=tuple(text for member, text in counted if member.verdict == "pass"),
        misses=tuple(text for member, text in counted if member.verdict != "pass"),
        details={"members": _results(members)},
    )


async def _by_script(
    case: EvalCase, answer: Answer, judge: CodeJudgeSpec, context: RunContext, results: JSON
) -> Assessment:
    script_input = {**payload(case, answer, judge.config, context.root), "results": results}
    finished = await code_judge.run_script(judge, script_input, answer, context)
    found = code_judge.read_score(finished, judge)
    details = {"members": results, "script": found.details}
    return replace(found, score=round(found.score, DECIMALS), details=details)


async def _by_judge(
    case: EvalCase, answer: Answer, judge: LlmJudgeSpec, context: RunContext, results: JSON
) -> Assessment:
    spec = judge if judge.prompt else replace(judge, prompt=_PROMPT)
    variables = {RESULTS_VARIABLE: json.dumps(results, ensure_ascii=False, indent=2)}
    found = await llm_judge(case, for_judges(answer), spec, context, redacted(variables))
    assert isinstance(found, Assessment)  # noqa: S101 - a run sends its requests
    return replace(found, details={"members": results})


def _results(members: Sequence[EvaluatorResult]) -> Mapping[str, JSON]:
    """Return the members' results by name, as scripts and judges receive them."""
    return {
        member.name: {k: v for k, v in asdict(member).items() if k not in _HIDDEN}
        for member in members
    }


def _criteria(counted: Sequence[Assessed]) -> Iterator[CriterionResult]:
    """Yield the members' criteria as `member/criterion`, with their share of its weight."""
    for member in counted:
        total = total_points(weighed(member.criteria)) or 1.0
        for each in member.criteria:
            share = round(member.weight * each.weight / total, DECIMALS)
            points = round(member.weight * each.points / total, DECIMALS)
            yield replace(each, id=f"{member.name}/{each.id}", weight=share, points=points)


def _own_gate(spec: CompositeSpec, score: float) -> Iterator[CriterionResult]:
    """Yield the gate of the composite as a check of weight 0."""
    minimum = spec.required_min_score
    if not minimum:
        return
    met = score >= minimum
    text = f"The score is at least {minimum:g}"
    yield CriterionResult(
        id="required_min_score",
        kind=ASSERTION,
        text=text,
        line=spec.span.line,
        weight=0.0,
        mark=met,
        normalised=float(met),
        gate="required",
        gated=not met,
        reasoning=f"{text}: it is {score:g}",
    )
