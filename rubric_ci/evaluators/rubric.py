"""The `rubric` evaluator: assertions are checked, a judge marks the rest in one request."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rubric_ci.errors import CannotJudge
from rubric_ci.evaluators.assertions.assertion_table import (
    assertion_marks,
    described,
    did,
    unmet_conditions,
)
from rubric_ci.evaluators.assertions.keys import SCHEMA_KEY, keys_of
from rubric_ci.evaluators.judge_choice import judge_of, silent_judges
from rubric_ci.evaluators.kind import (
    INCLUDED,
    UNFILLED,
    Fill,
    Included,
    UsedFiles,
    Written,
    common,
    criteria_at,
    weight_of,
)
from rubric_ci.models.judge.injection_scan import scan_for_injection
from rubric_ci.models.judge.panel import PanelRequest, PanelResult, decide
from rubric_ci.models.judge.prompt_parts import ISOLATED, marked, parts_of
from rubric_ci.models.judge.reply_checks import missing_quotes, sources
from rubric_ci.models.judge.shown_media import unseen
from rubric_ci.models.judge.voting import flakiness
from rubric_ci.system.coroutines import worked_on
from rubric_ci.system.masking import redact, redacted
from rubric_ci.values.context import RunContext
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.problems import Path
from rubric_ci.values.results import Answer, Assessment, CriterionResult
from rubric_ci.values.rubric import (
    Assertion,
    ByAnswer,
    ByJudge,
    ByMark,
    Check,
    Choice,
    Chosen,
    Condition,
    Criterion,
    Judgement,
    Level,
    Levelled,
    Mark,
    Rubric,
    Scored,
    ScoreRange,
    condition_text,
    is_fault,
    met,
    renamed,
    scale,
    score,
    settled,
    weighed,
)
from rubric_ci.values.scoring import NOT_APPLICABLE, MarkValue, total_points
from rubric_ci.values.trace import SeenPart
from rubric_ci.values.usage import NOTHING_USED

TEXT_KEYS: Final = ("expected_outcome", "description", "criteria")
_NO_QUOTES: Final[Mapping[str, SeenPart]] = {}


def read(written: Written) -> RubricSpec:
    """Return the spec of criteria that a judge marks."""
    data = written.data
    return RubricSpec(
        **common(written),
        type=data["type"],
        rubric=_rubric(written, data["rubrics"], (*written.path, "rubrics")),
        sees=_sees(data),
        model=data.get("model", ""),
    )


def inline(name: str, written: Written, turn: int = 0) -> RubricSpec:
    """Return the spec of `rubrics`; in a turn, its name precedes the ids of the criteria."""
    rubrics, path = written.data, written.path
    rubric = _rubric(written, *criteria_at(rubrics, path))
    if turn:
        rubric = Rubric(tuple(renamed(c, f"{name}/") for c in rubric))
    span = Span(*written.source.locate(path, at_key=True))
    return RubricSpec(name=name, rubric=rubric, sees=_sees(rubrics), turn=turn, span=span)


def _sees(owner: Any) -> tuple[SeenPart, ...]:
    return tuple(owner.get("sees", ("answer",))) if isinstance(owner, dict) else ("answer",)


def _rubric(written: Written, criteria: list[Any], path: Path) -> Rubric:
    found = (_placed(written, each, (*path, n), n + 1) for n, each in enumerate(criteria))
    return Rubric(tuple([each for each in found if each is not None]))


def _placed(written: Written, template: Any, path: Path, number: int) -> Criterion | None:
    """Return a criterion at its place, which is another file for one that is included."""
    origin = template.get(INCLUDED) if isinstance(template, dict) else None
    if not isinstance(origin, Included):
        return _criterion(written, template, Span(*written.source.locate(path)), number)
    own = {key: value for key, value in template.items() if key != INCLUDED}
    variables = {**origin.defaults, **written.variables, **origin.given}
    inside = written._replace(fill=Fill(variables, typed=True), variables=variables)
    return _criterion(inside, own, origin.span, number)


def _criterion(written: Written, template: Any, span: Span, number: int) -> Criterion | None:
    """Return a criterion with its variables replaced, and its text without, if that differs.

    None: by a tag or a variable of the case, it does not apply.
    """
    if isinstance(template, str):
        template = {"criteria": template}
    filled = {k: v if k in UNFILLED else written.fill.value(v) for k, v in template.items()}
    if isinstance(filled.get(SCHEMA_KEY), str):
        filled[SCHEMA_KEY] = template[SCHEMA_KEY]  # the name of a file, which the checks found
    condition = filled.get("applies_if")
    if isinstance(condition, dict) and not _is_of_case(condition, written):
        return None
    found = replace(
        _of(filled, written.files, span, number),
        applies_if=_condition(condition, written.files, span),
    )
    if filled == template:
        return found
    return replace(found, template=_shown(template))


def _is_of_case(condition: dict[str, Any], written: Written) -> bool:
    """Return False if a tag or a variable of the case rules a criterion out."""
    if "tag" in condition:
        return condition["tag"] in written.tags
    return "var" not in condition or written.variables.get(condition["var"]) == condition["equals"]


def _condition(written: Any, files: UsedFiles, span: Span) -> Condition | None:
    if isinstance(written, str):
        return ByJudge(text=written)
    if not written or "tag" in written or "var" in written:
        return None
    if "criterion" in written:
        return ByMark(criterion=written["criterion"], mark=written["is"])
    (key,) = keys_of(written)
    return ByAnswer(assertion=_assertion(written, key, files, id="", span=span))


def _shown(criterion: dict[str, Any]) -> str:
    """Return the text of a criterion, or what stands for it, with the variables in it."""
    key = next(iter(keys_of(criterion)), "")
    if key and not _text(criterion):
        negated, field = criterion.get("not", False), criterion.get("field", "")
        return described(key, criterion[key], negated=negated, field=field)
    ranges = [each.text for each in _ranges(criterion.get("score_ranges", []))]
    levels = [each.text for each in _levels(criterion.get("levels", []))]
    choices = [each.text or each.name for each in _choices(criterion.get("choices", []))]
    return _text(criterion) or "; ".join([*ranges, *levels, *choices])


def _of(criterion: dict[str, Any], files: UsedFiles, span: Span, number: int) -> Criterion:
    name, text = criterion.get("id", f"rubric-{number}"), _text(criterion)
    weight, fault = weight_of(criterion)
    tags = tuple(criterion.get("tags", ()))
    if "score_ranges" in criterion:
        return Scored(
            id=name,
            text=text,
            weight=weight,
            ranges=_ranges(criterion["score_ranges"]),
            required_min_score=criterion.get("required_min_score"),
            tags=tags,
            span=span,
        )
    if "levels" in criterion:
        return Levelled(
            id=name,
            text=text,
            weight=weight,
            levels=_levels(criterion["levels"]),
            required_min_level=criterion.get("required_min_level"),
            tags=tags,
            span=span,
        )
    if "choices" in criterion:
        return Chosen(
            id=name,
            text=text,
            weight=weight,
            choices=_choices(criterion["choices"]),
            required_choices=tuple(criterion.get("required_choices", ())),
            required=fault and criterion.get("required", False),
            fault=fault,
            tags=tags,
            span=span,
        )
    required = criterion.get("required", not fault)
    if key := next(iter(keys_of(criterion)), ""):
        return _assertion(
            criterion,
            key,
            files,
            id=name,
            weight=weight,
            required=required,
            fault=fault,
            tags=tags,
            span=span,
        )
    return Check(
        id=name, text=text, weight=weight, required=required, fault=fault, tags=tags, span=span
    )


def _assertion(criterion: dict[str, Any], key: str, files: UsedFiles, **common: Any) -> Assertion:
    value, negated = criterion[key], criterion.get("not", False)
    field = criterion.get("field", "")
    text = _text(criterion) or described(key, value, negated=negated, field=field)
    if key == SCHEMA_KEY and isinstance(value, str):
        value = json.loads(files.read(value).text)
    return Assertion(
        text=text,
        key=key,
        value=value,
        negated=negated,
        ignore_case=criterion.get("ignore_case", False),
        exact=criterion.get("exact", False),
        field=field,
        **common,
    )


def _ranges(written: Any) -> tuple[ScoreRange, ...]:
    if isinstance(written, dict):
        lows = sorted(map(int, written))
        highs = [*(low - 1 for low in lows[1:]), 10]
        return tuple(
            ScoreRange(low=low, high=high, text=written[str(low)])
            for low, high in zip(lows, highs, strict=True)
        )
    ranges = (
        ScoreRange(low=r["score_range"][0], high=r["score_range"][1], text=_text(r))
        for r in written
    )
    return tuple(sorted(ranges, key=lambda scores: scores.low))


def _levels(written: Any) -> tuple[Level, ...]:
    if isinstance(written, dict):
        entries = [(int(key), _level_entry(item)) for key, item in written.items()]
    else:
        entries = [(item["level"], item) for item in written]
    levels = (Level(level=n, name=e.get("name", ""), text=_text(e)) for n, e in entries)
    return tuple(sorted(levels, key=lambda level: level.level))


def _choices(written: Any) -> tuple[Choice, ...]:
    if isinstance(written, dict):
        return tuple(Choice(name=name, score=float(each)) for name, each in written.items())
    return tuple(
        Choice(name=each["choice"], score=float(each["score"]), text=each.get("criteria", ""))
        for each in written
    )


def _level_entry(item: Any) -> dict[str, str]:
    return {"criteria": item} if isinstance(item, str) else item


def _text(owner: dict[str, Any]) -> str:
    for key in TEXT_KEYS:
        if key in owner:
            return str(owner[key])
    return ""


async def rubric(
    case: EvalCase, answer: Answer, spec: RubricSpec, context: RunContext
) -> Assessment:
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
        judge=judge,
        context=context,
        known=known,
        about=f"{case.file}: {case.id}: {spec.name}",
    )
    result = await decide(request)
    warnings, quoted = await worked_on(len(request.material), _read_again, request, result)
    return _assessment(spec, result, idle, context, (*given.warnings, *hidden, *warnings), quoted)


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
    every = Judgement({**own.marks, **idle}, own.reasoning)
    judgement = settled(spec.rubric, every)
    marked = replace(marked, judgement=judgement)
    applying = [c for c in spec.rubric if judgement[c.id].value != NOT_APPLICABLE]
    points = total_points(weighed(c, judgement[c.id]) for c in applying)
    if not points:
        raise CannotJudge("no criterion that counts applies to this answer", marked.usage)
    result = score(spec.rubric, judgement, context.thresholds)
    return Assessment(
        score=result.value,
        gated_by=result.gated_by,
        reasoning=judgement.reasoning,
        criteria=tuple([_criterion_result(c, marked, quoted, points) for c in spec.rubric]),
        warnings=(*silent_judges(marked.silent), *warnings),
        judge=marked.judge,
        marks=sum(c.id in own.marks for c in spec.rubric.judged),
        cached_marks=len(marked.cached),
        usage=marked.usage,
    )


def _criterion_result(
    criterion: Criterion, marked: PanelResult, quoted: Mapping[str, SeenPart], points: float
) -> CriterionResult:
    mark, votes = marked.judgement[criterion.id], marked.votes.get(criterion.id, ())
    applies = mark.value != NOT_APPLICABLE
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
        applies_if=" ".join(condition_text(criterion.applies_if).split()),
        fault=is_fault(criterion),
        points=points if is_fault(criterion) else 0.0,
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
        case Chosen(required=True):
            return "required"
        case Chosen(required_choices=(_, *_) as names):
            return f"one of {', '.join(names)}" if len(names) > 1 else names[0]
        case _:
            return ""
