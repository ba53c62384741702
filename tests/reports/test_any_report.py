"""Any report file is refused with one message or shown in every format.

A fork's report is written by the fork, and is read by a job that may write.
"""

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import CannotReadReport
from rubric_ci.gate.report import json_format
from rubric_ci.reports import annotations, formats, markdown, terminal
from rubric_ci.values.formats_and_defaults import REPORT_FILES

REPORT = json.loads(
    (Path(__file__).parents[1] / "golden/mixed.report.json").read_text(encoding="utf-8")
)

Path_ = tuple[str | int, ...]
NUMBERS = st.sampled_from(
    [0, -1, 10**9, -(10**400), 1e30, 1e308, -1e308, 1e-320, float("inf"), float("nan"), 0.5]
)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    st.text(st.characters(exclude_categories=()), max_size=8),
    st.sampled_from(["", "pass", "fail", "graded", "errored", "\x00", "a\nb", "|", "`" * 9]),
    st.just([]),
    st.just({}),
    st.just([[]]),
)


def paths(value: Any, path: Path_ = ()) -> list[Path_]:
    children = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(found for key, child in children for found in paths(child, (*path, key)))]


def put(value: Any, path: Path_, odd: Any) -> Any:
    if not path:
        return odd
    changed = copy.copy(value)
    changed[path[0]] = put(value[path[0]], path[1:], odd)
    return changed


def number_paths() -> list[Path_]:
    def at(path: Path_) -> Any:
        value: Any = REPORT
        for step in path:
            value = value[step]
        return value

    return [path for path in paths(REPORT) if type(at(path)) in {int, float}]


CHANGES = st.one_of(
    st.tuples(st.sampled_from(paths(REPORT)), ODD),
    st.tuples(st.sampled_from(number_paths()), NUMBERS),
)


@given(st.lists(CHANGES, min_size=1, max_size=2))
def test_refused_or_shown(changes: list[tuple[Path_, Any]]) -> None:
    data = REPORT
    for path, odd in changes:
        try:
            data = put(data, path, odd)
        except (KeyError, IndexError, TypeError):  # the first change took the second's place away
            continue
    try:
        report = json_format.read(json.dumps(data))
    except CannotReadReport:
        return
    shown = [formats.render(name, report) for name in REPORT_FILES]
    shown.append(markdown.render(report, limit=3000))
    shown.append(terminal.render(report, width=80, color=True, detail="full"))
    assert all(text.encode() for text in shown)
    lines = annotations.render(report).encode().splitlines()
    assert all(line.startswith(b"::") for line in lines)
