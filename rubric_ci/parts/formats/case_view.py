"""A case and its evaluators as the values that `templates/case.html` shows."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from rubric_ci.gate.comparison import phrases as compared
from rubric_ci.parts.formats.groups import criteria_of
from rubric_ci.parts.formats.work_view import (
    Piece,
    TextView,
    TurnView,
    WorkView,
    answer_view,
    before_dialogue,
    dialogue,
    work,
)
from rubric_ci.reports import blocks, case_blocks, comparison_section, usage_text, wording
from rubric_ci.reports.html_templates import case_anchor, criterion_anchor
from rubric_ci.reports.wording import CaseStatus
from rubric_ci.text import answer_text, numbers
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.media import COPIES, Picture
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Assessed, CaseResult, CriterionResult, EvaluatorResult

LABELS: Final[dict[CaseStatus, str]] = {
    "fail": "fail",
    "errored": "no verdict",
    "borderline": "borderline",
    "waived": "waived",
    "pass": "pass",
    "skipped": "skipped",
}
_OF: Final = {
    "question": "Images and documents of the question",
    "reference": "Images and documents of the reference answer",
    "answer": "Images and documents of the answer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    tone: str
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionView:
    anchor: str
    id: str
    text: str
    about: str
    mark: Badge
    met: str
    notes: tuple[str, ...]
    reasoning: str
    evidence: str
    source: str  # of the evidence, where it is not the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorView:
    """An evaluator; `failure` is why it has no result."""

    name: str
    about: str
    failure: str | None = None
    score: str = ""
    reasoning: str = ""
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()
    criteria: tuple[CriterionView, ...] = ()
    details: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeView:
    """The answer of before: folded if the case is unchanged, else as a word diff."""

    noun: str
    folded: str = ""
    diff: tuple[Piece, ...] = ()
    cut: str = ""
    lower: tuple[tuple[str, str, str], ...] = ()  # name, marks, reason


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureView:
    """An image or a document: shown if `source` has its data, and linked to its copy."""

    path: str
    link: str
    digest: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturesView:
    """The images and documents of a question or an answer; two columns if there are two sides."""

    title: str
    columns: tuple[tuple[str, tuple[PictureView, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """A case; `facts` are visible while it is folded."""

    opened: bool
    status: Badge
    id: str
    change: Badge | None
    facts: tuple[str, ...]
    score: str
    reason: str
    anchor: str
    place: str
    tags: tuple[str, ...]
    about: tuple[str, ...]
    texts: tuple[TextView, ...]
    turns: tuple[tuple[TurnView, tuple[CriterionView, ...]], ...]
    pictures: tuple[PicturesView, ...]
    work: tuple[WorkView, ...]
    before: BeforeView | None
    evaluators: tuple[EvaluatorView, ...]


def case_view(
    case: CaseResult,
    report: RunReport,
    inline: Callable[[Picture], str] = lambda _: "",
    *,
    opened: bool,
) -> CaseView:
    kind = case.status
    evaluators = tuple(evaluator_view(each, case, report) for each in case.evaluators)
    return CaseView(
        opened=opened,
        status=Badge(tone=kind, word=LABELS[kind]),
        id=case.id,
        change=change_badge(case),
        facts=(*_marks(case),),
        score=numbers.score(case.score) if case.score is not None else "",
        reason=wording.reason(case),
        anchor=case_anchor(case.file, case.id),
        place=f"{case.file}:{case.line}",
        tags=case.tags,
        about=(*_about(case),),
        texts=tuple(_texts(case)),
        turns=tuple(_turns(case, evaluators)),
        pictures=(*_pictures(case, inline),),
        work=tuple(work(case)),
        before=before_view(case, compared.noun(report)),
        evaluators=evaluators,
    )


def has_pictures(case: CaseResult) -> bool:
    return bool(case.media or (case.before is not None and case.before.media))


def _pictures(case: CaseResult, inline: Callable[[Picture], str]) -> Iterator[PicturesView]:
    """Yield the pictures of question, reference and answer, with the answer of before."""
    for of, title in _OF.items():
        now = [each for each in case.media if each.of == of]
        then = case.before.media if case.before and of == "answer" else ()
        columns = [("before", then), ("now", now)] if then else [("", now)]
        if now or then:
            shown = tuple((word, _viewed(found, inline)) for word, found in columns)
            yield PicturesView(title=title, columns=shown)


def _viewed(
    pictures: Sequence[Picture], inline: Callable[[Picture], str]
) -> tuple[PictureView, ...]:
    return tuple(
        PictureView(
            path=each.path,
            link=f"{COPIES}/{each.file}",
            digest=each.digest[:12],
            source=inline(each) if each.type != "application/pdf" else "",
        )
        for each in pictures
    )


def change_badge(case: CaseResult) -> Badge | None:
    if case.change is None or case.change not in blocks.CHANGES:
        return None
    return Badge(tone=blocks.CHANGES[case.change], word=compared.kind(case))


def before_view(case: CaseResult, noun: str) -> BeforeView | None:
    """Return both answers of a case that changed, and what has a lower mark."""
    lower = tuple(
        (name, marks, compared.short(reason))
        for name, marks, reason in comparison_section.lower_marks(case)
    )
    then = case.before.answer if case.before else ""
    if not then or not case.answer or then == case.answer:
        return BeforeView(noun=noun, lower=lower) if lower else None
    if case.change == "unchanged":
        return BeforeView(noun=noun, folded=then, lower=lower)
    kinds = {"same": "", "removed": "del", "added": "ins"}
    runs = comparison_section.word_runs(then, case.answer)
    cut = comparison_section.CUT if comparison_section.is_cut(then, case.answer) else ""
    diff = tuple((kinds[kind], words) for kind, words in runs)
    return BeforeView(noun=noun, diff=diff, cut=cut, lower=lower)


def evaluator_view(
    evaluator: EvaluatorResult, case: CaseResult, report: RunReport
) -> EvaluatorView:
    weight = "shown, not counted" if evaluator.weight == 0 else f"weight {evaluator.weight:g}"
    judge = f", judged by {evaluator.judge}" if evaluator.judge else ""
    about = f"{evaluator.type}, {weight}{judge}"
    if not isinstance(evaluator, Assessed):
        return EvaluatorView(name=evaluator.name, about=about, failure=evaluator.reason)
    missed = wording.unnamed_misses(evaluator)
    lists = {"Missed": missed, "Met": evaluator.hits, "Warnings": evaluator.warnings}
    before = comparison_section.marks_before(case, evaluator.name)
    details = evaluator.details
    return EvaluatorView(
        name=evaluator.name,
        about=about,
        score=numbers.score(evaluator.score),
        reasoning=evaluator.reasoning,
        lists=tuple((title, entries) for title, entries in lists.items() if entries),
        criteria=tuple(
            _criterion(
                each,
                criterion_anchor(case.file, case.id, evaluator.name, each.id),
                before.get(each.id),
                report,
            )
            for each in evaluator.criteria
        ),
        details="" if details is None else json.dumps(details, ensure_ascii=False, indent=2),
    )


def _criterion(
    criterion: CriterionResult, anchor: str, before: CriterionResult | None, report: RunReport
) -> CriterionView:
    weight = f"{'penalty' if criterion.fault else 'weight'} {criterion.weight:g}"
    place = f"{criterion.file}:{criterion.line}" if criterion.file else f"line {criterion.line}"
    needs = f"if {criterion.applies_if}" if criterion.applies_if else ""
    about = [criterion.kind, needs, wording.gate_of(criterion), weight, place]
    notes = [wording.votes(criterion)]
    if before and before.mark != criterion.mark:
        noun = compared.noun(report)
        notes.append(f"was {wording.mark(before)} at the {noun}")
    missed = "borderline" if criterion.is_missed(report.gate.passing) else "pass"
    tone = "fail" if criterion.gated else missed
    return CriterionView(
        anchor=anchor,
        id=criterion.id,
        text=criterion.text,
        about=", ".join(filter(None, about)),
        mark=Badge(tone=tone, word=wording.mark(criterion)),
        met=criterion.met,
        notes=(*filter(None, notes),),
        reasoning=criterion.found,
        evidence=criterion.evidence,
        source=wording.quote_source(criterion),
    )


def _texts(case: CaseResult) -> Iterator[TextView]:
    """Yield the texts of a case; a dialogue, which has its own place, is left out."""
    exchanges = answer_text.read_exchanges(case.answer)
    for title, text in wording.texts(case):
        shown = before_dialogue(text, exchanges) if title == "Question" else text
        if title != "Answer":
            yield from [TextView(title=title, text=(("", shown),))] if shown else ()
        elif not exchanges:
            yield answer_view(title, shown, _quotes(case))


def _quotes(case: CaseResult) -> list[str]:
    """Return the judge's quotes from the answer, which may be a conversation."""
    found = (criterion for _, criterion in criteria_of(case))
    return [each.evidence for each in found if each.quoted_from in {"", "answer", "conversation"}]


def _turns(
    case: CaseResult, evaluators: Sequence[EvaluatorView]
) -> Iterator[tuple[TurnView, tuple[CriterionView, ...]]]:
    every = [each for evaluator in evaluators for each in evaluator.criteria]
    for turn in dialogue(case, _quotes(case)):
        own = (each for each in every if each.id.startswith(f"turn-{turn.number}/"))
        yield turn, tuple(own)


def _marks(case: CaseResult) -> Iterator[str]:
    """Yield the facts that are visible while a case is folded."""
    if case.change != "unchanged" and (movement := compared.movement(case)):
        yield movement
    if trials := case_blocks.trials(case):
        yield trials
    if warnings := wording.warnings([case]):
        yield f"⚠ {numbers.plural(len(warnings), 'warning')}"


def _about(case: CaseResult) -> Iterator[str]:
    if case.target:
        yield f"target {case.target}"
    if why := wording.why(case):
        yield f"ran because {why}"
    if case.duration_seconds is not None:
        yield numbers.duration(case.duration_seconds)
    yield from usage_text.usage_of(case)
