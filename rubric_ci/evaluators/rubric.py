"""The `rubric` evaluator: assertions are checked, a judge marks the rest in one request."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.assertions.mark import Did, assertion_marks
from rubric_ci.evaluators.judge_choice import judge_of
from rubric_ci.judge.evidence import missing_quotes, sources
from rubric_ci.judge.injection_scan import scan_for_injection
from rubric_ci.judge.judges import decide
from rubric_ci.judge.panel import PanelRequest, PanelResult
from rubric_ci.judge.seen import ISOLATED, Part, marked, parts_of
from rubric_ci.judge.voting import flakiness
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.mark_value import MarkValue
from rubric_ci.model.results import Answer, Assessment, CriterionResult
from rubric_ci.model.rubric import (
    Assertion,
    Check,
    Criterion,
    Judgement,
    Levelled,
    Mark,
    Scored,
    met,
    scale,
)
from rubric_ci.model.scoring import score
from rubric_ci.model.trace import steps_of
from rubric_ci.system.masking import redact
from rubric_ci.system.text_work import worked_on

_NO_VOTES: Final[Mapping[str, tuple[MarkValue, ...]]] = {}


async def rubric(
    case: EvalCase, answer: Answer, spec: RubricSpec, context: RunContext
) -> Assessment:
    """Check, request the judge's marks and weigh all; raises NoVerdict if it gives none."""
    given = marked(case, answer, spec.turn)
    case, answer = given.case, given.answer
    did = Did(
        steps=steps_of(answer.messages) if answer.messages else None,
        checks=answer.work.checks if answer.work else None,
    )
    checked = given.checked
    known = await worked_on(len(checked), assertion_marks, spec.rubric, checked, did)
    if not spec.rubric.judged:
        return replace(_assessment(spec, Judgement(known), context), warnings=given.warnings)
    judge = judge_of(spec, context.judge)
    seen = tuple(_redacted(part) for part in (*given.parts, *parts_of(answer, spec.sees)))
    if sum(len(part.text) for part in seen) > ISOLATED:
        judge = replace(judge, mode="isolated")
    answer = for_judges(answer)
    request = PanelRequest(
        case=case,
        answer=answer.text,
        seen=seen,
        rubric=spec.rubric,
        judge=judge,
        context=context,
        known=known,
        about=f"{case.file}: {case.id}: {spec.name}",
    )
    result = await decide(request)
    whole = _assessment(spec, result.judgement, context, result)
    warnings = await worked_on(len(request.material), _warnings, request, spec, result)
    return replace(
        await worked_on(len(request.material), _with_sources, whole, request, result),
        warnings=(*given.warnings, *warnings),
        judge=result.judge or judge.name,
        marks=len(spec.rubric.judged),
        cached_marks=len(result.cached),
        usage=result.usage,
    )


def for_judges(answer: Answer) -> Answer:
    """Return the answer as it may leave the machine: without the secrets of this process."""
    text = redact(answer.text)
    return answer if text == answer.text else replace(answer, text=text)


def _assessment(
    spec: RubricSpec,
    judgement: Judgement,
    context: RunContext,
    marked: PanelResult | None = None,
) -> Assessment:
    votes, judges = (marked.votes, marked.judges) if marked else (_NO_VOTES, ())
    result = score(spec.rubric, judgement, context.thresholds)
    return Assessment(
        score=result.value,
        gated_by=result.gated_by,
        reasoning=judgement.reasoning,
        criteria=tuple(
            _criterion_result(c, judgement[c.id], votes.get(c.id, ()), judges) for c in spec.rubric
        ),
    )


def _criterion_result(
    criterion: Criterion,
    mark: Mark,
    votes: tuple[MarkValue, ...] = (),
    judges: tuple[str, ...] = (),
) -> CriterionResult:
    return CriterionResult(
        id=criterion.id,
        kind=criterion.kind,
        line=criterion.span.line,
        text=_one_line(criterion),
        weight=criterion.weight,
        mark=mark.value,
        normalised=criterion.normalise(mark),
        gated=criterion.gates(mark),
        gate=_gate(criterion),
        met=" ".join(met(criterion, mark).split()),
        reasoning=mark.reasoning,
        evidence=mark.evidence,
        votes=votes,
        judges=judges if votes else (),
    )


def _one_line(criterion: Criterion) -> str:
    # NOTE: prompts of composites contain this text, so a change misses their cached judgements.
    return " ".join((criterion.text or "; ".join(scale(criterion, names=False))).split())


def _with_sources(whole: Assessment, request: PanelRequest, marked: PanelResult) -> Assessment:
    """Name the part of each quote, if the judge saw more than the answer."""
    if not request.seen:
        return whole
    found = sources(marked.judgement, request.rubric.judged, request.parts)
    criteria = (replace(each, quoted_from=found.get(each.id, "")) for each in whole.criteria)
    return replace(whole, criteria=tuple(criteria))


def _redacted(part: Part) -> Part:
    return replace(part, text=redact(part.text))


def _warnings(request: PanelRequest, spec: RubricSpec, marked: PanelResult) -> tuple[str, ...]:
    texts = [criterion.text for criterion in spec.rubric.judged if criterion.text]
    asked = [part.text for part in request.seen if part.said == "user"]
    given = [part.text for part in request.seen if part.said != "user"]
    question, scanned = (
        (asked or [request.case.question])[-1],
        "\n\n".join([request.answer, *given]),
    )
    return (
        *missing_quotes(marked.judgement, spec.rubric.judged, request.material),
        *map(
            str,
            scan_for_injection(scanned, question=question, criteria=texts),
        ),
        *(
            _disagreement(name, marks, by_judge=bool(marked.judges))
            for name, marks in marked.votes.items()
            if flakiness(marks) > 0
        ),
    )


def _disagreement(name: str, marks: Sequence[MarkValue], *, by_judge: bool) -> str:
    what, voters = ("disputed", "judges") if by_judge else ("flaky", "votes")
    agreeing = round((1 - flakiness(marks)) * len(marks))
    among = f"{agreeing} of {len(marks)} {voters}" if agreeing > 1 else f"no two {voters}"
    return f"{name} is {what}: {among} agree"


def _gate(criterion: Criterion) -> str:
    match criterion:
        case Check(required=True) | Assertion(required=True):
            return "required"
        case Scored(required_min_score=int(minimum)):
            return f"score >= {minimum}"
        case Levelled(required_min_level=int(minimum)):
            return f"level >= {minimum}"
        case _:
            return ""
