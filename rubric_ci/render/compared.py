"""A comparison by itself, as `rubric-ci compare` prints it: text, markdown, JSON."""

from collections.abc import Callable, Iterator, Mapping

from rubric_ci import wire
from rubric_ci.model.report import CaseChange, Comparison
from rubric_ci.render import changes, escape


def text(comparison: Comparison) -> str:
    """Return a line for each case that is not the same, then the whole."""
    told = changes.by_case(comparison)
    rows = [f"{c.file}: {c.id}: {_told(c, told)}" for c in _different(comparison)]
    lines = [*rows, *changes.lines(comparison), changes.headline(comparison)]
    return "".join(f"{escape.terminal(line)}\n" for line in lines)


def markdown(comparison: Comparison) -> str:
    """Return a heading, the whole, and a table of the cases that are not the same."""
    icon = "❌" if comparison.regressed else "✅"
    blocks = [f"## {icon} rubric-ci · {changes.headline(comparison)}"]
    blocks.append("\n".join(f"- {escape.prose(line)}" for line in changes.lines(comparison)))
    if rows := list(_rows(comparison)):
        blocks.append("\n".join(["| Case | File | Change |", "|:--|:--|:--|", *rows]))
    return "\n\n".join(blocks) + "\n"


def json(comparison: Comparison) -> str:
    """Return the comparison as a report holds it."""
    return wire.render_comparison(comparison)


FORMATS: Mapping[str, Callable[[Comparison], str]] = {
    "text": text,
    "markdown": markdown,
    "json": json,
}


def _rows(comparison: Comparison) -> Iterator[str]:
    told = changes.by_case(comparison)
    for change in _different(comparison):
        name = escape.code_span(change.id, in_table=True)
        file = escape.code_span(change.file, in_table=True)
        yield f"| {name} | {file} | {escape.markdown(_told(change, told))} |"


def _told(change: CaseChange, told: Mapping[tuple[str, str], str]) -> str:
    words = told[change.file, change.id]
    if change.kind not in {"errored", "gone"}:
        return words
    return f"{change.kind}, {words}" if words else change.kind


def _different(comparison: Comparison) -> list[CaseChange]:
    return [change for change in comparison.changes if change.kind != "same" or change.flips]
