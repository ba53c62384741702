"""A report as GitHub markdown, for comments and step summaries; shortened to a size limit.

The first failures keep their details, however many there are; rows of the table go before details,
and passing cases go first. What was left out is said.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, assert_never

from rubric_ci.reports import case_blocks, content
from rubric_ci.reports.blocks import (
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
    Span,
    Spans,
    Table,
    Tone,
    changed_lines,
)
from rubric_ci.text import escape, numbers
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import with_verdict

COMMENT_LIMIT = 65_000  # GitHub accepts 65,536 characters; the comment marker needs some
SUMMARY_LIMIT = 1_000_000  # bytes; a step summary takes 1 MiB
COMMENT_CASES = 25  # with details in a comment, which is part of a conversation and sent by mail
COMMENT_ROWS = 100
FIRST = 10  # failing cases that keep their details, and rows that are not folded
PASSING: Final = 1_000  # cases that pass and are listed; more are on the page
FEW = 3  # cases with details that are not folded together
PHONE: Final = 36  # columns of a code block at 400 pixels: GitHub lets a longer line scroll
GATE_ICONS: Mapping[Tone, str] = {"pass": "✅", "fail": "❌", "error": "⚠️", "nothing": "⏭️"}
_NARROW: Final = 3  # columns next to the one of signs
_BREAK: Final = re.compile(r"(?<=[_./])(?=\w)")  # where the name of a case may go on below
_SHAPES: Final = ((case_blocks.LONGEST, FIRST), (400, FIRST), (120, FIRST), (120, 1))
"""Characters of a text, and cases that keep their details, from the first that fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Link targets on the server; empty: plain text. Never taken from the report itself."""

    blob: str = ""  # such as https://github.com/o/r/blob/<sha>
    run: str = ""  # the page of the workflow run
    page: str = ""  # name of the artifact of the run that has the HTML report; empty: none

    @property
    def artifact(self) -> str:
        """The link to the artifact with the HTML report; "": there is none."""
        if not (self.run and self.page):
            return ""
        target = f"{escape.link_target(self.run)}#artifacts"
        return f"[Every answer, mark and quote]({target}): artifact {escape.code_span(self.page)}"

    def place(self, file: str, line: int, shown: str) -> str:
        """Return a link to a line of a file around markdown, or the markdown without a server."""
        if not self.blob or ".." in file.replace("\\", "/").split("/"):
            return shown  # `..` would lead to another page of the server
        target = f"{escape.link_target(self.blob)}/{escape.path_target(file)}"
        return f"[{shown}]({target}{f'#L{line}' if line else ''})"


_NO_LINKS = Links()


def render(
    report: RunReport,
    *,
    limit: int = SUMMARY_LIMIT,
    most: int | None = None,
    links: Links = _NO_LINKS,
) -> str:
    """Return at most `limit` bytes, and at most `most` cases with their details."""
    for shape in _SHAPES:
        text = _fitted(report, shape, limit, most, links)
        if _size(text) <= limit:
            return text
    return numbers.shortened(text, limit // 4)


def _fitted(
    report: RunReport, shape: tuple[int, int], limit: int, most: int | None, links: Links
) -> str:
    """Return the text with as many details and rows as fit; the first ones are never left out."""
    characters, least = shape
    write = Writer(links)
    table = content.table(report)
    head = [write.block(block) for block in (*content.top(report), *content.targets(report, 100))]
    tail = [
        *map(write.block, content.findings(report)),
        *map(write.block, content.notes(report)),
        write.last_line(content.end(report)),
    ]
    cases = content.detailed(report)[:most]
    rows = table.rows if most is None else _bounded(table.rows, COMMENT_ROWS)
    room = limit - sum(_size(text) + 2 for text in (*head, *tail)) - 400  # for the note
    first = [write.block(case_blocks.detail(case, report, characters)) for case in cases[:least]]
    room -= sum(_size(text) + 2 for text in first)
    lines = [write.row(row) for row in rows]
    kept, room = _that_fit(lines[:-1], room - _size(lines[-1]) if lines else room)
    more, room = _that_fit(
        (write.block(case_blocks.detail(case, report, characters)) for case in cases[least:]), room
    )
    shown = [*first, *more]
    left_out = _left_out(report, table, len(kept) + len(lines[-1:]), len(shown))
    passing = [] if most is not None else [*_passing(report, write, room)]
    middle = _tables(write.table_head(table), [*kept, *lines[-1:]])
    details = _together(f"Details of {len(shown):,} cases", shown, FEW)
    blocks = [*head, *middle, *left_out, *tail[:-1], *details, *passing, tail[-1]]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _tables(head: str, lines: list[str]) -> Iterator[str]:
    """Yield the table; of a long one, the rows between the first and the last are folded."""
    if lines:
        most = len(lines) if len(lines) <= FIRST + FEW else FIRST
        first, rest = lines[: most - 1], lines[most - 1 : -1]
        yield "\n".join([head, *first, lines[-1]])
        if rest:
            yield from _together(f"{len(rest):,} more", ["\n".join([head, *rest])], 0)


def _together(title: str, blocks: list[str], few: int) -> list[str]:
    """Return blocks as they are if they are few, else behind one title."""
    if len(blocks) <= few:
        return blocks
    inner = "\n\n".join(blocks)
    return [f"<details><summary>{title}</summary>\n\n{inner}\n\n</details>"]


def _bounded(rows: Sequence[Row], most: int) -> Sequence[Row]:
    """Return the first rows and the last one, which counts the passing cases."""
    return rows if len(rows) <= most else (*rows[: most - 1], rows[-1])


def _that_fit(texts: Iterable[str], room: int) -> tuple[list[str], int]:
    """Return the first texts that fit, and the room that is left."""
    kept: list[str] = []
    for text in texts:
        if (size := _size(text) + 2) > room:
            break
        kept.append(text)
        room -= size
    return kept, room


def _left_out(report: RunReport, table: Table, rows: int, details: int) -> Iterator[str]:
    """Yield a note about rows and details that are not shown."""
    cases = len(content.detailed(report))
    parts = [
        f"{len(table.rows) - rows:,} rows of the table" if rows < len(table.rows) else "",
        f"details of {cases - details:,} of {cases:,} cases" if details < cases else "",
    ]
    if said := ", ".join(filter(None, parts)):
        yield f"> [!NOTE]\n> Omitted to keep this short: {said}. The report files have everything."


def _passing(report: RunReport, write: "Writer", room: int) -> Iterator[str]:
    """Yield the passing cases behind a summary, if they are not too many and all fit."""
    passing = [each for each in with_verdict(report.cases) if each.status == "pass"]
    if not 0 < len(passing) <= PASSING:
        return
    text = "\n".join(f"- {write.spans(case_blocks.passing_line(case))}" for case in passing)
    if _size(text) < room - 199:  # for the summary
        title = f"{SIGNS['pass'][0]} {numbers.plural(len(passing), 'passing case')}"
        yield f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class Writer:
    """Writes blocks in GitHub's markdown.

    NOTE: no line may begin with a text of others: bots read `/merge`, blanks before it as well.
    """

    def __init__(self, links: Links) -> None:
        self._links = links

    def block(self, block: Block) -> str:
        match block:
            case Heading():
                text = f"## {GATE_ICONS[block.tone]} {escape.prose(block.text)}"
            case Line():
                sign = f"{SIGNS[block.status][0]} " if block.status else ""
                text = sign + self.spans(block.spans)
            case Listed():
                lines = "\n".join(f"- {self.spans(line)}" for line in block.lines)
                text = f"**{escape.prose(block.title)}**\n\n{lines}" if block.title else lines
            case Quoted():
                text = "\n>\n".join(f"> {escape.prose(each)}" for each in block.texts)
            case Literally():
                text = _literally(block)
            case Differs():
                text = _differs(block)
            case Table():
                title = f"**{escape.markdown(block.title)}**\n\n" if block.title else ""
                text = title + "\n".join([self.table_head(block), *map(self.row, block.rows)])
            case Folded():
                text = self._folded(block)
            case Facts():
                text = self.last_line(block)
            case _:
                assert_never(block)
        return text

    def spans(self, spans: Spans, *, in_table: bool = False) -> str:
        return "".join(self._span(span, in_table=in_table) for span in spans)

    def _span(self, span: Span, *, in_table: bool) -> str:
        inner = span.text.strip()
        if span.style == "code":
            text = escape.code_span(inner, in_table=in_table)
        else:
            text = escape.markdown(inner) if in_table or span.file else escape.prose(inner)
        if span.file:
            shown = _BREAK.sub("<wbr>", text) if in_table else text
            text = self._links.place(span.file, span.line, shown)
        return _around(span.text, f"**{text}**" if inner and span.style == "strong" else text)

    def table_head(self, table: Table) -> str:
        signs = any(row.status for row in table.rows)
        heads = [self.spans(head, in_table=True) for head in table.heads]
        heads = [" ", *_narrow(heads, " · ")] if signs else heads
        return f"| {' | '.join(heads)} |\n|{'|'.join(' :-- ' for _ in heads)}|"

    def row(self, row: Row) -> str:
        cells = [self.spans(cell, in_table=True) for cell in row.cells]
        cells = [SIGNS[row.status][0], *_narrow(cells, "<br>")] if row.status else cells
        return f"| {' | '.join(cells)} |"

    def last_line(self, block: Facts) -> str:
        """Return the facts in one line of small letters, with the links to the run and its page."""
        facts = [self.spans(fact, in_table=True) for fact in block.facts]
        if self._links.run:
            facts.append(f"[run]({escape.link_target(self._links.run)})")
        return f"<sub>{' · '.join(filter(None, [*facts, self._links.artifact]))}</sub>"

    def _folded(self, block: Folded) -> str:
        sign = f"{SIGNS[block.status][0]} " if block.status else ""
        title = "".join(_in_html(span) for span in block.title)
        inner = "\n\n".join(map(self.block, block.blocks))
        return f"<details><summary>{sign}{title}</summary>\n\n{inner}\n\n</details>"


def _narrow(cells: list[str], below: str) -> list[str]:
    """Return the cells of a row for a screen of 400 pixels: score and change below the case."""
    first, *middle, last = cells
    if len(cells) <= _NARROW:
        return cells
    return [below.join(filter(None, [first, " · ".join(filter(None, middle))])), last]


def _in_html(span: Span) -> str:
    text = escape.prose_in_html(span.text.strip())
    return _around(span.text, f"<b>{text}</b>" if span.style == "strong" else text)


def _around(text: str, shown: str) -> str:
    """Return the visible part of a text, with the blank before and after it, if it has one."""
    return f"{' ' * text[:1].isspace()}{shown}{' ' * (text[-1:].isspace() and bool(shown))}"


def _literally(block: Literally) -> str:
    title = f"**{escape.markdown(block.title)}**"
    text = block.text.strip()
    lines = text.split("\n")
    code = "```" in text or any(line[:1].isspace() for line in lines)
    if len(lines) > 1 and (code or _are_narrow(lines)):
        return f"{title}\n\n{_in_quote(escape.fence(text, 'text'))}"
    return f"{title}\n\n{_quoted([*map(escape.prose, lines)])}"


def _differs(block: Differs) -> str:
    """Return the lines that differ, in a block of a diff if they are narrow."""
    title = f"**{escape.markdown(block.title)}**\n\n" if block.title else ""
    lines = changed_lines(block, wrapped=False)
    if _are_narrow(lines):
        return title + _in_quote(escape.fence("\n".join(lines), "diff"))
    return title + _quoted([_signed(line) for line in lines])


def _signed(line: str) -> str:
    text = escape.prose(line[2:])
    return f"**{line[0]}** {text}".rstrip() if line[0] != " " else text


def _are_narrow(lines: Sequence[str]) -> bool:
    return all(len(line) <= PHONE for line in lines)


def _quoted(lines: Sequence[str]) -> str:
    """Return lines of markdown as a quote, which wraps them at any width."""
    following = (*lines[1:], "")
    pairs = zip(lines, following, strict=True)
    broken = [f"{line}\\" if line and after else line for line, after in pairs]
    return _in_quote("\n".join(broken))


def _in_quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))
