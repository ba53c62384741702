"""The trends of a history for a terminal."""

from collections.abc import Iterator, Sequence
from typing import Final

from rubric_ci.history import runs_text
from rubric_ci.history.record import RunRecord
from rubric_ci.history.trends import Strip, judge_changes, strips
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line

SIGNS: Final = {"p": "█", "b": "▓", "f": "_", "w": "w", "e": "?", "s": " ", "-": " "}
LEGEND: Final = "█ pass  ▓ borderline  _ fail  w waived  ? no verdict"
MOST_CASES: Final = 20

_HEAD: Final = ("started (UTC)", "verdict", "score", "pass rate", "cost")


def render(records: Sequence[RunRecord]) -> str:
    """Return the runs as a table, the changes of the judge, and the cases without a steady pass."""
    return "\n".join(_lines(records)) + "\n"


def _lines(records: Sequence[RunRecord]) -> Iterator[str]:
    rows = [_HEAD, *map(_row, records)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(_HEAD))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
    for change in judge_changes(records):
        yield ""
        yield log_line(f"judge changed at {runs_text.day(records[change.run])}: {change.text}")
    yield from _cases(strips(records))


def _row(record: RunRecord) -> tuple[str, ...]:
    return (
        runs_text.day(record),
        runs_text.state(record),
        runs_text.score(record.score),
        runs_text.rate(record.pass_rate),
        runs_text.cost(record),
    )


def _cases(every: Sequence[Strip]) -> Iterator[str]:
    unsteady = [strip for strip in every if set(strip.verdicts) - set("ps-") or strip.mixed]
    if not unsteady:
        return
    yield ""
    yield f"cases without a steady pass, the oldest run on the left:  {LEGEND}"
    for strip in unsteady[:MOST_CASES]:
        signs = "".join(SIGNS[letter] for letter in strip.verdicts)
        name = log_line(f"{strip.key[0]}: {strip.key[1]}")
        yield f"{signs}  {name}  {flips(strip)}".rstrip()
    if more := len(unsteady[MOST_CASES:]):
        yield f"and {numbers.plural(more, 'more case')}: `rubric-ci history page` shows all"


def flips(strip: Strip) -> str:
    """Return how unsteady a case is, in a few words; empty: its verdict never changed."""
    parts = [
        numbers.plural(strip.flips, "flip") if strip.flips else "",
        f"{numbers.plural(strip.mixed, 'run')} with mixed trials" if strip.mixed else "",
    ]
    return ", ".join(part for part in parts if part)
