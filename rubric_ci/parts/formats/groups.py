"""The criteria and the eval files of a report, each with its cases counted."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, TypeAlias

from rubric_ci.reports import wording
from rubric_ci.reports.html_templates import shared_criterion_anchor
from rubric_ci.reports.wording import CaseStatus
from rubric_ci.text import numbers
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport, usage_of_sides
from rubric_ci.values.results import Assessed, CaseResult, CriterionResult, Graded, with_verdict

Judged: TypeAlias = tuple[Assessed, CriterionResult]
BINS: Final = 20  # of scores from 0 to 1
_HEIGHT: Final = 100
_GAP: Final = 0.12  # between two bars, of a bar


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionGroup:
    """A criterion over all cases that have it: same id, same text."""

    id: str
    text: str
    cases: int
    missed: int
    mean: float  # of the normalised marks

    @property
    def anchor(self) -> str:
        """The anchor of its row, which is also its name in a filter."""
        return shared_criterion_anchor(self.id, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroup:
    file: str
    counts: Mapping[CaseStatus, int]
    mean: float | None  # None: no graded case
    cost_usd: float


def criteria_of(case: CaseResult) -> Iterator[Judged]:
    """Yield the criteria of a case that have a mark, each with its evaluator."""
    for evaluator in case.evaluators:
        if isinstance(evaluator, Assessed):
            yield from ((evaluator, criterion) for criterion in evaluator.criteria)


def criterion_groups(report: RunReport) -> list[CriterionGroup]:
    """Return the criteria of all cases, those that are missed most first."""
    marks: dict[tuple[str, str], list[Judged]] = {}
    for case in report.cases:
        for judged in criteria_of(case):
            marks.setdefault((judged[1].id, judged[1].written), []).append(judged)
    groups = [_group(name, text, each, report) for (name, text), each in marks.items()]
    return sorted(groups, key=lambda group: (-group.missed, group.mean))


def file_groups(report: RunReport) -> list[FileGroup]:
    """Return the eval files, those with the most cases without a pass first."""
    by_file = sorted(report.cases, key=lambda case: case.file)
    groups = [_file(name, [*cases]) for name, cases in groupby(by_file, lambda case: case.file)]
    return sorted(groups, key=lambda group: [-group.counts[each] for each in wording.STATUSES[:3]])


def is_missed(judged: Judged, report: RunReport) -> bool:
    evaluator, criterion = judged
    return evaluator.weight > 0 and criterion.is_missed(report.gate.passing)


def _group(name: str, text: str, marks: list[Judged], report: RunReport) -> CriterionGroup:
    values = [criterion.normalised for _, criterion in marks if criterion.applies]
    return CriterionGroup(
        id=name,
        text=text,
        cases=len(marks),
        missed=sum(is_missed(each, report) for each in marks),
        mean=sum(values) / len(values) if values else 0.0,
    )


def _file(name: str, cases: list[CaseResult]) -> FileGroup:
    scores = [case.score for case in with_verdict(cases)]
    return FileGroup(
        file=name,
        counts=Counter(case.status for case in cases),
        mean=sum(scores) / len(scores) if scores else None,
        cost_usd=sum(usage_of_sides(case).cost_usd for case in cases),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    kind: CaseStatus
    x: str
    y: str
    width: str
    height: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A picture of rectangles that stretches to the width of its place."""

    name: str
    box: str  # of an SVG
    label: str
    rects: tuple[Rect, ...]


def bar(counts: Sequence[tuple[CaseStatus, int, str]]) -> Chart:
    """Return one bar whose parts are the outcomes of the cases."""
    total = sum(number for _, number, _ in counts)
    rects, start = [], 0.0
    for kind, number, word in counts:
        width = 100 * number / total
        rects.append(_rect(kind, start, 0, width, 10, f"{number:,} {word}"))
        start += width
    label = ", ".join(f"{number:,} {word}" for _, number, word in counts)
    return Chart(name="bar", box="0 0 100 10", label=label, rects=(*rects,))


def histogram(cases: Sequence[Graded]) -> Chart:
    """Return how many cases have which score, by their verdict."""
    counts = Counter[tuple[int, CaseStatus]]((bin_of(case.score), case.status) for case in cases)
    sums = Counter(bin_of(case.score) for case in cases)
    scale = _HEIGHT / max(sums.values())
    rects = (rect for position in range(BINS) for rect in _column(position, counts, scale))
    label = f"scores of {numbers.plural(len(cases), 'case')} from 0 to 1"
    return Chart(name="histogram", box=f"0 0 {BINS} {_HEIGHT}", label=label, rects=(*rects,))


def bin_of(score: float) -> int:
    """Return the position of the bin of a score, from 0; a score of 1 is in the last one."""
    return min(int(score * BINS + 1e-9), BINS - 1)


def _column(position: int, counts: Counter[tuple[int, CaseStatus]], scale: float) -> Iterator[Rect]:
    top = float(_HEIGHT)
    between = f"{position / BINS:.2f} to {(position + 1) / BINS:.2f}"
    for kind in reversed(wording.STATUSES):
        if number := counts[position, kind]:
            height = number * scale
            top -= height
            about = f"{between}: {numbers.plural(number, 'case')}, {kind}"
            yield _rect(kind, position + _GAP / 2, top, 1 - _GAP, height, about)


def _rect(kind: CaseStatus, x: float, y: float, width: float, height: float, about: str) -> Rect:
    places = (f"{each:.2f}" for each in (x, y, width, height))
    left, top, wide, high = places
    return Rect(kind=kind, x=left, y=top, width=wide, height=high, about=about)
