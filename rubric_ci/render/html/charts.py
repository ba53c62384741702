"""The charts of the page as inline SVG: the distribution of verdicts and of scores."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rubric_ci.model.results import Graded
from rubric_ci.render import wording
from rubric_ci.render.wording import CaseStatus
from rubric_ci.text import numbers

BINS: Final = 20  # of scores from 0 to 1
_HEIGHT: Final = 100
_GAP: Final = 0.12  # between two bars, of a bar


def bar(counts: Sequence[tuple[CaseStatus, int, str]]) -> str:
    """Return one bar whose parts are the outcomes of the cases."""
    total = sum(number for _, number, _ in counts)
    parts, start = [], 0.0
    for kind, number, word in counts:
        width = 100 * number / total
        parts.append(_rect(kind, start, 0, width, 10, f"{number:,} {word}"))
        start += width
    label = ", ".join(f"{number:,} {word}" for _, number, word in counts)
    return _svg("bar", "0 0 100 10", label, parts)


def histogram(cases: Sequence[Graded]) -> str:
    """Return how many cases have which score, by what they count as."""
    counts = Counter((bin_of(case.score), wording.status(case)) for case in cases)
    sums = Counter(bin_of(case.score) for case in cases)
    scale = _HEIGHT / max(sums.values())
    parts = [rect for position in range(BINS) for rect in _column(position, counts, scale)]
    label = f"scores of {numbers.plural(len(cases), 'case')} from 0 to 1"
    axis = '<div class="axis" aria-hidden="true"><span>0</span><span>0.5</span><span>1</span></div>'
    return _svg("histogram", f"0 0 {BINS} {_HEIGHT}", label, parts) + axis


def bin_of(score: float) -> int:
    """Return the position of the bin of a score, from 0; a score of 1 is in the last one."""
    return min(int(score * BINS + 1e-9), BINS - 1)


def _column(position: int, counts: Counter[tuple[int, CaseStatus]], scale: float) -> list[str]:
    rects, top = [], float(_HEIGHT)
    between = f"{position / BINS:.2f} to {(position + 1) / BINS:.2f}"
    for kind in reversed(wording.STATUSES):
        if number := counts[position, kind]:
            height = number * scale
            top -= height
            about = f"{between}: {numbers.plural(number, 'case')}, {kind}"
            rects.append(_rect(kind, position + _GAP / 2, top, 1 - _GAP, height, about))
    return rects


def _rect(kind: str, x: float, y: float, width: float, height: float, about: str) -> str:
    place = f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"'
    return f'<rect class="{kind}" {place}><title>{about}</title></rect>'


def _svg(name: str, box: str, label: str, parts: Sequence[str]) -> str:
    opening = f'<svg class="{name}" viewBox="{box}" preserveAspectRatio="none" role="img"'
    return f'{opening} aria-label="{label}">{"".join(parts)}</svg>'
