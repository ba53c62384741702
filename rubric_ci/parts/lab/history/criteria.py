"""Criteria that earn their cost: over several reports, how often each decided a verdict."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.values.answers import identity
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Assessed, CriterionResult, Graded
from rubric_ci.values.scoring import MarkValue, Thresholds
from rubric_ci.values.waivers import is_missed, verdict_without

FEWEST: Final = 5  # answers from which it says something that a criterion decided none of them
CHARACTERS: Final = 4  # per token, about


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionRecord:
    """One criterion over all reports."""

    file: str
    case: str
    evaluator: str
    id: str
    line: int  # in the newest report
    answers: int
    met: int
    decided: int  # verdicts that are others without it
    flips: int  # pairs of equal answers with other marks, one after the other
    like: tuple[str, int] | None  # the criterion that is met as often, and on how many answers
    tokens: int  # of the judge's words about it, for one answer, about


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A criterion of one graded answer."""

    criterion: CriterionResult
    answer: str
    met: bool
    decided: bool


Key = tuple[str, str, str]
"""File, case and evaluator."""


def criteria(reports: Sequence[RunReport]) -> Iterator[CriterionRecord]:
    """Yield the criteria of reports, the oldest first; with the text that the newest one has."""
    seen: dict[Key, dict[str, list[_Seen]]] = {}
    for report in reports:
        thresholds = Thresholds(passing=report.gate.passing, borderline=report.gate.borderline)
        for case in report.cases:
            if isinstance(case, Graded):
                _see(case, thresholds, seen)
    for key, found in seen.items():
        newest = {name: _of_newest(each) for name, each in found.items()}
        for name, each in newest.items():
            yield _record(key, name, each, newest)


def idle(record: CriterionRecord) -> bool:
    """Return True if the verdict of each of at least `FEWEST` answers is the same without it."""
    return record.answers >= FEWEST and record.decided == 0


def text(records: Iterable[CriterionRecord]) -> str:
    """Return a line per criterion, those that decided least first, and what to do."""
    every = sorted(records, key=lambda r: (r.decided / r.answers, -r.answers, r.file, r.line))
    lines = [_line(each) for each in every]
    idlers = [each for each in every if idle(each)]
    if idlers:
        lines.append("")
        lines.append(
            f"{numbers.plural(len(idlers), 'criterion', 'criteria')} of {len(every):,} decided no "
            "verdict: each past verdict was computed again without the criterion and is the same. "
            "That holds for each alone, not for all of them together."
        )
    return "\n".join(lines)


def _see(case: Graded, thresholds: Thresholds, seen: dict[Key, dict[str, list[_Seen]]]) -> None:
    for evaluator in case.evaluators:
        if not isinstance(evaluator, Assessed) or not evaluator.criteria:
            continue
        own = seen.setdefault((case.file, case.id, evaluator.name), {})
        for criterion in evaluator.criteria:
            without = verdict_without(case.evaluators, {criterion.id}, thresholds)
            own.setdefault(criterion.id, []).append(
                _Seen(
                    criterion=criterion,
                    answer=identity(case),
                    met=not is_missed(criterion, thresholds),
                    decided=without != case.verdict,
                )
            )


def _of_newest(found: Sequence[_Seen]) -> list[_Seen]:
    """Return the marks of the criterion with the text that it has now."""
    newest = found[-1].criterion
    return [
        each
        for each in found
        if (each.criterion.written, each.criterion.kind) == (newest.written, newest.kind)
    ]


def _record(
    key: Key, name: str, found: Sequence[_Seen], every: dict[str, list[_Seen]]
) -> CriterionRecord:
    newest = found[-1].criterion
    words = sum(len(each.criterion.reasoning) + len(each.criterion.evidence) for each in found)
    return CriterionRecord(
        file=key[0],
        case=key[1],
        evaluator=key[2],
        id=name,
        line=newest.line,
        answers=len(found),
        met=sum(each.met for each in found),
        decided=sum(each.decided for each in found),
        flips=_flips(found),
        like=_like(name, found, every),
        tokens=round(words / CHARACTERS / len(found)),
    )


def _flips(found: Sequence[_Seen]) -> int:
    last: dict[str, MarkValue] = {}
    flips = 0
    for each in found:
        mark = each.criterion.mark
        flips += each.answer in last and last[each.answer] != mark
        last[each.answer] = mark
    return flips


def _like(
    name: str, found: Sequence[_Seen], every: dict[str, list[_Seen]]
) -> tuple[str, int] | None:
    """Return the criterion that was met and missed on the same answers; both must have occurred."""
    own = [each.met for each in found]
    if len(own) < FEWEST or len(set(own)) < 2:
        return None
    for other, marks in every.items():
        if other != name and [each.met for each in marks] == own:
            return other, len(own)
    return None


def _line(each: CriterionRecord) -> str:
    notes = [f"decided {each.decided} of {each.answers}", f"met {each.met}"]
    if each.flips:
        notes.append(f"other mark for an equal answer {each.flips} times")
    if each.like:
        notes.append(f"always as `{each.like[0]}`")
    if each.tokens:
        notes.append(f"about {numbers.plural(each.tokens, 'token')} of the judge's reply")
    return log_line(f"{each.file}:{each.line}: {each.case}/{each.id}: {', '.join(notes)}")
