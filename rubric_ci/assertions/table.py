"""All keys of assertions, and an assertion in words."""

from collections.abc import Mapping
from typing import Final

from rubric_ci.assertions import calls, folder, json_data, text, words
from rubric_ci.assertions.row import CALLS, Row, listed, shown
from rubric_ci.model.json_value import JSON

TABLE: Final[Mapping[str, Row]] = {
    row.key: row for row in (*text.ROWS, *json_data.ROWS, *words.ROWS, *calls.ROWS, *folder.ROWS)
}


def described(key: str, value: JSON, *, negated: bool, field: str) -> str:
    """Return an assertion in words, such as "Field `total` equals `42`"."""
    row = TABLE[key]
    words = (row.denies if negated else row.says).format(_said(value, row))
    return f"Field `{field}` {words}" if field else f"{words[0].upper()}{words[1:]}"


def _said(value: JSON, row: Row) -> str:
    if isinstance(value, list) and (row.growth or row.of == CALLS):
        return listed(value)
    return f"{value:,}" if isinstance(value, int) and row.growth else shown(value)
