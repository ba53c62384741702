"""The `rubric` evaluator: assertions are checked, a judge marks the rest in one request."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from rubric_ci.errors import CannotJudge
from rubric_ci.evaluators.assertions.marking import assertion_marks, did, unmet_conditions
from rubric_ci.evaluators.judge_choice import judge_of, silent_judges
from rubric_ci.evaluators.kind import ExpectedRequest
from rubric_ci.models.judge.injection_scan import scan_for_injection
from rubric_ci.models.judge.panel import PanelRequest, PanelResult, decide
from rubric_ci.models.judge.prompt import Briefing, rubric_messages
from rubric_ci.models.judge.prompt_parts import ISOLATED, marked, parts_of
from rubric_ci.models.judge.reply_checks import missing_quotes, sources
from rubric_ci.models.judge.request import shown_to, unseen
from rubric_ci.models.judge.voting import PANEL, flakiness, grouped, most_per_request
from rubric_ci.system.coroutines import worked_on
from rubric_ci.system.output_and_masking import redact, redacted
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.llm_calls import Unsent
from rubric_ci.values.results import Answer, Assessment, CriterionResult
from rubric_ci.values.rubric import (
    Assertion,
    Check,
    Chosen,
    Criterion,
    Judgement,
    Levelled,
    Mark,
    Rubric,
    Scored,
    applying,
    condition_text,
    score_of,
    settled,
    weighed,
)
from rubric_ci.values.scales import met, scale
from rubric_ci.values.scoring import NOT_APPLICABLE, MarkValue, total_points
from rubric_ci.values.trace import SeenPart
from rubric_ci.values.usage import NOTHING_USED

MARK_TOKENS: Final = 80  # quote, reason and mark of one criterion, on average

_NO_QUOTES: Final[Mapping[str, SeenPart]] = {}


async def rubric(
    case: EvalCase, answer: Answer, spec: RubricSpec, context: RunContext
) -> Assessment | Unsent:
    """Check, request the judge's marks and weigh all; raises NoVerdict if it gives none."""
    given = marked(case, answer, spec.turn)
    case, answer = given.case, given.answer
    work, checked = did(answer), given.checked
    known, idle = dict[str, Mark](), dict[str, Mark]()
    if spec.rubric.assertions:
        size, rules = len(checked), (checked, work, redact)
        idle = await worked_on(size, unmet_conditions, spec.rubric, *rules)
        known = await worked_on(size, assertion_marks, _without(spec.rubric, idle), *rules)
    asked = _without(spec.rubric, idle)
    if not asked.judged:
        by_rules = PanelResult(
            judgement=Judgement(known), votes={}, cached=frozenset(), usage=NOTHING_USED
        )
        return _assessment(spec, by_rules, idle, context, given.warnings)
    judge = judge_of(spec, context.judge)
    answer = for_judges(answer)
    seen = (*redacted(given.parts, kept=("name", "said")), *parts_of(answer, spec.sees))
    if sum(len(part.text) for part in seen) > ISOLATED:
        judge = replace(judge, mode="isolated")
    own = tuple(m for m in answer.media if m.name in answer.text or "files" in spec.sees)
    earlier = (each for part in given.parts for each in part.media)
    media = (*case.media, *earlier, *case.reference_media, *own)
    hidden = unseen(judge.members, media) if media else ()
    request = PanelRequest(
        case=case,
        answer=answer.text,
        seen=seen,
        media=own,
        rubric=asked,
        briefing=Briefing(spec.guidelines, spec.examples),
        judge=judge,
        context=context,
        known=known,
        about=f"{case.file}: {case.id}: {spec.name}",
    )
    result = await decide(request)
    if isinstance(result, Unsent):
        return result
    warnings, quoted = await worked_on(len(request.material), _read_again, request, result)
    return _assessment(spec, result, idle, context, (*given.warnings, *hidden, *warnings), quoted)


def expected(case: EvalCase, spec: RubricSpec, judge: JudgeConfig) -> Sequence[ExpectedRequest]:
    """Return the requests about an answer that is not known; `auto` counts as one vote."""
    votes, most = (1, PANEL) if judge.votes == "auto" else (judge.votes, 1)
    turns = spec.turn or case.most_turns or 1
    briefing, shown = Briefing(spec.guidelines, spec.examples), shown_to(judge)
    write = partial(rubric_messages, case, "", briefing=briefing, shown=shown, fence="")
    return [
        ExpectedRequest(
            partial(write, group),
            MARK_TOKENS * len(group),
            turns,
            most,
            partial(_characters_of_briefing, case, spec, group),
        )
        for group in grouped(spec.rubric.judged, most_per_request(judge))
    ] * votes


def _characters_of_briefing(
    case: EvalCase, spec: RubricSpec, group: Sequence[Criterion]
) -> Counter[str]:
    files = {criterion.id: criterion.span.file for criterion in group}
    characters = Counter[str]()
    for file, text in zip(spec.guided_by, spec.guidelines, strict=True):
        characters[file or case.file] += len(text)
    for each in spec.examples:
        if marked := [files[name] for name in each.marks if name in files]:
            characters[marked[0] or case.file] += len(each.question + each.answer + each.why)
    return characters


def _without(rubric: Rubric, idle: Mapping[str, Mark]) -> Rubric:
    """Return the criteria that apply to the answer as far as assertions decide."""
    return Rubric(tuple([c for c in rubric if c.id not in idle])) if idle else rubric


def for_judges(answer: Answer) -> Answer:
    """Return the answer as judges and reports get it: without the secrets of this process."""
    return redacted(answer, kept=("folder", "kind"))


def _assessment(
    spec: RubricSpec,
    marked: PanelResult,
    idle: Mapping[str, Mark],
    context: RunContext,
    warnings: tuple[str, ...],
    quoted: Mapping[str, SeenPart] = _NO_QUOTES,
) -> Assessment:
    """Return the score; raises CannotJudge if no criterion with a weight applies."""
    own = marked.judgement
    every = Judgement({**own.marks, **idle}, own.reasoning) if idle else own
    judgement = settled(spec.rubric, every)
    counted = applying(spec.rubric, judgement)
    if not [c for c, _ in counted if c.weight]:
        raise CannotJudge("no criterion that counts applies to this answer", marked.usage)
    faults = [c for c in spec.rubric.criteria if c.fault]
    points = total_points(weighed(*each) for each in counted) if faults else 0.0
    result = score_of(counted, context.thresholds)
    return Assessment(
        score=result.value,
        gated_by=result.gated_by,
        reasoning=judgement.reasoning,
        criteria=tuple(
            [_criterion_result(c, judgement[c.id], marked, quoted, points) for c in spec.rubric]
        ),
        warnings=(*silent_judges(marked.silent), *warnings),
        judge=marked.judge,
        marks=sum(c.id in own.marks for c in spec.rubric.judged),
        cached_marks=len(marked.cached),
        usage=marked.usage,
    )


def _criterion_result(
    criterion: Criterion,
    mark: Mark,
    marked: PanelResult,
    quoted: Mapping[str, SeenPart],
    points: float,
) -> CriterionResult:
    votes = marked.votes.get(criterion.id, ())
    applies, needs = mark.value != NOT_APPLICABLE, criterion.applies_if
    return CriterionResult(
        id=criterion.id,
        kind=criterion.kind,
        line=criterion.span.line,
        file=criterion.span.file,
        text=_one_line(criterion),
        weight=criterion.weight,
        mark=mark.value,
        normalised=criterion.normalise(mark) if applies else 0.0,
        gated=applies and criterion.gates(mark),
        applies_if=" ".join(condition_text(needs).split()) if needs else "",
        fault=criterion.fault,
        points=points if criterion.fault else 0.0,
        gate=_gate(criterion),
        met=" ".join(met(criterion, mark).split()),
        reasoning=mark.reasoning,
        evidence=mark.evidence,
        quoted_from=quoted.get(criterion.id, ""),
        votes=votes,
        judges=marked.judges if votes else (),
        template=" ".join(criterion.template.split()),
        tags=criterion.tags,
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
        *map(str, scan_for_injection(scanned, question=question, criteria=texts)),
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
        case Chosen(required=True):
            return "required"
        case Chosen(required_choices=(_, *_) as names):
            return f"one of {', '.join(names)}" if len(names) > 1 else names[0]
        case _:
            return ""
