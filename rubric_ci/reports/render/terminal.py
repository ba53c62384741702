"""A report for the terminal: verdict table, missed criteria and their reasons, report files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Literal, TypeAlias, TypeGuard

from rich.box import ROUNDED
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rubric_ci.gate.comparison import phrases as compared
from rubric_ci.gate.report.matrix import Matrix, matrix
from rubric_ci.gate.waivers import waived as waivers
from rubric_ci.reports.render import palette, per_target, summary, usage_text, wording
from rubric_ci.reports.render.usage_text import report_notes
from rubric_ci.text import escape, numbers
from rubric_ci.values.report import RunReport, case_names
from rubric_ci.values.results import CaseResult, CriterionResult, Errored, EvaluatorResult, Graded

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
NARROW = 80  # columns; below, the reasons get the place of costs and scores
LONGEST_ID = 20  # columns of an id that is not broken
LONGEST_VERDICT = 13  # columns of a verdict with its score that are one line
LONGEST_TEXT = 2000  # characters of a question, an expected outcome or an answer
Detail: TypeAlias = Literal["verdict", "failures", "full"]

_GATE_STYLES: Mapping[summary.Tone, str] = {
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

    `failures` is the table and the reasons of each case without a pass, `full` has all cases with
    question, expected outcome and answer, `verdict` is the verdict and what led to the gate's.
    """
    narrow = width < NARROW
    blocks = _verdict(report) if detail == "verdict" else _blocks(report, files, detail, narrow)
    return _printed(blocks, width=width, color=color)


def case_text(case: Graded, report: RunReport, *, width: int) -> str:
    """Return the lines of a report about a case without a pass, without colours."""
    return _printed(_details(case, report, verbose=False), width=width, color=False).rstrip()


def cases(shown: Sequence[CaseResult], criterion: str, *, width: int, color: bool) -> str:
    """Return all that a report says about some cases, or about a criterion of them."""
    blocks = (block for case in shown for block in _whole(case, criterion))
    return _printed(blocks, width=width, color=color).rstrip("\n")


def _whole(case: CaseResult, criterion: str) -> Iterator[RenderableType]:
    kind = wording.status(case)
    head = Text.assemble((f"{SIGNS[kind]} {kind} ", STYLES[kind]))
    score = f" {numbers.score(case.score)}" if isinstance(case, Graded) else ""
    yield head + _text(f"{case.id}{score}", "bold") + _text(f"  {case.file}:{case.line}", "dim")
    if not isinstance(case, Graded):
        yield Padding(_text(case.reason), (0, 0, 0, 2))
    for title, text in () if criterion else wording.texts(case):
        yield Padding(_text(f"{title}:", "dim"), (0, 0, 0, 2))
        yield Padding(_text(text), (0, 0, 0, 4))
    if isinstance(case, Graded):
        yield from _results(case, criterion)
    yield Text()


def _results(case: Graded, criterion: str) -> Iterator[RenderableType]:
    for evaluator in case.evaluators:
        if evaluator.outcome != "assessed":
            yield from _evaluator(evaluator)
            continue
        if not (evaluator.criteria or criterion):
            yield from _evaluator(evaluator)
        for each in evaluator.criteria:
            if criterion in {"", each.id}:
                yield from _criterion(case, each)


def _printed(blocks: Iterable[RenderableType], *, width: int, color: bool) -> str:
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
        console.print(Group(*blocks))
    return "\n".join(line.rstrip() for line in captured.get().split("\n"))


def _blocks(
    report: RunReport, files: Sequence[str], detail: Detail, narrow: bool
) -> Iterator[RenderableType]:
    shared = wording.shared_reasons(report.cases)
    single = [case for case in report.cases if not _is_shared(case, shared)]
    rows = _rows(single)
    if found := matrix(report):
        yield _text(per_target.title(found, report), "bold")
        yield _matrix(found, report)
        yield Text()
    elif rows or shared:
        yield _table(rows, shared, case_names(report), narrow=narrow)
        yield Text()
    if len(rows) < len(single):
        yield _text(_unlisted(single, rows), "dim")
    sorted_cases = wording.by_attention(report.cases, report.gate)
    shown = [case for case in sorted_cases if _has_details(case, report, detail)]
    for case in shown[:MOST_DETAILS]:
        yield from _details(case, report, verbose=detail == "full")
    if len(shown) > MOST_DETAILS:
        more = numbers.plural(len(shown) - MOST_DETAILS, "more case")
        yield _text(f"the details of {more} are in the report files", "dim")
    yield from _compared(report)
    yield from _left_out(report)
    yield from _verdict(report)
    yield from _end(report, files, detail)


def _end(report: RunReport, files: Sequence[str], detail: Detail) -> Iterator[RenderableType]:
    """Yield one line: cost, duration and the file to open next."""
    if detail == "full" and report.left_out:
        yield _text("left out of the workspaces:", "dim")
        yield from (_text(f"  {each.file}: {each.why}", "dim") for each in report.left_out)
    facts = usage_text.summary(report) if detail == "full" else usage_text.brief(report)
    pages = [file for file in files if file.endswith(".html")]
    yield _text(" · ".join([*facts, *([", ".join(pages or files)] if files else [])]), "dim")


def _verdict(report: RunReport) -> Iterator[RenderableType]:
    yield Text(summary.heading(report), style=_GATE_STYLES[summary.tone(report)])
    parts = (_counts(report), summary.gate_settings(report), *wording.provenance(report))
    yield _text("; ".join(part for part in parts if part))


def _is_shared(case: CaseResult, shared: Mapping[str, Sequence[CaseResult]]) -> bool:
    return isinstance(case, Errored) and case.reason in shared


def _rows(cases: Sequence[CaseResult]) -> Sequence[CaseResult]:
    """Return all cases, or the most urgent ones if there are too many."""
    if len(cases) <= MOST_ROWS:
        return cases
    worst = [case for case in wording.by_attention(cases) if not _passes(case)]
    return worst[:MOST_ROWS]


def _has_details(case: CaseResult, report: RunReport, detail: Detail) -> TypeGuard[Graded]:
    if not isinstance(case, Graded) or detail == "full":
        return isinstance(case, Graded)
    return _not_passed(case) and wording.decides(case, report.gate)


def _unlisted(cases: Sequence[CaseResult], rows: Sequence[CaseResult]) -> str:
    passing = sum(map(_passes, cases))
    others = len(cases) - len(rows) - passing
    left = [f"{passing:,} passing"] * bool(passing) + [f"{others:,} other"] * bool(others)
    return f"{' and '.join(left)} cases are listed in the report files only"


def _passes(case: CaseResult) -> bool:
    return wording.status(case) == "pass"


def _not_passed(case: CaseResult) -> TypeGuard[Graded]:
    return isinstance(case, Graded) and wording.status(case) not in {"pass", "waived"}


def _matrix(found: Matrix, report: RunReport) -> Table:
    table = Table(box=ROUNDED, header_style="bold")
    heads = [f"{each.head}\n{each.figures}" for each in per_target.columns(found, report)]
    for head in ("case", *heads):
        table.add_column(_text(head), overflow="fold")
    for row in per_target.rows(found)[:MOST_ROWS]:
        cells = [
            Text(f"{SIGNS[wording.status(case)]} ", STYLES[wording.status(case)])
            if case
            else Text()
            for case in row.cells
        ]
        shown = [
            sign + _text(per_target.cell(case)) for sign, case in zip(cells, row.cells, strict=True)
        ]
        table.add_row(_text(per_target.name(row)), *shown)
    return table


def _table(
    rows: Sequence[CaseResult],
    shared: Mapping[str, Sequence[CaseResult]],
    name: Callable[[CaseResult], str],
    *,
    narrow: bool,
) -> Table:
    table = Table(box=ROUNDED, header_style="bold")
    longest = max((len(name(case)) for case in rows), default=0)
    width = min(longest, LONGEST_ID) if narrow else None
    table.add_column("case", overflow="fold", ratio=None if narrow else 2, width=width)
    if not narrow:
        table.add_column("score", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=not narrow, max_width=LONGEST_VERDICT if narrow else None)
    table.add_column("reason", overflow="fold", ratio=None if narrow else 3)
    priced = not narrow and any(usage_text.price(case) for case in rows)
    if priced:
        table.add_column("cost", justify="right", no_wrap=True)
    for case in rows:
        price = [usage_text.price(case)] if priced else []
        cells = _narrow_cells(case) if narrow else _cells(case)
        table.add_row(_text(name(case)), *cells, *price)
    for reason, cases in shared.items():
        verdict = Text.assemble((f"{SIGNS['errored']} errored", STYLES["errored"]))
        about = _text(numbers.shortened(reason, 600))
        names = _text(f"\n{numbers.listed([*map(name, cases)])}", "dim")
        score = () if narrow else ("-",)
        table.add_row(_text(f"{len(cases):,} cases") + names, *score, verdict, about)
    return table


def _cells(case: CaseResult) -> list[Text]:
    """Return score, verdict with trials, and reason."""
    trials = wording.trials(case)
    score = Text(numbers.score(case.score) if isinstance(case, Graded) else "-")
    verdict = _shown_verdict(case).append(f"\n{trials}" if trials else "", style="dim")
    return [score, verdict, _why(case)]


def _narrow_cells(case: CaseResult) -> list[Text]:
    """Return verdict with score, and reason with trials."""
    trials = wording.trials(case)
    score = f" {numbers.score(case.score)}" if isinstance(case, Graded) else ""
    why = _why(case).append(f"\n{trials}" if trials else "", style="dim")
    return [_shown_verdict(case) + Text(score), why]


def _shown_verdict(case: CaseResult) -> Text:
    kind = wording.status(case)
    return Text.assemble((f"{SIGNS[kind]} {kind}", STYLES[kind]))


def _why(case: CaseResult) -> Text:
    return _text(numbers.shortened(wording.reason(case), 200))


def _details(case: Graded, report: RunReport, *, verbose: bool) -> Iterator[RenderableType]:
    kind = wording.status(case)
    head = Text.assemble((f"{SIGNS[kind]} ", STYLES[kind]))
    place = " · ".join([f"{case.file}:{case.line}", *usage_text.other_judges(case, report)])
    yield head + _text(case.id, "bold") + _text(f"  {place}", "dim")
    yield from _texts(case) if verbose else ()
    missed = list(wording.missed(case, report))
    for _, criterion in missed:
        yield from _criterion(case, criterion)
    shown = {evaluator.name for evaluator, _ in missed}
    for evaluator in wording.not_passing(case):
        if evaluator.name not in shown:
            yield from _evaluator(evaluator)
    yield Text()


def _evaluator(evaluator: EvaluatorResult) -> Iterator[RenderableType]:
    """Yield the score and the reasons of an evaluator without criteria."""
    if evaluator.outcome != "assessed":
        yield Padding(_text(f"{evaluator.name}: no result: {evaluator.reason}"), (0, 0, 0, 2))
        return
    first, *more = wording.reasons(evaluator) or [""]
    result = f"{numbers.score(evaluator.score)} {first}"
    yield Padding(_text(f"{evaluator.name}: {result}"), (0, 0, 0, 2))
    for text in more:
        yield Padding(_text(text), (0, 0, 0, 4))


def _texts(case: Graded) -> Iterator[RenderableType]:
    for title, text in wording.beginnings(case, LONGEST_TEXT):
        yield Padding(_text(f"{title}:", "dim"), (0, 0, 0, 2))
        yield Padding(_text(text), (0, 0, 0, 4))


def _criterion(case: Graded, criterion: CriterionResult) -> Iterator[RenderableType]:
    mark = wording.mark(criterion)
    facts = [fact for fact in (mark, wording.gate_of(criterion), wording.votes(criterion)) if fact]
    style = STYLES["fail" if criterion.gated else "borderline"]
    if criterion.normalised >= 1:
        style = STYLES["pass"]
    name = _text(numbers.shortened(wording.name_of(criterion), 600), style)
    own = wording.own_id(criterion) if criterion.text else ""
    place = " · ".join(filter(None, [own, f"{case.file}:{criterion.line}"]))
    yield Padding(name, (0, 0, 0, 2))
    yield Padding(_text(", ".join(facts)) + _text(f" · {place}", "dim"), (0, 0, 0, 4))
    if criterion.found:
        yield Padding(_text(numbers.shortened(criterion.found, 600)), (0, 0, 0, 4))
    if criterion.evidence:
        quote = f"“{numbers.shortened(criterion.evidence, 300)}”"
        source = _text(wording.quote_source(criterion), "dim")
        yield Padding(_text(quote, "italic") + source, (0, 0, 0, 4))


def _left_out(report: RunReport) -> Iterator[RenderableType]:
    warnings = wording.warnings(report.cases)
    for case, _, warning in warnings[:MOST_DETAILS]:
        yield _text(f"warning: {case.id}: {warning}", "yellow")
    if len(warnings) > MOST_DETAILS:
        yield _text(
            f"{len(warnings) - MOST_DETAILS:,} more warnings are in the report files", "dim"
        )
    lines = [*wording.not_run(report), *report_notes(report)]
    if report.grading_changes:
        yield _text(summary.changes_title(report), "bold")
    for change in report.grading_changes[:MOST_DETAILS]:
        line = f"{summary.change_line(change)}  {change.file}:{change.line}"
        yield Padding(_text(line), (0, 0, 0, 2))
    waived = [f"waived: {line}" for line in waivers.applied_lines(report)]
    waived += [f"waiver: {place}: {text}" for place, text in waivers.problem_lines(report)]
    for line in (*waived, *(f"note: {line}" for line in lines)):
        yield _text(line)
    if lines or warnings or waived:
        yield Text()


def _compared(report: RunReport) -> Iterator[RenderableType]:
    if report.comparison is None:
        return
    yield _text(f"{compared.headline(report)} · {compared.compared_with(report)}", "bold")
    for line in (compared.counts(report), *compared.kind_lines(report), *compared.limits(report)):
        yield Padding(_text(line), (0, 0, 0, 2))
    yield Text()


def _counts(report: RunReport) -> str:
    return ", ".join(f"{number:,} {word}" for _, number, word in wording.counts(report.totals))


def _text(text: str, style: str = "") -> Text:
    # NOTE: text appended to a Text takes on its style, unless only a part of it is styled.
    return Text.assemble((escape.terminal(text), style))
