"""The page `docs/what-works-with-what.md`, from the table that the tests try.

`make golden` writes it.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.promises.table import KINDS, PROMISES, Cell, DoesNotApply, Holds, Refused, cell

PAGE = Path(__file__).parents[2] / "docs" / "what-works-with-what.md"
SIGNS = {Holds: "yes", Refused: "refused", DoesNotApply: "n/a"}
HEAD = """\
# What works with what
This page shows what holds for every kind of answer, and the few places where it does not. Each \
promise is tried with each kind by a test with the command line: *refused* ends with exit code 2 \
and a sentence, *n/a* does not apply.

<!-- Made by `make golden` from tests/promises/table.py; do not edit. -->
"""
END = """\
Next: [targets](targets.md), [agents](agents.md), [conversations](conversations.md), \
[results of other tools](adopt.md).
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join((HEAD, *kinds(), "", *promises(), "", *exceptions(), "", END))


def kinds() -> Iterator[str]:
    """Yield the kinds of answers."""
    yield "## Kinds of answers"
    yield " · ".join(f"[{row.title}]({row.page})" for row in KINDS.values())


def promises() -> Iterator[str]:
    """Yield a row per promise."""
    yield "## What holds for all of them"
    yield "| promise | means | but |"
    yield "|---|---|---|"
    for name, promise in PROMISES.items():
        but = sum(not isinstance(cell(kind, name), Holds) for kind in promise.but)
        more = f"[{but} of {len(KINDS)} kinds](#where-it-does-not-hold)" if but else ""
        yield f"| [{promise.title}]({promise.page}) | {promise.says} | {more} |"


def exceptions() -> Iterator[str]:
    """Yield a row for each reason why promises do not hold for kinds."""
    yield "## Where it does not hold"
    yield "| kinds | promises | | why |"
    yield "|---|---|---|---|"
    kinds_of: dict[tuple[str, str, str], list[str]] = {}
    for name, promise in PROMISES.items():
        for kind in promise.but:
            each = cell(kind, name)
            key = (promise.title, SIGNS[type(each)], _why(each))
            kinds_of.setdefault(key, []).append(KINDS[kind].title)
    rows: dict[tuple[str, str, str], list[str]] = {}
    for (title, sign, why), titles in kinds_of.items():
        rows.setdefault(("; ".join(titles), sign, why), []).append(title)
    for (shown, sign, why), names in rows.items():
        yield f"| {shown} | {', '.join(names)} | {sign} | {why} |"


def _why(each: Cell) -> str:
    match each:
        case Refused():
            return f"{each.why}; exit code 2: `{each.says}`"
        case DoesNotApply():
            return each.why
        case _:
            return ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
