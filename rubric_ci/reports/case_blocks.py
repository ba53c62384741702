"""One case as blocks: its place, its texts, its marks and their reasons."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rubric_ci.gate.comparison import phrases
from rubric_ci.reports import comparison_section, usage_text, wording
from rubric_ci.reports.blocks import (
    Block,
    Differs,
    Folded,
    Line,
    Listed,
    Literally,
    Quoted,
    Span,
    Spans,
    joined,
    place,
    plain,
)
from rubric_ci.text import numbers
from rubric_ci.values.media import Picture
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Assessed, CaseResult, CriterionResult, EvaluatorResult, Graded

LONGEST: Final = 1500  # characters of a reason, a quote or a text
LONGEST_NAME: Final = 120
MOST_FILES: Final = 10  # images and documents of a case


def detail(
    case: Graded, report: RunReport, characters: int = LONGEST, *, with_texts: bool = True
) -> Folded:
    """Return a case with its marks and reasons, and its texts."""
    kind = phrases.in_words(case) if case.change not in {None, "unchanged"} else ""
    about = [kind or numbers.score(case.score), trials(case)]
    return Folded(
        status=case.status,
        title=joined([(Span(text=_short(case.id), style="strong"),), plain(*about)]),
        blocks=tuple(_body(case, report, characters, with_texts=with_texts)),
    )


def trials(case: CaseResult) -> str:
    """Return how many trials pass; empty of a broken case, whose counts are told in words."""
    return "" if case.change == "broken" and case.asked_again else wording.trials(case)


def whole(case: CaseResult, criterion: str) -> Folded:
    """Return all that a report says about a case, or about one criterion of it."""
    score = numbers.score(case.score) if case.score is not None else ""
    at = replace(place(case.file, case.line), style="dim")
    name = (Span(text=case.id, style="strong"),)
    return Folded(
        status=case.status,
        title=joined([plain(case.status), name, plain(score), (at,)]),
        blocks=tuple(_whole(case, criterion)),
    )


def _whole(case: CaseResult, criterion: str) -> Iterator[Block]:
    if not case.verdict:
        yield Line(spans=plain(case.reason))
    for title, text in () if criterion else wording.texts(case):
        yield Literally(title=title, text=text)
    if isinstance(case, Graded):
        yield from _marks(case, criterion)


def _marks(case: Graded, criterion: str) -> Iterator[Block]:
    for evaluator in case.evaluators:
        found = evaluator.criteria if isinstance(evaluator, Assessed) else ()
        if not found and not criterion:
            yield from evaluator_blocks(case, evaluator, LONGEST)
        for each in found:
            if criterion in {"", each.id}:
                yield from criterion_blocks(case, evaluator, each, LONGEST)


def passing_line(case: Graded) -> Spans:
    """Return name and score of a passing case, and how it differs from before."""
    kind = phrases.in_words(case) if case.change not in {None, "unchanged"} else ""
    name = (Span(text=_short(case.id), style="code", file=case.file, line=case.line),)
    return joined([name, plain(numbers.score(case.score), kind, wording.trials(case))])


def _short(text: str) -> str:
    return numbers.shortened(text, LONGEST_NAME)


def _body(case: Graded, report: RunReport, characters: int, *, with_texts: bool) -> Iterator[Block]:
    """Yield place, texts, and the missed criteria of a case with their reasons."""
    why = wording.why(case) if len(wording.reasons_to_run(report)) > 1 else ""
    yield Line(
        spans=joined(
            [
                (place(case.file, case.line),),
                plain(f"target {_short(case.target)}" if case.target else ""),
                plain(f"ran because {why}" if why else ""),
                plain(*usage_text.other_judges(case, report)),
                plain(phrases.short(phrases.why(case))),
            ]
        )
    )
    if with_texts:
        yield from texts(case, characters, phrases.noun(report))
    for miss in wording.misses(case, report):
        if miss.criterion:
            yield from criterion_blocks(case, miss.evaluator, miss.criterion, characters)
        else:
            yield from evaluator_blocks(case, miss.evaluator, characters)


def texts(case: Graded, characters: int, noun: str = "") -> Iterator[Block]:
    """Yield question, expected outcome and answer, or how the answer differs from before."""
    found = differs(case, characters, titled=True, noun=noun)
    for title, text in wording.beginnings(case, characters):
        if title != "Answer" or found is None:
            yield Literally(title=title, text=text)
    if found:
        yield found
    if case.media:
        shown = [_picture(each) for each in case.media[:MOST_FILES]]
        if more := len(case.media) - len(shown):
            shown.append(plain(f"and {more} more"))
        yield Listed(title="Images and documents", lines=tuple(shown))


def _picture(media: Picture) -> Spans:
    """Return an image or a document; the commit has no files of an answer."""
    file = "" if media.of == "answer" else media.path
    path = Span(text=numbers.shortened(media.path, 200), style="plain" if file else "code")
    return (Span(text=f"{media.of} "), replace(path, file=file))


def differs(case: Graded, characters: int, *, titled: bool, noun: str = "base") -> Differs | None:
    """Return how the answer differs from before; None: it does not, or there is none."""
    then = case.before.answer if case.before else ""
    if not then or not case.answer or then == case.answer:
        return None
    return Differs(
        title=f"Answer, compared with the {noun}" if titled else "",
        before=numbers.shortened(then, characters),
        after=numbers.shortened(case.answer, characters),
    )


def criterion_blocks(
    case: Graded, evaluator: EvaluatorResult, criterion: CriterionResult, characters: int
) -> Iterator[Block]:
    """Yield a criterion: its text, its mark and its gate, and the judge's reason and quote."""
    then = comparison_section.marks_before(case, evaluator.name).get(criterion.id)
    was = wording.mark(then) if then and then.mark != criterion.mark else ""
    own = wording.own_id(criterion) if criterion.text else ""
    several = len(case.evaluators) > 1 and not own.startswith(f"{evaluator.name}/")  # of a turn
    label = "/".join(filter(None, [evaluator.name if several else "", own]))
    facts = [
        wording.mark(criterion),
        f"before: {was}" if was else "",
        wording.gate_of(criterion),
        wording.votes(criterion),
    ]
    met: wording.CaseStatus = "pass" if criterion.normalised >= 1 else "borderline"
    name = numbers.shortened(wording.name_of(criterion), characters)
    spans = joined(
        [
            (Span(text=name, style="strong"),),
            plain(*facts),
            (Span(text=label, style="code"),) if label else (),
            (place(criterion.file or case.file, criterion.line),),
        ]
    )
    yield Line(status="fail" if criterion.gated else met, spans=spans)
    if said := quoted(criterion, characters):
        yield said


def quoted(criterion: CriterionResult, characters: int) -> Quoted | None:
    said = [criterion.found] if criterion.found else []
    if criterion.evidence:
        said.append(f"“{criterion.evidence}”{wording.quote_source(criterion)}")
    shown = tuple(numbers.shortened(text, characters) for text in said)
    return Quoted(texts=shown) if shown else None


def evaluator_blocks(case: Graded, evaluator: EvaluatorResult, characters: int) -> Iterator[Block]:
    """Yield an evaluator without criteria: its score, before and now, and its reasons."""
    head: Spans = (Span(text=evaluator.name, style="strong"), Span(text=f" ({evaluator.type})"))
    if not isinstance(evaluator, Assessed):
        yield Line(spans=joined([head, plain(f"no result: {evaluator.reason}")]))
        return
    then = comparison_section.score_before(case, evaluator.name)
    score = numbers.score(evaluator.score)
    was = f"{numbers.score(then)} → " if then is not None and then != evaluator.score else ""
    yield Line(spans=joined([head, plain(f"{was}{score}")]))
    if said := wording.reasons(evaluator):
        yield Quoted(texts=tuple(numbers.shortened(text, characters) for text in said))
