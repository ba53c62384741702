"""The `rubric` evaluator: assertions are checked, a judge marks the rest in one request."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.evaluators.assertions.assertion_table import assertion_marks, did
from rubric_ci.evaluators.judge_choice import judge_of
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase, RubricSpec
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
    score,
)
from rubric_ci.model.scoring import MarkValue
from rubric_ci.model.trace import SeenPart
from rubric_ci.model.usage import NOTHING_USED
from rubric_ci.models.judge.injection_scan import scan_for_injection
from rubric_ci.models.judge.panel import PanelRequest, PanelResult, decide
from rubric_ci.models.judge.reply_checks import missing_quotes, sources
from rubric_ci.models.judge.seen import ISOLATED, marked, parts_of
from rubric_ci.models.judge.shown import unseen
from rubric_ci.models.judge.voting import flakiness
from rubric_ci.system.coroutines import worked_on
from rubric_ci.system.masking import redact, redacted

_NO_QUOTES: Final[Mapping[str, SeenPart]] = {}


async def rubric(
    case: EvalCase, answer: Answer, spec: RubricSpec, context: RunContext
) -> Assessment:
    """Check, request the judge's marks and weigh all; raises NoVerdict if it gives none."""
    given = marked(case, answer, spec.turn)
    case, answer = given.case, given.answer
    work, checked = did(answer), given.checked
    judged, known = spec.rubric.judged, dict[str, Mark]()
    if len(judged) < len(spec.rubric):
        known = await worked_on(len(checked), assertion_marks, spec.rubric, checked, work, redact)
    if not judged:
        by_rules = PanelResult(
            judgement=Judgement(known), votes={}, cached=frozenset(), usage=NOTHING_USED
        )
        return _assessment(spec, by_rules, context, given.warnings)
    judge = judge_of(spec, context.judge)
    answer = for_judges(answer)
    seen = (*redacted(given.parts, kept=("name", "said")), *parts_of(answer, spec.sees))
    if sum(len(part.text) for part in seen) > ISOLATED:
        judge = replace(judge, mode="isolated")
    own = tuple(m for m in answer.media if m.name in answer.text or "files" in spec.sees)
    asked = (each for part in given.parts for each in part.media)
    media = (*case.media, *asked, *case.reference_media, *own)
    hidden = unseen(judge.members, media) if media else ()
    request = PanelRequest(
        case=case,
        answer=answer.text,
        seen=seen,
        media=own,
        rubric=spec.rubric,
        judge=judge,
        context=context,
        known=known,
        about=f"{case.file}: {case.id}: {spec.name}",
    )
    result = await decide(request)
    warnings, quoted = await worked_on(len(request.material), _read_again, request, result)
    return _assessment(spec, result, context, (*given.warnings, *hidden, *warnings), quoted)


def for_judges(answer: Answer) -> Answer:
    """Return the answer as judges and reports get it: without the secrets of this process."""
    return redacted(answer, kept=("folder", "kind"))


def _assessment(
    spec: RubricSpec,
    marked: PanelResult,
    context: RunContext,
    warnings: tuple[str, ...],
    quoted: Mapping[str, SeenPart] = _NO_QUOTES,
) -> Assessment:
    judgement = marked.judgement
    result = score(spec.rubric, judgement, context.thresholds)
    return Assessment(
        score=result.value,
        gated_by=result.gated_by,
        reasoning=judgement.reasoning,
        criteria=tuple([_criterion_result(c, marked, quoted) for c in spec.rubric]),
        warnings=warnings,
        judge=marked.judge,
        marks=len(spec.rubric.judged),
        cached_marks=len(marked.cached),
        usage=marked.usage,
    )


def _criterion_result(
    criterion: Criterion, marked: PanelResult, quoted: Mapping[str, SeenPart]
) -> CriterionResult:
    mark, votes = marked.judgement[criterion.id], marked.votes.get(criterion.id, ())
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
        quoted_from=quoted.get(criterion.id, ""),
        votes=votes,
        judges=marked.judges if votes else (),
        template=" ".join(criterion.template.split()),
    )


def _one_line(criterion: Criterion) -> str:
    # NOTE: prompts of composites contain this text, so a change misses their cached judgements.
    return " ".join((criterion.text or "; ".join(scale(criterion, names=False))).split())


def _quoted(request: PanelRequest, marked: PanelResult) -> Mapping[str, SeenPart]:
    """Return the part of each quote by criterion id, if the judge saw more than the answer."""
    if not request.seen:
        return _NO_QUOTES
    return sources(marked.judgement, request.rubric.judged, request.parts)


def _read_again(
    request: PanelRequest, marked: PanelResult
) -> tuple[tuple[str, ...], Mapping[str, SeenPart]]:
    """Return warnings about answer and quotes, and the parts that the quotes are from."""
    return _warnings(request, marked), _quoted(request, marked)


def _warnings(request: PanelRequest, marked: PanelResult) -> tuple[str, ...]:
    texts = [criterion.text for criterion in request.rubric.judged if criterion.text]
    asked = [part.text for part in request.seen if part.said == "user"]
    given = [part.text for part in request.seen if part.said != "user"]
    question, scanned = (
        (asked or [request.case.question])[-1],
        "\n\n".join([request.answer, *given]),
    )
    return (
        *missing_quotes(marked.judgement, request.rubric.judged, request.material),
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
