"""The page as pieces: a head that allows its own script and style only, the overview, the cases.

Each case is in its own `<noscript>`: without the script it is an element like any other, with
the script it is one text, from which the case is built when it is looked at.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final, TypeAlias
from urllib.parse import urlencode

from rubric_ci.gate.comparison import phrases as compared
from rubric_ci.gate.comparison.phrases import source, than
from rubric_ci.gate.report.matrix import matrix
from rubric_ci.gate.waivers import waiver_report as waivers
from rubric_ci.parts.formats import groups
from rubric_ci.parts.formats.case_view import case_view, has_pictures
from rubric_ci.parts.formats.grid import target_grid
from rubric_ci.parts.formats.groups import (
    CriterionGroup,
    FileGroup,
    criteria_of,
    criterion_groups,
    file_groups,
    is_missed,
)
from rubric_ci.reports import content, html_templates, summary, usage_text, wording
from rubric_ci.reports.blocks import Block, Differs, Line, Listed, Quoted, changed_lines, text_of
from rubric_ci.reports.html_templates import case_anchor
from rubric_ci.reports.usage_text import report_notes
from rubric_ci.text import numbers
from rubric_ci.text.escape import visible
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.media import Picture
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult

STYLES: Final = ("base.css", "page.css")
OPENED: Final = 5  # cases without a pass that are unfolded at first
_ESCAPES: Final = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})
_URGENT: Final = frozenset({"fail", "errored", "borderline"})
MOST: Final = 500  # rows of a table
POOLED: Final = frozenset({"mean score", "mean mark"})  # columns that mean nothing over targets
FEW: Final = 10  # broken cases that are listed unfolded
TitledList: TypeAlias = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopView:
    """A line, a quote or a diff, as texts with the anchor of the case that they name."""

    kind: str
    parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenView:
    anchor: str
    id: str
    verdicts: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonView:
    title: str
    head: str
    broken: tuple[BrokenView, ...]
    broken_title: str
    opened: bool  # the broken ones are few
    listed: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]  # title: cases, each with a reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell that names its column, whose head a narrow screen does not show."""

    column: str
    shown: str
    kind: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row whose name is a link that filters the cases of this page."""

    name: str
    link: str
    text: str = ""
    anchor: str = ""
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A folded table; `cut` says how many rows are shown if not all are."""

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    cut: str


def render(report: RunReport) -> str:
    return "".join(pieces(report))


def pieces(report: RunReport, inline: Callable[[Picture], str] = lambda _: "") -> Iterator[str]:
    """Yield the page in small pieces, so that it is never in memory as a whole."""
    cases = wording.by_attention(report.cases, report.gate)
    script, style = html_templates.script(), html_templates.style(*STYLES)
    views = (
        case_view(case, report, inline, opened=number < OPENED and _is_urgent(case, report))
        for number, case in enumerate(cases)
    )
    yield from html_templates.template("page.html").generate(
        **top_and_tables(report),
        cases=views,
        data=map(html_templates.trusted, script_data(cases, criterion_groups(report), report)),
        script=html_templates.trusted(script),
        style=html_templates.trusted(style),
        policy=html_templates.trusted(
            html_templates.policy(script, style, images=any(map(has_pictures, cases)))
        ),
    )
    yield "\n"


def _is_urgent(case: CaseResult, report: RunReport) -> bool:
    now = case.status in _URGENT and case.change != "failing-before"
    return now and wording.decides(case, report.gate)


def script_data(
    cases: Sequence[CaseResult], criteria: Sequence[CriterionGroup], report: RunReport
) -> Iterator[str]:
    """Yield the facts of the cases, in the order of the page."""
    positions = {case.key: n for n, case in enumerate(report.cases)}
    numbers = {(group.id, group.text): n for n, group in enumerate(criteria)}
    names = [[group.anchor, visible(group.id), visible(group.text)] for group in criteria]
    yield f'{{"criteria":{_json(names)},"cases":['
    for number, case in enumerate(cases):
        facts = {**_facts(case, report, numbers), "position": positions[case.key]}
        yield f"{',' if number else ''}{_json(facts)}"
    yield "]}"


def _facts(
    case: CaseResult, report: RunReport, numbers: Mapping[tuple[str, str], int]
) -> dict[str, object]:
    judged = [*criteria_of(case)]
    missed = [each for each in judged if is_missed(each, report)]
    return {
        "anchor": case_anchor(case.file, case.id),
        "id": visible(case.id),
        "status": case.status,
        "score": case.score,
        "file": visible(case.file),
        "tags": [*map(visible, case.tags)],
        "criteria": [numbers[each.id, each.written] for _, each in judged],
        "missed": [numbers[each.id, each.written] for _, each in missed],
        "changes": [compared.kind(case)] if case.change else [],
        "cost": case.usage.cost_usd,
        "difference": _difference(case),
    }


def _difference(case: CaseResult) -> float | None:
    """Return how much the score differs from before."""
    if case.score is None or case.before is None or case.before.score is None:
        return None
    return round(case.score - case.before.score, 6)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":")).translate(_ESCAPES)


def top_and_tables(report: RunReport) -> dict[str, object]:
    """Return the values by the name that the template uses."""
    return {
        "heading": summary.heading(report),
        "top": tuple(map(_top, [*content.top(report)][1:])),
        "tone": summary.tone(report),
        "origin": " · ".join(wording.origin(report)),
        "facts": " · ".join(filter(None, [summary.gate_settings(report), *wording.basis(report)])),
        **cards(report),
        "comparison": comparison(report),
        "grading": tuple(_grading(report)),
        "grid": target_grid(report),
        "tables": tuple(tables(report)),
        "choices": choices(report),
        "notes": tuple(_notes(report)),
    }


def _top(block: Block) -> TopView:
    """Return a block of the beginning: a line with the case as a link, a quote, or a diff."""
    match block:
        case Line(spans=spans):
            return TopView(
                kind="line",
                parts=tuple(
                    (
                        span.text,
                        case_anchor(span.file, span.text)
                        if span.file and span.style == "strong"
                        else "",
                    )
                    for span in spans
                ),
            )
        case Quoted(texts=texts):
            return TopView(kind="quote", parts=tuple((text, "") for text in texts))
        case Differs():
            lines = changed_lines(block, wrapped=False)
            return TopView(kind="diff", parts=tuple((line, "") for line in lines))
        case Listed(lines=lines):
            return TopView(kind="list", parts=tuple((text_of(line), "") for line in lines))
    raise AssertionError(block)  # the beginning has no other blocks


def cards(report: RunReport) -> dict[str, object]:
    counts = wording.counts(report.totals)
    cost_title, *cost = usage_text.summary(report)
    return {
        "case_count": numbers.plural(len(report.cases), "case"),
        "verdicts": tuple(groups.bar(counts)),
        "counts": tuple((kind, f"{number:,}", word) for kind, number, word in counts),
        "cost_title": cost_title,
        "cost": (*cost, numbers.moment(report.started_at)),
    }


def comparison(report: RunReport) -> ComparisonView | None:
    """Return the kinds of the cases, broken ones first; None without a comparison."""
    if report.comparison is None:
        return None
    broken = tuple(_broken(case) for case in wording.by_attention(compared.broken(report)))
    return ComparisonView(
        title=f"Compared with {than(report)}",
        head=": ".join(filter(None, [source(report), compared.counts(report)])),
        broken=broken,
        broken_title=f"{len(broken):,} {compared.TITLES['broken']}",
        opened=len(broken) <= FEW,
        listed=tuple(
            (title, tuple((name, compared.short(why)) for name, why in cases))
            for title, cases in compared.listed(report)
        ),
    )


def tables(report: RunReport) -> Iterator[Table]:
    files, criteria = file_groups(report), criterion_groups(report)
    kinds = {kind: word for kind, _, word in wording.counts(report.totals)}
    left_out = POOLED if matrix(report.cases) else frozenset()
    if files:
        title = numbers.plural(len(files), "eval file")
        yield _table("files", title, "Eval file", [_file(each, kinds) for each in files], left_out)
    if criteria:
        title = numbers.plural(len(criteria), "criterion", "criteria")
        yield _table("criteria", title, "Criterion", [*map(_criterion, criteria)], left_out)


def choices(report: RunReport) -> tuple[tuple[str, str], ...]:
    """Return the verdicts to choose from, each with its label; empty without cases."""
    counts = wording.counts(report.totals)
    found = tuple((kind, f"{number:,} {word}") for kind, number, word in counts)
    return (("all", f"all {len(report.cases):,}"), *found) if found else ()


def link(**filters: str) -> str:
    """Return the address that filters the cases of this page."""
    return "#" + urlencode({name: visible(text) for name, text in filters.items()})


def _grading(report: RunReport) -> Iterator[TitledList]:
    changed = tuple(
        f"{summary.change_sign(each)} {summary.change_line(each)} ({each.file}:{each.line})"
        for each in report.grading_changes
    )
    yield summary.changes_title(report), changed


def _notes(report: RunReport) -> Iterator[TitledList]:
    yield "Waived, neither a pass nor a fail", tuple(waivers.applied_lines(report))
    broken = waivers.problem_lines(report)
    yield "Waivers to fix", tuple(f"{place}: {text}" for place, text in broken)
    yield "Notes", (*wording.not_run(report), *report_notes(report))


def _broken(case: CaseResult) -> BrokenView:
    return BrokenView(
        anchor=case_anchor(case.file, case.id),
        id=case.id,
        verdicts=compared.verdicts(case),
        why=compared.short(compared.why(case)),
    )


def _table(
    name: str, title: str, first: str, rows: Sequence[Row], left_out: AbstractSet[str]
) -> Table:
    cut = f"The first {MOST:,} of {len(rows):,} are shown." if len(rows) > MOST else ""
    shown = [
        replace(row, cells=tuple(cell for cell in row.cells if cell.column not in left_out))
        for row in rows[:MOST]
    ]
    heads = (first, *(cell.column for cell in shown[0].cells))
    return Table(name=name, title=title, heads=heads, rows=tuple(shown), cut=cut)


def _file(group: FileGroup, kinds: Mapping[wording.CaseStatus, str]) -> Row:
    counts = (
        Cell(column=word, shown=_count(group.counts[kind]), kind=kind)
        for kind, word in kinds.items()
    )
    mean = "" if group.mean is None else numbers.score(group.mean)
    cost = numbers.dollars(group.cost_usd) if group.cost_usd else ""
    return Row(
        name=group.file,
        link=link(file=group.file),
        cells=(*counts, Cell(column="mean score", shown=mean), Cell(column="cost", shown=cost)),
    )


def _criterion(group: CriterionGroup) -> Row:
    missed = link(criterion=group.anchor, missed="yes") if group.missed else ""
    return Row(
        name=group.id,
        link=link(criterion=group.anchor),
        text=group.text,
        anchor=group.anchor,
        cells=(
            Cell(column="cases", shown=_count(group.cases)),
            Cell(column="missed", shown=_count(group.missed), kind="fail", link=missed),
            Cell(column="mean mark", shown=numbers.score(group.mean)),
        ),
    )


def _count(number: int) -> str:
    return f"{number:,}" if number else ""
