"""The history as one self-contained HTML page: no script, no external files, light and dark."""

import re
from collections.abc import Sequence
from typing import Final

from rubric_ci.history import chart, runs_text
from rubric_ci.history.chart import Series
from rubric_ci.history.record import LETTERS, RunRecord
from rubric_ci.history.runs_text import flips
from rubric_ci.history.trends import ABSENT, Strip, judge_changes, strips
from rubric_ci.model.dataclass import dataclass
from rubric_ci.render.html import jinja
from rubric_ci.render.html.anchors import case_anchor
from rubric_ci.statistics.significance import PERCENT
from rubric_ci.text import escape, numbers

TITLE: Final = "rubric-ci history"

_SERIES: Final = (
    Series(name="score", pick=lambda record: record.score),
    Series(name="rate", pick=lambda record: record.pass_rate),
)
_LINK: Final = re.compile(r"https?://[^\s]+|(?![/\\]{2})[\w./\\-]+(?:[#?][^\s]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class StripView:
    """A case with its verdicts; `link` is "" without a page to link to."""

    id: str
    link: str
    about: str
    runs: str
    paths: tuple[tuple[str, str], ...]  # class and shape


def render(records: Sequence[RunRecord], title: str = TITLE) -> str:
    """Return the page of at least one run, the oldest first."""
    hrefs = [record.link if _LINK.fullmatch(record.link) else "" for record in records]
    changes = judge_changes(records)
    found = strips(records)
    page = jinja.template("history.html").render(
        style=jinja.trusted(jinja.style("base.css", "history.css")),
        title=title,
        tone=records[-1].verdict,
        facts=_facts(records),
        scores=chart.lines(records, _SERIES, changes, hrefs),
        partial=_not_drawn(sum(not each.complete for each in records), "partial run", ""),
        confidence=PERCENT,
        changes=[(runs_text.day(records[each.run]), each.text) for each in changes],
        costs=chart.bars(records, hrefs) if any(each.cost_usd for each in records) else None,
        unknown=_not_drawn(
            sum(each.cost_usd is None for each in records), "run", " of unknown cost"
        ),
        case_count=numbers.plural(len(found), "case"),
        verdicts=_verdicts(found),
        # At most a run per 14 pixels: a few runs do not fill the width.
        strip_width=str(len(records) * 14) if len(records) < 60 else "",
        strips=[_strip(each, hrefs[-1]) for each in found],
        run_count=numbers.plural(len(records), "run"),
        runs=[_cells(each, href) for each, href in zip(records, hrefs, strict=True)][::-1],
        tool=records[-1].tool,
    )
    return f"{page}\n"


def _facts(records: Sequence[RunRecord]) -> str:
    latest = records[-1]
    facts = [
        f"{numbers.plural(len(records), 'run')}, the latest {runs_text.day(latest)} UTC",
        runs_text.state(latest),
        f"score {runs_text.score(latest.score)}",
        f"pass rate {runs_text.rate(latest.pass_rate)}",
    ]
    return " · ".join(facts)


def _not_drawn(count: int, what: str, which: str) -> str:
    return f"{numbers.plural(count, what)}{which} not drawn." if count else ""


def _verdicts(found: Sequence[Strip]) -> list[tuple[str, str]]:
    """Return the verdicts that the strips show, each with its words."""
    seen = {letter for strip in found for letter in strip.verdicts}
    words = [word for letter, word in LETTERS.items() if letter in seen]
    return [(word, "no verdict" if word == "errored" else word) for word in words]


def _strip(strip: Strip, href: str) -> StripView:
    file, case = strip.key
    anchor = f"#{case_anchor(file, case)}" if href.endswith(".html") else ""
    facts = [file, flips(strip), "" if strip.latest != ABSENT else "not in the latest run"]
    return StripView(
        id=case,
        link=f"{href}{anchor}" if href and strip.latest != ABSENT else "",
        about=" · ".join(fact for fact in facts if fact),
        runs=str(len(strip.verdicts)),
        paths=chart.strip(strip.verdicts),
    )


def _cells(record: RunRecord, href: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the day of a run, its address, and the other cells of its row."""
    cells = (
        runs_text.state(record),
        runs_text.score(record.score),
        runs_text.rate(record.pass_rate),
        runs_text.cost(record),
        escape.commit(record.commit),
    )
    return runs_text.day(record), href, cells
