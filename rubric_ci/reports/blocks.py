"""Blocks: the parts that a report for people is made of, before they have a format.

Texts are raw; the writer of a format escapes them, links places and folds what it can fold.
"""

from collections.abc import Mapping
from difflib import unified_diff
from textwrap import wrap
from typing import Final, Literal, TypeAlias

from rubric_ci.reports.wording import CaseStatus
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import Change

COLUMNS: Final = 90  # of a line in a diff
_MOST_WRAPPED: Final = (
    40 * COLUMNS
)  # characters: wrapping one longer line takes time as their square
Tone: TypeAlias = Literal["pass", "fail", "error", "nothing"]
Style: TypeAlias = Literal["plain", "strong", "code", "dim"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of a line; with a file it is the place that it names."""

    text: str
    style: Style = "plain"
    file: str = ""
    line: int = 0  # 0: the file as a whole


Spans: TypeAlias = tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    tone: Tone
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A paragraph of one line, with the sign of a status or without."""

    status: CaseStatus | None = None
    spans: Spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A list of lines, with a title or without."""

    title: str = ""
    lines: tuple[Spans, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """Sentences of a judge, a script or the answer."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Literally:
    """A text of others as it is, below its title: a question, an answer."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Differs:
    """Two versions of a text, line by line."""

    title: str = ""
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table; the status is its sign."""

    status: CaseStatus | None = None
    cells: tuple[Spans, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows below heads; the first column has the signs and no head."""

    title: str = ""
    heads: tuple[Spans, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """Blocks behind a title, in formats that fold."""

    status: CaseStatus | None = None
    title: Spans
    blocks: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    facts: tuple[Spans, ...]


Block: TypeAlias = Heading | Line | Listed | Quoted | Literally | Differs | Table | Folded | Facts
SIGNS: Final[dict[CaseStatus, tuple[str, str]]] = {
    "pass": ("✅", "✓"),
    "borderline": ("🟡", "~"),
    "fail": ("❌", "✗"),
    "errored": ("⚠️", "!"),
    "waived": ("⏸️", "w"),
    "skipped": ("⏭️", "-"),
}
"""The sign of a status on a page, and in a terminal."""


def changed_lines(block: Differs, *, wrapped: bool = True) -> list[str]:
    """Return the lines that differ, each after `-`, `+` or a blank, with one line around them."""
    texts = (block.before, block.after)
    before, after = (_wrapped(text) if wrapped else text.split("\n") for text in texts)
    lines = unified_diff(before, after, n=1, lineterm="")
    return [f"{line[:1]} {line[1:]}" for line in [*lines][2:] if not line.startswith("@@")]


def _wrapped(text: str) -> list[str]:
    """Return the lines of a text, long ones in several: code blocks are not wrapped."""
    return [
        part
        for line in text.split("\n")
        for start in range(0, len(line) or 1, _MOST_WRAPPED)
        for part in wrap(line[start : start + _MOST_WRAPPED], COLUMNS) or [""]
    ]


def plain(*texts: str) -> Spans:
    """Return the texts that are not empty, as one line."""
    return joined([(Span(text=text),) for text in texts if text])


def place(file: str, line: int) -> Span:
    """Return a line of a file, as `file:line`; line 0 is the file as a whole."""
    return Span(text=f"{file}:{line}" if line else file, file=file, line=line)


def joined(parts: list[Spans], between: str = " · ") -> Spans:
    """Return the parts that are not empty, with a separator between them."""
    known = [part for part in parts if part]
    spans: list[Span] = []
    for number, part in enumerate(known):
        spans += [*([Span(text=between)] if number else []), *part]
    return tuple(spans)


def text_of(spans: Spans) -> str:
    return "".join(span.text for span in spans)


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour on light and on dark paper, and the style of rich that is nearest."""

    light: str
    dark: str
    terminal: str = ""


COLOURS: Final[Mapping[str, Colour]] = {
    "pass": Colour("#1a7f37", "#3fb950", "green"),
    "borderline": Colour("#9a6700", "#d29922", "yellow"),
    "fail": Colour("#cf222e", "#f85149", "bold red"),
    "errored": Colour("#8250df", "#ab7df8", "magenta"),
    "waived": Colour("#0969da", "#4493f8", "cyan"),
    "skipped": Colour("#59636e", "#9198a1", "dim"),
    "accent": Colour("#0969da", "#4493f8"),
    "ink": Colour("#1f2328", "#f0f6fc"),
    "soft": Colour("#59636e", "#9198a1"),
    "paper": Colour("#ffffff", "#0d1117"),
    "card": Colour("#f6f8fa", "#151b23"),
    "line": Colour("#d1d9e0", "#3d444d"),
    "quote": Colour("#fff1a8", "#574a12"),
}

CHANGES: Final[Mapping[Change, str]] = {
    "broken": "fail",
    "better": "pass",
    "failing-before": "skipped",
    "not-confirmed": "borderline",
    "new": "waived",
    "not-comparable": "errored",
}
"""The colour of a change, by name."""


def style() -> str:
    """Return the colours as variables of a style sheet, such as `--fail`."""
    light = "; ".join(f"--{name}: {colour.light}" for name, colour in COLOURS.items())
    dark = "; ".join(f"--{name}: {colour.dark}" for name, colour in COLOURS.items())
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )
