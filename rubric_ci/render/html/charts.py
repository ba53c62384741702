"""The charts of the page as rectangles: the distribution of verdicts and of scores."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.results import Graded
from rubric_ci.render import wording
from rubric_ci.render.wording import CaseStatus
from rubric_ci.text import numbers

BINS: Final = 20  # of scores from 0 to 1
_HEIGHT: Final = 100
_GAP: Final = 0.12  # between two bars, of a bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    """A rectangle in the colour of a verdict."""

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
    """Return how many cases have which score, by what they count as."""
    counts = Counter((bin_of(case.score), wording.status(case)) for case in cases)
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
