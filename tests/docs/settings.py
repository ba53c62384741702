"""The table of the policy's settings in `docs/policy.md`, from the rows of the program.

`make golden` writes it.
"""

from pathlib import Path

from rubric_ci.gate.differences.effect_of_each_key import CONFIG
from rubric_ci.gate.differences.move import Order

PAGE = Path(__file__).parents[2] / "docs" / "policy.md"
START, END = "<!-- settings: made by `make golden` -->", "<!-- end of settings -->"
OTHERS = "| every other setting | not known: *changed* |"


def page(text: str) -> str:
    """Return the page with its table made from the settings."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    assert start, f"the page has no line {START}"
    assert end, f"the page has no line {END}"
    return f"{before}{START}\n{table()}\n{END}{after}"


def table() -> str:
    """Return a row for each setting that is part of the grading."""
    rows = (
        f"| `{each.shown or each.pattern}` | {each.told.weaker} |"
        for each in CONFIG
        if each.kind and isinstance(each.told, Order) and each.told.weaker
    )
    return "\n".join(("| setting | weaker if |", "|---|---|", *rows, OTHERS))


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
