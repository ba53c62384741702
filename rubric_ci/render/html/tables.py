"""The tables per eval file and per criterion; a name in them is a link that filters the cases."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from rubric_ci.model.report import RunReport
from rubric_ci.render import wording
from rubric_ci.render.html.view import CriterionGroup, FileGroup, criterion_groups, file_groups
from rubric_ci.text import numbers
from rubric_ci.text.escape import html, visible

MOST: Final = 500  # rows of a table


def tables(report: RunReport) -> Iterator[str]:
    """Yield both tables, folded."""
    files, criteria = file_groups(report), criterion_groups(report)
    kinds = {kind: word for kind, _, word in wording.counts(report.totals)}
    if files:
        heads = ["Eval file", *kinds.values(), "mean score", "cost"]
        yield from _table("files", "eval file", heads, [_file(each, kinds) for each in files])
    if criteria:
        heads = ["Criterion", "cases", "missed", "mean mark"]
        yield from _table("criteria", "criterion", heads, [*map(_criterion, criteria)])


def link(**filters: str) -> str:
    """Return the address that filters the cases of this page."""
    return html("#" + urlencode({name: visible(text) for name, text in filters.items()}))


def _table(name: str, one: str, heads: Sequence[str], rows: Sequence[str]) -> Iterator[str]:
    many = {"criterion": "criteria"}.get(one, "")
    yield f'<details class="groups" id="{name}"><summary>{numbers.plural(len(rows), one, many)}'
    yield "</summary><noscript><div class='scroll'><table><thead><tr>"
    yield from (f"<th>{head}</th>" for head in heads)
    yield "</tr></thead><tbody>"
    yield from rows[:MOST]
    yield "</tbody></table></div>"
    if len(rows) > MOST:
        yield f"<p class='meta'>The first {MOST:,} of {len(rows):,} are shown.</p>"
    yield "</noscript></details>"


def _file(group: FileGroup, kinds: Mapping[wording.CaseStatus, str]) -> str:
    name = f'<a href="{link(file=group.file)}">{html(group.file)}</a>'
    cells = [
        *(_cell(word, _count(group.counts[kind]), kind) for kind, word in kinds.items()),
        _cell("mean score", "" if group.mean is None else numbers.score(group.mean)),
        _cell("cost", numbers.dollars(group.cost_usd) if group.cost_usd else ""),
    ]
    return f"<tr><td>{name}</td>{''.join(cells)}</tr>"


def _criterion(group: CriterionGroup) -> str:
    every, missed = link(criterion=group.anchor), link(criterion=group.anchor, missed="yes")
    name = f'<a href="{every}"><b>{html(group.id)}</b></a><p>{html(group.text)}</p>'
    lost = f'<a href="{missed}">{group.missed:,}</a>' if group.missed else ""
    cells = [
        _cell("cases", _count(group.cases)),
        _cell("missed", lost, "fail"),
        _cell("mean mark", numbers.score(group.mean)),
    ]
    return f'<tr id="{group.anchor}"><td>{name}</td>{"".join(cells)}</tr>'


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def _cell(name: str, shown: str, kind: str = "") -> str:
    """Return a cell that repeats the head of its column, which a narrow screen does not show."""
    return f'<td class="{kind}" data-name="{name}">{shown}</td>'
