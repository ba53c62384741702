"""A report for the terminal: verdict table, missed criteria and their reasons, report files."""

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Literal, TypeAlias, TypeGuard

from rich.box import ROUNDED
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rubric_ci.comparison import wording as compared
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, CriterionResult, Errored, Graded
from rubric_ci.render import grading_changes, heading, palette, usage_text, wording
from rubric_ci.text import escape, numbers
from rubric_ci.waivers import report as waivers

STYLES: Mapping[wording.CaseStatus, str] = {
    status: palette.COLOURS[status].terminal for status in wording.STATUSES
}
SIGNS: Mapping[wording.CaseStatus, str] = {
    "pass": "✓",
    "borderline": "~",
    "fail": "✗",
    "errored": "!",
    "waived": "w",
    "skipped": "-",
}
MOST_ROWS = MOST_DETAILS = 50
LONGEST_TEXT = 2000  # characters of a question, an expected outcome or an answer
Detail: TypeAlias = Literal["verdict", "failures", "full"]

_GATE_STYLES: Mapping[heading.Tone, str] = {
    "pass": STYLES["pass"],
    "fail": STYLES["fail"],
    "error": STYLES["errored"],
    "nothing": "",
}


def render(
    report: RunReport,
    *,
    width: int,
    color: bool,
    files: Sequence[str] = (),
    detail: Detail = "failures",
) -> str:
    """Return lines of at most `width` columns, with ANSI colours if `color`.

    `failures` is the table and the reasons of each case without a pass, `full` adds its question,
    expected outcome and answer, `verdict` is the verdict and what led to the gate's.
    """
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        blocks = _verdict(report) if detail == "verdict" else _blocks(report, files, detail)
        console.print(Group(*blocks))
    return "\n".join(line.rstrip() for line in captured.get().split("\n"))


def _blocks(report: RunReport, files: Sequence[str], detail: Detail) -> Iterator[RenderableType]:
    rows = _rows(report)
    shared = wording.shared_reasons(report.cases)
    if rows:
        yield _table(rows, shared)
        yield Text()
    if len(rows) < len(report.cases):
        yield _text(_unlisted(report.cases, rows), "dim")
    failing = [case for case in wording.by_attention(report.cases) if _not_passed(case)]
    for case in failing[:MOST_DETAILS]:
        yield from _missed(case, report, verbose=detail == "full")
    if len(failing) > MOST_DETAILS:
        more = numbers.plural(len(failing) - MOST_DETAILS, "more case")
        yield _text(f"the reasons of {more} are in the report files", "dim")
    for reason, cases in shared.items():
        yield from _same_reason(reason, cases)
    yield from _compared(report)
    yield from _left_out(report)
    yield from _verdict(report)
    yield _text(" · ".join(usage_text.summary(report)), "dim")
    for file in files:
        yield _text(f"  {file}", "dim")


def _verdict(report: RunReport) -> Iterator[RenderableType]:
    yield Text(heading.heading(report), style=_GATE_STYLES[heading.tone(report)])
    parts = (_counts(report), wording.gate_settings(report), *wording.provenance(report))
    yield Text("; ".join(part for part in parts if part))


def _rows(report: RunReport) -> Sequence[CaseResult]:
    """Return all cases, or the most urgent ones if there are too many."""
    if len(report.cases) <= MOST_ROWS:
        return report.cases
    worst = [case for case in wording.by_attention(report.cases) if not _passes(case)]
    return worst[:MOST_ROWS]


def _unlisted(cases: Sequence[CaseResult], rows: Sequence[CaseResult]) -> str:
    passing = sum(map(_passes, cases))
    others = len(cases) - len(rows) - passing
    left = [f"{passing:,} passing"] * bool(passing) + [f"{others:,} other"] * bool(others)
    return f"{' and '.join(left)} cases are listed in the report files only"


def _passes(case: CaseResult) -> bool:
    return wording.status(case) == "pass"


def _not_passed(case: CaseResult) -> TypeGuard[Graded]:
    return isinstance(case, Graded) and wording.status(case) not in {"pass", "waived"}


def _table(rows: Sequence[CaseResult], shared: Mapping[str, Sequence[CaseResult]]) -> Table:
    table = Table(box=ROUNDED, header_style="bold")
    table.add_column("case", overflow="fold", ratio=2)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("reason", overflow="fold", ratio=3)
    priced = any(usage_text.price(case) for case in rows)
    if priced:
        table.add_column("cost", justify="right", no_wrap=True)
    for case in rows:
        kind = wording.status(case)
        score = numbers.score(case.score) if isinstance(case, Graded) else "-"
        trials = wording.trials(case)
        verdict = Text.assemble((f"{SIGNS[kind]} {kind}", STYLES[kind]))
        verdict.append(f"\n{trials}" if trials else "", style="dim")
        cells = [_text(case.id), Text(score), verdict]
        cells.append(_text(_reason(case, shared)))
        table.add_row(*cells, *([usage_text.price(case)] if priced else []))
    return table


def _reason(case: CaseResult, shared: Mapping[str, Sequence[CaseResult]]) -> str:
    if isinstance(case, Errored) and case.reason in shared:
        return f"one of {len(shared[case.reason]):,} cases with the same reason, see below"
    return numbers.shortened(case.reason, 200)


def _same_reason(reason: str, cases: Sequence[CaseResult]) -> Iterator[RenderableType]:
    head = f"{SIGNS['errored']} {len(cases):,} cases: "
    yield _text(head, STYLES["errored"]) + _text(numbers.shortened(reason, 600))
    yield Padding(_text(numbers.listed([case.id for case in cases]), "dim"), (0, 0, 0, 2))
    yield Text()


def _missed(case: Graded, report: RunReport, *, verbose: bool) -> Iterator[RenderableType]:
    head = Text.assemble((f"{SIGNS[case.verdict]} ", STYLES[case.verdict]))
    place = " · ".join([f"{case.file}:{case.line}", *usage_text.other_judges(case, report)])
    yield head + _text(case.id, "bold") + _text(f"  {place}", "dim")
    yield from _texts(case) if verbose else ()
    missed = list(wording.missed(case, report))
    for _, criterion in missed:
        yield from _criterion(case, criterion)
    shown = {evaluator.name for evaluator, _ in missed}
    for evaluator in wording.not_passing(case):
        if evaluator.name not in shown:
            result = (
                f"{numbers.score(evaluator.score)} {evaluator.reasoning}"
                if evaluator.outcome == "assessed"
                else f"no result: {evaluator.reason}"
            )
            yield Padding(_text(f"{evaluator.name}: {result}"), (0, 0, 0, 2))
    yield Text()


def _texts(case: Graded) -> Iterator[RenderableType]:
    for title, text in wording.beginnings(case, LONGEST_TEXT):
        yield Padding(_text(f"{title}:", "dim"), (0, 0, 0, 2))
        yield Padding(_text(text), (0, 0, 0, 4))


def _criterion(case: Graded, criterion: CriterionResult) -> Iterator[RenderableType]:
    mark = wording.mark(criterion.kind, criterion.mark)
    facts = [fact for fact in (mark, wording.gate_of(criterion), wording.votes(criterion)) if fact]
    style = STYLES["fail" if criterion.gated else "borderline"]
    line = _text(criterion.id, style) + _text(f": {', '.join(facts)}")
    place = _text(f"  {case.file}:{criterion.line}", "dim")
    yield Padding(line + place, (0, 0, 0, 2))
    for text in (criterion.text, criterion.reasoning):
        if text:
            yield Padding(_text(numbers.shortened(text, 600)), (0, 0, 0, 4))
    if criterion.evidence:
        quote = f"“{numbers.shortened(criterion.evidence, 300)}”"
        yield Padding(_text(quote, "italic"), (0, 0, 0, 4))


def _left_out(report: RunReport) -> Iterator[RenderableType]:
    warnings = wording.warnings(report.cases)
    for case, _, warning in warnings[:MOST_DETAILS]:
        yield _text(f"warning: {case.id}: {warning}", "yellow")
    if len(warnings) > MOST_DETAILS:
        yield _text(
            f"{len(warnings) - MOST_DETAILS:,} more warnings are in the report files", "dim"
        )
    lines = [*wording.not_run(report), *report.notes]
    if report.grading_changes:
        yield _text(grading_changes.summary(report), "bold")
    for change in report.grading_changes[:MOST_DETAILS]:
        yield _text(f"  {grading_changes.line(change)}  {change.file}:{change.line}")
    waived = [f"waived: {line}" for line in waivers.applied_lines(report)]
    waived += [f"waiver: {place}: {text}" for place, text in waivers.problem_lines(report)]
    for line in (*waived, *(f"note: {line}" for line in lines)):
        yield _text(line)
    if lines or warnings or waived:
        yield Text()


def _compared(report: RunReport) -> Iterator[RenderableType]:
    if report.comparison is None:
        return
    head = ": ".join(filter(None, [compared.title(report), compared.source(report)]))
    yield _text(head, "bold")
    for line in (*compared.kind_lines(report), *compared.facts(report)):
        yield Padding(_text(line), (0, 0, 0, 2))
    yield Text()


def _counts(report: RunReport) -> str:
    return ", ".join(f"{number:,} {word}" for _, number, word in wording.counts(report.totals))


def _text(text: str, style: str = "") -> Text:
    # NOTE: text appended to a Text takes on its style, unless only a part of it is styled.
    return Text.assemble((escape.terminal(text), style))
