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
This page shows which promises hold for which kind of answer: a model, an agent, a conversation, \
recorded answers, another tool. Each cell is tried by a test with the command line: *yes* holds, \
*refused* ends with exit code 2 and a sentence, and *n/a* does not apply, for the reason below.

What marks an answer has no column: assertions, scripts (also in a \
[container](evaluators.md#score-from-the-exit-status)) and prompts mark answers of every kind, and \
[`metadata`](changed-cases.md) of a case counts where a script or a hook reads it. AgentV's \
[`extensions`](from-agentv.md) are hooks of a workspace.

<!-- Made by `make golden` from tests/promises/table.py; do not edit. -->
"""
END = """\
Next: [targets](targets.md), [agents](agents.md), [conversations](conversations.md), \
[results of other tools](adopt.md).
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join((HEAD, *table(), "", *promises(), "", *exceptions(), "", END))


def table() -> Iterator[str]:
    """Yield a row per promise, with a column per kind."""
    titles = [f"[{row.title}]({row.page})" for row in KINDS.values()]
    yield f"| | {' | '.join(titles)} |"
    yield f"|---|{'---|' * len(KINDS)}"
    for name, promise in PROMISES.items():
        signs = (_sign(cell(kind, name)) for kind in KINDS)
        yield f"| [{promise.title}](#{_anchor(promise.title)}) | {' | '.join(signs)} |"


def promises() -> Iterator[str]:
    """Yield a paragraph per promise."""
    yield "## The promises"
    for promise in PROMISES.values():
        yield f"### {promise.title[0].upper()}{promise.title[1:]}"
        yield f"{promise.says} [More]({promise.page})."
        yield ""


def exceptions() -> Iterator[str]:
    """Yield a row for each cell that does not hold."""
    yield "## Where a promise does not hold"
    yield "| promise | kind | | why |"
    yield "|---|---|---|---|"
    for name, promise in PROMISES.items():
        for kind in promise.but:
            each = cell(kind, name)
            yield f"| {promise.title} | {KINDS[kind].title} | {_sign(each)} | {_why(each)} |"


def _sign(each: Cell) -> str:
    return SIGNS[type(each)]


def _why(each: Cell) -> str:
    match each:
        case Refused():
            return f"{each.why}; exit code 2: `{each.says}`"
        case DoesNotApply():
            return each.why
        case _:
            return ""


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
