"""The history as one self-contained HTML page: no script, no external files, light and dark."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rubric_ci.history import chart, runs_text, strip_svg
from rubric_ci.history.chart import Series
from rubric_ci.history.record import LETTERS, RunRecord
from rubric_ci.history.terminal import flips
from rubric_ci.history.trends import ABSENT, JudgeChange, Strip, judge_changes, strips
from rubric_ci.render.html import jinja
from rubric_ci.render.html.anchors import case_anchor
from rubric_ci.text import escape, numbers
from rubric_ci.text.escape import html

TITLE: Final = "rubric-ci history"

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_SERIES: Final = (
    Series(name="score", pick=lambda record: record.score),
    Series(name="rate", pick=lambda record: record.pass_rate),
)
_LINK: Final = re.compile(r"https?://[^\s]+|(?![/\\]{2})[\w./\\-]+(?:[#?][^\s]*)?")


def render(records: Sequence[RunRecord], title: str = TITLE) -> str:
    """Return the page of at least one run, the oldest first."""
    hrefs = [html(record.link) if _LINK.fullmatch(record.link) else "" for record in records]
    changes = judge_changes(records)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            f"<title>{html(title)}</title>",
            f"<style>{jinja.style('base.css', 'history.css')}</style></head><body><main>",
            *_head(records, title),
            *_scores(records, changes, hrefs),
            *_costs(records, hrefs),
            *_strips(records, hrefs),
            *_runs(records, hrefs),
            f"<footer>{html(records[-1].tool)}</footer>",
            "</main></body></html>",
            "",
        ]
    )


def _head(records: Sequence[RunRecord], title: str) -> Iterator[str]:
    latest = records[-1]
    facts = [
        f"{numbers.plural(len(records), 'run')}, the latest {runs_text.day(latest)} UTC",
        runs_text.state(latest),
        f"score {runs_text.score(latest.score)}",
        f"pass rate {runs_text.rate(latest.pass_rate)}",
    ]
    yield f'<header class="{latest.verdict}"><h1>{html(title)}</h1>'
    yield f"<p>{html(' · '.join(facts))}</p></header>"


def _scores(
    records: Sequence[RunRecord], changes: Sequence[JudgeChange], hrefs: Sequence[str]
) -> Iterator[str]:
    yield "<h2>Score and pass rate</h2>"
    yield '<div class="keys"><span class="score"><i class="key"></i>mean score</span>'
    yield '<span class="rate"><i class="key"></i>pass rate</span>'
    yield "<span>bands: 95 % intervals over the cases</span></div>"
    yield from chart.lines(records, _SERIES, changes, hrefs)
    if partial := sum(not record.complete for record in records):
        yield f'<p class="note">{numbers.plural(partial, "partial run")} not drawn.</p>'
    if changes:
        yield '<p class="note">Dotted lines: the judge changed.</p><ul>'
        for change in changes:
            yield f"<li>{runs_text.day(records[change.run])}: {html(change.text)}</li>"
        yield "</ul>"


def _costs(records: Sequence[RunRecord], hrefs: Sequence[str]) -> Iterator[str]:
    if not any(record.cost_usd for record in records):
        return
    yield "<h2>Cost</h2>"
    yield from chart.bars(records, hrefs)
    if unknown := sum(record.cost_usd is None for record in records):
        yield f'<p class="note">{numbers.plural(unknown, "run")} of unknown cost not drawn.</p>'


def _strips(records: Sequence[RunRecord], hrefs: Sequence[str]) -> Iterator[str]:
    every = strips(records)
    seen = {letter for strip in every for letter in strip.verdicts}
    yield f"<h2>{numbers.plural(len(every), 'case')}</h2>"
    yield '<p class="note">Verdicts, the oldest run on the left; what needs attention first.</p>'
    yield '<div class="keys">'
    for letter, word in LETTERS.items():
        if letter in seen:
            shown = "no verdict" if word == "errored" else word
            yield f'<span class="{word}"><i class="key"></i>{shown}</span>'
    yield '</div><div class="strips">'
    # At most a run per 14 pixels: a few runs do not fill the width.
    width = f' style="max-width:{len(records) * 14}px"' if len(records) < 60 else ""
    for strip in every:
        yield _strip(strip, hrefs[-1], width)
    yield "</div>"


def _strip(strip: Strip, href: str, width: str) -> str:
    file, case = strip.key
    name = f"<b>{html(case)}</b>"
    if href and strip.latest != ABSENT:
        anchor = f"#{case_anchor(file, case)}" if href.endswith(".html") else ""
        name = f'<a href="{href}{anchor}">{name}</a>'
    facts = [html(file), flips(strip), "" if strip.latest != ABSENT else "not in the latest run"]
    about = " · ".join(fact for fact in facts if fact)
    drawn = strip_svg.draw(strip.verdicts).replace("<svg", f"<svg{width}", 1)
    return f'<div class="strip"><div>{name} <small>{about}</small></div>{drawn}</div>'


def _runs(records: Sequence[RunRecord], hrefs: Sequence[str]) -> Iterator[str]:
    yield "<h2>Runs</h2>"
    yield f"<details><summary>{numbers.plural(len(records), 'run')}, the newest first</summary>"
    yield '<table class="runs"><thead><tr><th>Started (UTC)<th>Verdict<th>Score<th>Pass rate'
    yield "<th>Cost<th>Commit</thead><tbody>"
    for record, href in zip(reversed(records), reversed(hrefs), strict=True):
        day = html(runs_text.day(record))
        cells = [
            f'<a href="{href}">{day}</a>' if href else day,
            html(runs_text.state(record)),
            runs_text.score(record.score),
            runs_text.rate(record.pass_rate),
            runs_text.cost(record),
            html(escape.commit(record.commit)),
        ]
        yield f"<tr>{''.join(f'<td>{cell}' for cell in cells)}"
    yield "</tbody></table></details>"
