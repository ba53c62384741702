"""A report for the terminal: the blocks of `content`, in colours and columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Final, Literal, TypeAlias, assert_never

from rich.box import ROUNDED
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from rubric_ci.reports import case_blocks, content, usage_text, wording
from rubric_ci.reports.blocks import (
    COLOURS,
    SIGNS,
    Block,
    Differs,
    Facts,
    Folded,
    Heading,
    Line,
    Listed,
    Literally,
    Quoted,
    Row,
    Spans,
    Style,
    Table,
    Tone,
    changed_lines,
    plain,
)
from rubric_ci.text import escape, numbers
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Graded, with_verdict

Detail: TypeAlias = Literal["verdict", "failures", "full"]
STYLES: Final[Mapping[wording.CaseStatus, str]] = {
    status: COLOURS[status].terminal for status in wording.STATUSES
}
MOST_ROWS = MOST_DETAILS = 50
LONGEST = 600  # characters of a reason
LONGEST_TEXT = 2000  # characters of a question, an expected outcome or an answer
_GATE_STYLES: Mapping[Tone, str] = {
    "pass": STYLES["pass"],
    "fail": STYLES["fail"],
    "error": STYLES["errored"],
    "nothing": "",
}
_STYLES: Mapping[Style, str] = {"plain": "", "strong": "bold", "code": "", "dim": "dim"}
_DIFFERENCE = {"-": STYLES["fail"], "+": STYLES["pass"]}


def render(
    report: RunReport,
    *,
    width: int,
    color: bool,
    files: Sequence[str] = (),
    detail: Detail = "failures",
) -> str:
    """Return lines of at most `width` columns, with ANSI colours if `color`.

    `failures` has the reasons of each case without a pass, `full` all cases with question, expected
    outcome and answer, `verdict` the verdict and what led to it.
    """
    short = detail == "verdict"
    blocks = content.verdict(report) if short else _blocks(report, files, detail)
    if short and (basis := wording.basis(report)):
        blocks = (*blocks, Facts(facts=tuple(map(plain, basis))))
    return _printed(blocks, width=width, color=color)


def case_text(case: Graded, report: RunReport, *, width: int) -> str:
    """Return the lines of a report about a case without a pass, without colours."""
    shown = case_blocks.detail(case, report, LONGEST, with_texts=False)
    return _printed([shown], width=width, color=False).rstrip()


def cases(shown: Sequence[CaseResult], criterion: str, *, width: int, color: bool) -> str:
    """Return all that a report says about some cases, or about a criterion of them."""
    blocks = (case_blocks.whole(case, criterion) for case in shown)
    return _printed(blocks, width=width, color=color).rstrip("\n")


def _blocks(report: RunReport, files: Sequence[str], detail: Detail) -> Iterator[Block]:
    yield from content.top(report)
    yield from content.targets(report, MOST_ROWS)
    table = content.table(report)
    if table.rows:
        yield _cut(table)
    yield from content.findings(report)
    shown = [case for case in content.detailed(report) if _needs_details(case, report)]
    if detail == "full":
        shown = with_verdict(report.cases)
    for case in shown[:MOST_DETAILS]:
        full = detail == "full"
        longest = LONGEST_TEXT if full else LONGEST
        yield case_blocks.detail(case, report, longest, with_texts=full)
    if len(shown) > MOST_DETAILS:
        more = numbers.plural(len(shown) - MOST_DETAILS, "more case")
        yield Line(spans=plain(f"the details of {more} are in the report files"))
    yield from content.notes(report)
    if detail == "full" and report.left_out:
        lines = tuple(plain(f"{each.file}: {each.why}") for each in report.left_out)
        yield Listed(title="Left out of the workspaces", lines=lines)
    yield _end(report, files, detail)


def _needs_details(case: Graded, report: RunReport) -> bool:
    """Return True unless the beginning says it all, or the gate is not about the case."""
    if not wording.decides(case, report.gate):
        return False
    worst, misses = content.most_urgent(report), wording.misses(case, report)
    told = len(misses) == 1 and misses[0].criterion is not None
    return worst is None or case.key != worst.key or not told


def _cut(table: Table) -> Table:
    """Return the table with the first rows, and the last one, which counts the passing cases."""
    rows = table.rows
    if len(rows) <= MOST_ROWS:
        return table
    more = numbers.plural(len(rows) - MOST_ROWS, "more row")
    note = Row(cells=(plain(f"{more} in the report files"),))
    return Table(heads=table.heads, rows=(*rows[: MOST_ROWS - 1], note, rows[-1]))


def _end(report: RunReport, files: Sequence[str], detail: Detail) -> Facts:
    """Return one line: the part of the suite, cost, duration and the file to open next."""
    facts = content.end(report).facts
    if detail != "full":
        facts = tuple(map(plain, [*wording.basis(report), *usage_text.brief(report)]))
    pages = [file for file in files if file.endswith(".html")]
    return Facts(facts=(*facts, *([plain(", ".join(pages or files))] if files else [])))


def _printed(blocks: Iterable[Block], *, width: int, color: bool) -> str:
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
        console.print(Group(*(shown for block in blocks for shown in _lines(block))))
    return "\n".join(line.rstrip() for line in captured.get().split("\n"))


def _lines(block: Block) -> Iterator[RenderableType]:
    match block:
        case Heading():
            yield _escaped_text(block.text, _GATE_STYLES[block.tone])
        case Line():
            yield _sign(block.status) + _spans(block.spans)
        case Listed():
            if block.title:
                yield _escaped_text(block.title, "bold")
            yield from (_inset(_spans(line)) for line in block.lines)
        case Quoted():
            yield from (_inset(_escaped_text(text), 4) for text in block.texts)
        case Literally():
            yield _inset(_escaped_text(f"{block.title}:", "dim"))
            yield _inset(_escaped_text(block.text), 4)
        case Differs():
            yield from _differs(block)
        case Table():
            if block.title:
                yield _escaped_text(block.title, "bold")
            yield _table(block)
        case Folded():
            yield from _folded(block)
        case Facts():
            facts = " · ".join("".join(span.text for span in fact) for fact in block.facts)
            yield _escaped_text(facts, "dim")
        case _:
            assert_never(block)


def _sign(status: wording.CaseStatus | None) -> Text:
    return Text.assemble((f"{SIGNS[status][1]} ", STYLES[status])) if status else Text()


def _folded(block: Folded) -> Iterator[RenderableType]:
    yield _sign(block.status) + _spans(block.title)
    for inner in block.blocks:
        yield from (_inset(shown) for shown in _lines(inner))
    yield Text()


def _differs(block: Differs) -> Iterator[RenderableType]:
    if block.title:
        yield _inset(_escaped_text(f"{block.title}:", "dim"))
    for line in changed_lines(block):
        yield _inset(_escaped_text(line, _DIFFERENCE.get(line[:1], "dim")), 4)


def _table(block: Table) -> RichTable:
    table = RichTable(box=ROUNDED, header_style="bold")
    signs = any(row.status for row in block.rows)
    if signs:
        table.add_column("", no_wrap=True)
    for number, head in enumerate(block.heads):
        last = number == len(block.heads) - 1
        table.add_column(_spans(head), overflow="fold", ratio=3 if last else None)
    for row in block.rows:
        sign = Text.assemble((SIGNS[row.status][1], STYLES[row.status])) if row.status else Text()
        table.add_row(*([sign] if signs else []), *map(_spans, row.cells))
    return table


def _inset(shown: RenderableType, columns: int = 2) -> Padding:
    return Padding(shown, (0, 0, 0, columns))


def _spans(spans: Spans) -> Text:
    return Text.assemble(*((escape.terminal(span.text), _STYLES[span.style]) for span in spans))


def _escaped_text(text: str, style: str = "") -> Text:
    # NOTE: text appended to a Text takes on its style, unless only a part of it is styled.
    return Text.assemble((escape.terminal(text), style))
