"""The history as one self-contained HTML page: no script, no external files, light and dark.

No text is in the SVG of a chart, so that it is as large on a phone as on a desk. A run is one unit
wide; the height is 100 units, with 0 at the top.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from math import floor
from typing import Final

from rubric_ci.parts.lab import history_records
from rubric_ci.parts.lab.history_records import (
    ABSENT,
    LETTERS,
    JudgeChange,
    RunRecord,
    Strip,
    flips,
    judge_changes,
    strips,
)
from rubric_ci.reports import html_templates
from rubric_ci.reports.html_templates import case_anchor
from rubric_ci.text import escape, numbers
from rubric_ci.values.dataclass import dataclass

TITLE: Final = "rubric-ci history"
_LINK: Final = re.compile(r"https?://[^\s]+|(?![/\\]{2})[\w./\\-]+(?:[#?][^\s]*)?")
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
HEIGHT: Final = 100.0
MOST_SPANS: Final = 30  # of a strip, the latest, that name their day
DOTS_UP_TO: Final = 90  # runs; more dots would be one line
_SERIES: Final[Mapping[str, Callable[[RunRecord], float | None]]] = {
    "score": lambda record: record.score,
    "rate": lambda record: record.pass_rate,
}
"""The lines of the chart by their name, which is also their class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanView:
    """Runs in a row with one verdict; the link leads to the first, where it changed."""

    start: str
    width: str
    text: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StripView:
    """A case with its verdicts; `link` is "" without a page to link to."""

    id: str
    link: str
    about: str
    runs: str
    paths: tuple[tuple[str, str], ...]  # class and shape
    spans: tuple[SpanView, ...]


def render(records: Sequence[RunRecord], title: str = TITLE) -> str:
    """Return the page of at least one run, the oldest first."""
    hrefs = [record.link if _LINK.fullmatch(record.link) else "" for record in records]
    changes = judge_changes(records)
    found = strips(records)
    page = html_templates.template("history.html").render(
        style=html_templates.trusted(html_templates.style("base.css", "history.css")),
        title=title,
        tone=records[-1].verdict,
        facts=_facts(records),
        scores=lines(records, changes, hrefs),
        partial=_not_drawn(sum(not each.complete for each in records), "partial run", ""),
        changes=[(history_records.day(records[each.run]), each.text) for each in changes],
        costs=bars(records, hrefs) if any(each.cost_usd for each in records) else None,
        unknown=_not_drawn(
            sum(each.cost_usd is None for each in records), "run", " of unknown cost"
        ),
        tags=history_records.tags(records),
        inapplicable=history_records.inapplicable(records),
        case_count=numbers.plural(len(found), "case"),
        verdicts=_verdicts(found),
        days=_ends(records),
        strips=[_strip(each, records, hrefs) for each in found],
        run_count=numbers.plural(len(records), "run"),
        runs=[_cells(each, href) for each, href in zip(records, hrefs, strict=True)][::-1],
        tool=records[-1].tool,
    )
    return f"{page}\n"


def _facts(records: Sequence[RunRecord]) -> str:
    count, latest = numbers.plural(len(records), "run"), history_records.day(records[-1])
    return " · ".join((f"{count}, the latest {latest} UTC", *_figures(records[-1])[:3]))


def _figures(record: RunRecord) -> tuple[str, ...]:
    state, score, rate, cost = history_records.cells(record)
    return state, f"score {score}", f"pass rate {rate}", cost


def _not_drawn(count: int, what: str, which: str) -> str:
    return f"{numbers.plural(count, what)}{which} not drawn." if count else ""


def _verdicts(found: Sequence[Strip]) -> list[tuple[str, str]]:
    """Return the verdicts that the strips show, each with its words."""
    seen = {letter for strip in found for letter in strip.verdicts}
    words = [word for letter, word in LETTERS.items() if letter in seen]
    return [(word, "no verdict" if word == "errored" else word) for word in words]


def _strip(strip: Strip, records: Sequence[RunRecord], hrefs: Sequence[str]) -> StripView:
    (file, case), href = strip.key, hrefs[-1]
    anchor = f"#{case_anchor(file, case)}" if href.endswith(".html") else ""
    facts = [file, flips(strip), "" if strip.latest != ABSENT else "not in the latest run"]
    return StripView(
        id=case,
        link=f"{href}{anchor}" if href and strip.latest != ABSENT else "",
        about=" · ".join(fact for fact in facts if fact),
        runs=str(len(strip.verdicts)),
        paths=strip_paths(strip.verdicts),
        spans=tuple(_spans(strip.verdicts, records, hrefs))[-MOST_SPANS:],
    )


def _spans(verdicts: str, records: Sequence[RunRecord], hrefs: Sequence[str]) -> Iterator[SpanView]:
    """Yield the runs in a row with the same verdict: since when, and at which commit."""
    start = 0
    for letter, group in groupby(verdicts):
        length, record = sum(1 for _ in group), records[start]
        word = _CLASSES[letter] if letter != ABSENT else "not in the run"
        commit = f"commit {escape.commit(record.commit)}" if record.commit else ""
        since = f"{word} since {history_records.day(record)}"
        text = " · ".join(filter(None, [since, numbers.plural(length, "run"), commit]))
        yield SpanView(start=str(start), width=str(length), text=text, link=hrefs[start])
        start += length


def _commit_link(commit: str, href: str) -> str:
    """Return the address of a commit, from the address of its workflow run; empty: unknown."""
    repository, found, _ = href.partition("/actions/runs/")
    return f"{repository}/commit/{commit}" if found and _COMMIT.fullmatch(commit) else ""


def _cells(record: RunRecord, href: str) -> tuple[str, str, tuple[str, ...], str, str]:
    """Return day and address of a run, the cells of its row, and its commit with its address."""
    day, commit = history_records.day(record), escape.commit(record.commit)
    link = _commit_link(record.commit, href)
    return day, href, history_records.cells(record), commit, link


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A chart as `templates/history.html` draws it."""

    size: str  # a class: "low", or ""
    title: str
    labels: tuple[str, ...]  # of the vertical axis, the highest first
    runs: str
    paths: tuple[tuple[str, str], ...]  # class and shape
    hovers: tuple[tuple[str, str, str], ...]  # place, text and address of each run
    ends: tuple[str, ...]  # days of the first and the last run


def lines(
    records: Sequence[RunRecord], changes: Sequence[JudgeChange], hrefs: Sequence[str]
) -> Plot:
    """Return a chart of shares; partial runs are left out."""
    points = {
        name: [
            (n, share)
            for n, record in enumerate(records)
            if record.complete and (share := pick(record)) is not None
        ]
        for name, pick in _SERIES.items()
    }
    lowest = min((share for found in points.values() for _, share in found), default=0.0)
    bottom = min(0.9, floor(lowest * 10) / 10)  # the tenth below every value
    labels = [f"{share:.0%}".replace("%", " %") for share in (1, (1 + bottom) / 2, bottom)]
    paths: list[tuple[str, str]] = []
    for name, found in points.items():
        places = [
            (n, f"{n + 0.5:g} {HEIGHT * (1 - share) / (1 - bottom):.1f}") for n, share in found
        ]
        # A missing run ends a line: there the run's number gets ahead of the point's.
        for _, group in groupby(enumerate(places), key=lambda pair: pair[1][0] - pair[0]):
            paths.append((f"line {name}", "M" + "L".join(place for _, (_, place) in group)))
        if len(records) <= DOTS_UP_TO:
            paths.append((f"dots {name}", "".join(f"M{place}h0" for _, place in places)))
    paths += (("mark", f"M{change.run} 0V100") for change in changes)
    return _plot(records, hrefs, "Score and pass rate over time", labels, paths)


def bars(records: Sequence[RunRecord], hrefs: Sequence[str]) -> Plot:
    """Return a chart of the cost per run; runs of unknown cost have no bar."""
    costs = [record.cost_usd or 0.0 for record in records]
    top = max(costs)
    labels = [numbers.dollars(share * top) for share in (1, 0.5, 0)]
    tall = [(n, HEIGHT * (1 - cost / top)) for n, cost in enumerate(costs) if cost]
    shapes = "".join(f"M{n + 0.1:.1f} 100V{y:.1f}h.8V100z" for n, y in tall)
    title = "Cost per run in US dollars"
    return _plot(records, hrefs, title, labels, [("bar", shapes)], size="low")


def _plot(
    records: Sequence[RunRecord],
    hrefs: Sequence[str],
    title: str,
    labels: Sequence[str],
    paths: Sequence[tuple[str, str]],
    *,
    size: str = "",
) -> Plot:
    titles = [f"{history_records.day(each)}: {' · '.join(_figures(each))}" for each in records]
    return Plot(
        size=size,
        title=title,
        labels=tuple(labels),
        runs=str(len(records)),
        paths=tuple(paths),
        hovers=tuple(zip(map(str, range(len(records))), titles, hrefs, strict=True)),
        ends=_ends(records),
    )


def _ends(records: Sequence[RunRecord]) -> tuple[str, ...]:
    return tuple(history_records.day(record)[:10] for record in (records[0], *records[1:][-1:]))


_CLASSES = {**LETTERS, ABSENT: "absent"}


def strip_paths(verdicts: str) -> tuple[tuple[str, str], ...]:
    """Return class and shape of each verdict; the most frequent one is drawn once, below all."""
    ground = Counter(verdicts).most_common(1)[0][0]
    others = sorted(set(verdicts) - {ground})
    # Relative moves are shorter.
    shapes = ((_CLASSES[one], "M0 .5" + "".join(_segments(verdicts, one))) for one in others)
    return ((_CLASSES[ground], f"M0 .5h{len(verdicts)}"), *shapes)


def _segments(verdicts: str, letter: str) -> Iterator[str]:
    gap = 0
    for found, group in groupby(verdicts):
        length = sum(1 for _ in group)
        if found == letter:
            yield f"m{gap} 0h{length}"
            gap = 0
        else:
            gap += length
