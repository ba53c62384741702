"""The table of assertions in `docs/rubrics.md`: `make golden` writes it."""

import json
from collections.abc import Iterator
from pathlib import Path

from rubric_ci.evaluators.assertions.marking import TABLE
from rubric_ci.evaluators.assertions.row import Row

PAGE = Path(__file__).parents[2] / "docs/rubrics.md"
START, END = "<!-- assertions: made by `make golden` -->", "<!-- end of assertions -->"


def page(text: str) -> str:
    """Return the page with its table."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    assert start, f"the page has no line {START}"
    assert end, f"the page has no line {END}"
    return f"{before}{start}\n{chr(10).join(_lines())}\n{end}{after}"


def _lines() -> Iterator[str]:
    yield "| key | value | holds when | `ignore_case` |"
    yield "|---|---|---|---|"
    for row in TABLE.values():
        meaning = row.meaning[0].lower() + row.meaning[1:].removesuffix(".")
        yield f"| `{row.key}` | {_value(row)} | {meaning} | {'yes' if row.folds else ''} |"


def _value(row: Row) -> str:
    examples = [json.dumps(each, ensure_ascii=False) for each in row.value["examples"]]
    return " or ".join(f"`{example}`" for example in examples)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
