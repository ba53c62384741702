"""Charts of the history as inline SVG that stretches to the width of the page.

No text is in the SVG, so that it is as large on a phone as on a desk. A run is one unit wide; the
height is 100 units, with 0 at the top.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import floor
from typing import Final

from rubric_ci.history import runs_text
from rubric_ci.history.record import Interval, RunRecord
from rubric_ci.history.trends import JudgeChange
from rubric_ci.text import numbers
from rubric_ci.text.escape import html

HEIGHT: Final = 100.0
DOTS_UP_TO: Final = 90  # runs; more dots would be one line

Pick = Callable[[RunRecord], Interval | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A line with its band of intervals."""

    name: str  # also its class
    pick: Pick


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    run: int
    value: float
    low: float
    high: float


def lines(
    records: Sequence[RunRecord],
    series: Sequence[Series],
    changes: Sequence[JudgeChange],
    hrefs: Sequence[str],
) -> Iterator[str]:
    """Yield a chart of shares with their intervals; partial runs are left out."""
    points = {each.name: list(_points(records, each.pick)) for each in series}
    bottom = _bottom(p.low for found in points.values() for p in found)
    labels = [f"{share:.0%}".replace("%", " %") for share in (1, (1 + bottom) / 2, bottom)]
    yield from _open(labels, len(records), "Score and pass rate over time")
    for name, found in points.items():
        for run in _unbroken(found):
            yield f'<path class="band {name}" d="{_band(run, bottom)}"/>'
            yield f'<path class="line {name}" d="{_line(run, bottom)}"/>'
        if len(records) <= DOTS_UP_TO:
            yield f'<path class="dots {name}" d="{_dots(found, bottom)}"/>'
    for change in changes:
        yield f'<path class="mark" d="M{change.run} 0V100"/>'
    yield from _hovers(records, hrefs)
    yield from _close(records)


def bars(records: Sequence[RunRecord], hrefs: Sequence[str]) -> Iterator[str]:
    """Yield a chart of the cost per run; runs of unknown cost have no bar."""
    costs = [record.cost_usd or 0.0 for record in records]
    top = max(costs)
    labels = [numbers.dollars(share * top) for share in (1, 0.5, 0)]
    yield from _open(labels, len(records), "Cost per run in US dollars", " low")
    tall = [(n, HEIGHT * (1 - cost / top)) for n, cost in enumerate(costs) if cost]
    shapes = "".join(f"M{n + 0.1:.1f} 100V{y:.1f}h.8V100z" for n, y in tall)
    yield f'<path class="bar" d="{shapes}"/>'
    yield from _hovers(records, hrefs)
    yield from _close(records)


def _open(labels: Sequence[str], runs: int, title: str, size: str = "") -> Iterator[str]:
    yield f'<div class="plot{size}"><div class="y">'
    yield from (f"<span>{label}</span>" for label in labels)
    yield f'</div><svg viewBox="0 0 {runs} 100" preserveAspectRatio="none" role="img"'
    yield f' aria-label="{title}"><path class="grid" d="M0 0H{runs}M0 50H{runs}M0 100H{runs}"/>'


def _close(records: Sequence[RunRecord]) -> Iterator[str]:
    yield '</svg></div><div class="x">'
    yield f"<span>{html(runs_text.day(records[0])[:10])}</span>"
    if len(records) > 1:
        yield f"<span>{html(runs_text.day(records[-1])[:10])}</span>"
    yield "</div>"


def _hovers(records: Sequence[RunRecord], hrefs: Sequence[str]) -> Iterator[str]:
    for n, (record, href) in enumerate(zip(records, hrefs, strict=True)):
        rect = f'<rect x="{n}" width="1" height="100"><title>{_title(record)}</title></rect>'
        yield f'<a href="{href}">{rect}</a>' if href else rect


def _title(record: RunRecord) -> str:
    facts = [
        f"{runs_text.day(record)}: {runs_text.state(record)}",
        f"score {runs_text.score(record.score)}",
        f"pass rate {runs_text.rate(record.pass_rate)}",
        runs_text.cost(record),
    ]
    return html(" · ".join(facts))


def _points(records: Sequence[RunRecord], pick: Pick) -> Iterator[_Point]:
    for n, record in enumerate(records):
        found = pick(record) if record.complete else None
        if found:
            low = found.value if found.low is None else found.low
            high = found.value if found.high is None else found.high
            yield _Point(run=n, value=found.value, low=low, high=high)


def _bottom(lows: Iterator[float]) -> float:
    """Return the tenth below every interval, 0.9 at most."""
    return min(0.9, floor(min(lows, default=0.0) * 10) / 10)


def _unbroken(points: Sequence[_Point]) -> Iterator[list[_Point]]:
    """Yield the points without a missing run between them."""
    numbered = enumerate(points)
    for _, group in groupby(numbered, key=lambda pair: pair[1].run - pair[0]):
        yield [point for _, point in group]


def _place(run: int, value: float, bottom: float) -> str:
    return f"{run + 0.5:g} {HEIGHT * (1 - value) / (1 - bottom):.1f}"


def _line(points: Sequence[_Point], bottom: float) -> str:
    return "M" + "L".join(_place(p.run, p.value, bottom) for p in points)


def _band(points: Sequence[_Point], bottom: float) -> str:
    upper = [_place(p.run, p.high, bottom) for p in points]
    lower = [_place(p.run, p.low, bottom) for p in reversed(points)]
    return f"M{'L'.join([*upper, *lower])}z"


def _dots(points: Sequence[_Point], bottom: float) -> str:
    return "".join(f"M{_place(p.run, p.value, bottom)}h0" for p in points)
