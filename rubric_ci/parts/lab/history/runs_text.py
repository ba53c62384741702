"""Words and numbers of a run for page and badge, a badge as SVG, trends for a terminal."""

from collections.abc import Iterator, Sequence
from typing import Final

from rubric_ci.parts.lab.history.from_report import rate_interval
from rubric_ci.parts.lab.history.record import Interval, RunRecord
from rubric_ci.parts.lab.history.trends import Strip, judge_changes, same_commit, strips
from rubric_ci.reports.render.palette import COLOURS
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line, xml

GREY: Final = COLOURS["skipped"].light
_WIDTH: Final = 6.6  # of a character at 11 px; `textLength` makes the text fit it


def percent(value: float) -> str:
    """Return a share as a whole percentage; 100 % and 0 % only if exact."""
    whole = round(value * 100)
    if whole in {0, 100} and value not in {0.0, 1.0}:
        whole = 1 if whole == 0 else 99
    return f"{whole} %"


def rate(interval: Interval | None) -> str:
    """Return a pass rate with its interval."""
    if interval is None:
        return "-"
    if interval.low is None or interval.high is None:
        return percent(interval.value)
    return (
        f"{percent(interval.value)} ({round(interval.low * 100)} to {round(interval.high * 100)})"
    )


def score(interval: Interval | None) -> str:
    """Return a mean score with its interval."""
    if interval is None:
        return "-"
    if interval.low is None or interval.high is None:
        return f"{interval.value:.2f}"
    return f"{interval.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def cost(record: RunRecord) -> str:
    """Return the cost of a run; an unknown one is never $0."""
    if not record.calls:
        return "no calls"
    return "unknown" if record.cost_usd is None else numbers.dollars(record.cost_usd)


def state(record: RunRecord) -> str:
    """Return the verdict, and what limits or adds to it."""
    facts = [
        record.verdict,
        "" if record.gate_passes else "gate fails",
        "worse" if record.worse else "",
        "judge moved" if record.judge_moved else "",
        "" if record.complete else "partial",
    ]
    return ", ".join(fact for fact in facts if fact)


def day(record: RunRecord) -> str:
    """Return date and minute of the start, UTC."""
    return record.started_at[:16].replace("T", " ")


SIGNS: Final = {"p": "█", "b": "▓", "f": "_", "w": "w", "e": "?", "s": " ", "-": " "}
LEGEND: Final = "█ pass  ▓ borderline  _ fail  w waived  ? no verdict"
MOST_CASES: Final = 20
_HEAD: Final = ("started (UTC)", "verdict", "score", "pass rate", "cost")


def trends(records: Sequence[RunRecord]) -> str:
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
        yield log_line(f"judge changed at {day(records[change.run])}: {change.text}")
    yield from _without_a_change(records)
    yield from _cases(strips(records))


def _without_a_change(records: Sequence[RunRecord]) -> Iterator[str]:
    """Yield how often the gate is red by chance: a comparison of each commit with itself."""
    pairs = list(same_commit(records))
    if pairs:
        worse = _times([worse for _, worse in pairs])
        red = _times([red for red, _ in pairs if red is not None])
        yield ""
        yield f"pairs of runs of one commit: a case was worse in {worse}, which further trials of"
        yield f"`run --against` confirm or not; the gate turned red in {red}"


def _times(found: Sequence[bool]) -> str:
    if not found:
        return "0 of 0"
    share = rate_interval([[float(each)] for each in found])
    return f"{sum(found)} of {len(found)} ({share.low:.2f} to {share.high:.2f})"


def _row(record: RunRecord) -> tuple[str, ...]:
    return (
        day(record),
        state(record),
        score(record.score),
        rate(record.pass_rate),
        cost(record),
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


def render(records: Sequence[RunRecord], label: str = "evals") -> str:
    """Return the badge of the latest complete run; "no runs" without one."""
    latest = next((record for record in reversed(records) if record.complete), None)
    message, colour = _message(latest) if latest else ("no runs", GREY)
    left, right = (len(text) * _WIDTH + 12 for text in (label, message))
    title = xml(f"{label}: {message}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:.0f}" height="20"'
        f' role="img" aria-label="{title}"><title>{title}</title>'
        f'<clipPath id="r"><rect width="{left + right:.0f}" height="20" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{left:.1f}" height="20" fill="#32383f"/>'
        f'<rect x="{left:.1f}" width="{right:.1f}" height="20" fill="{colour}"/></g>'
        '<g fill="#fff" text-anchor="middle" font-size="11"'
        ' font-family="Verdana,Geneva,DejaVu Sans,sans-serif">'
        f"{_text(label, left / 2)}{_text(message, left + right / 2)}</g></svg>\n"
    )


def _message(record: RunRecord) -> tuple[str, str]:
    colour = _colour(record)
    if record.pass_rate is None:
        return record.verdict, colour
    rate = f"{percent(record.pass_rate.value)} pass"
    return (f"{rate}, no verdict for some" if record.verdict == "error" else rate), colour


def _colour(record: RunRecord) -> str:
    """Return the colour of the gate's result."""
    if record.pass_rate is None and record.verdict != "error":
        return GREY
    if record.gate_passes:
        return COLOURS["pass"].light
    return COLOURS["errored" if record.verdict == "error" else "fail"].light


def _text(text: str, middle: float) -> str:
    return f'<text x="{middle:.1f}" y="14" textLength="{len(text) * _WIDTH:.1f}">{xml(text)}</text>'
