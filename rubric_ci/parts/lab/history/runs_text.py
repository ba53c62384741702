"""Words and numbers of a run for the page, and trends for a terminal."""

from collections.abc import Iterator, Sequence
from typing import Final

from rubric_ci.parts.lab.history.record import RunRecord
from rubric_ci.parts.lab.history.trends import Strip, judge_changes, strips
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line


def percent(value: float) -> str:
    """Return a share as a whole percentage; 100 % and 0 % only if exact."""
    whole = round(value * 100)
    if whole in {0, 100} and value not in {0.0, 1.0}:
        whole = 1 if whole == 0 else 99
    return f"{whole} %"


def rate(share: float | None) -> str:
    """Return a pass rate."""
    return "-" if share is None else percent(share)


def score(mean: float | None) -> str:
    """Return a mean score."""
    return "-" if mean is None else f"{mean:.2f}"


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
MOST_SCORES: Final = 10  # of a tag, the latest
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
    for title, found in (
        ("tags of criteria, the oldest run on the left", tags(records)),
        ("criteria with a condition, answers to which they do not apply", inapplicable(records)),
    ):
        if found:
            yield from ("", title)
            yield from (log_line(f"{name}: {values}") for name, values in found)
    yield from _cases(strips(records))


def tags(records: Sequence[RunRecord]) -> list[tuple[str, str]]:
    """Return the scores of each tag of criteria in the last runs; below two tags none."""
    names = sorted({name for record in records for name in record.tags})
    latest = records[-MOST_SCORES:]
    rows = [(name, [score(record.tags.get(name)) for record in latest]) for name in names]
    return [(name, " → ".join(scores)) for name, scores in rows] if len(names) > 1 else []


def inapplicable(records: Sequence[RunRecord]) -> list[tuple[str, str]]:
    """Return for each criterion with a condition in how many answers it did not apply."""
    found: dict[str, list[tuple[int, int]]] = {}
    for record in records:
        for name, counts in record.inapplicable.items():
            found.setdefault(name, []).append(counts)
    sums = {name: [sum(each) for each in zip(*rows, strict=True)] for name, rows in found.items()}
    return [
        (name, f"{part:,} of {whole:,} ({percent(part / whole)})")
        for name, (part, whole) in sorted(sums.items())
        if whole
    ]


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
