"""Where the rubrics of a case are inserted in a YAML text, and in which layout."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from rubric_ci.files.editing import yaml_writer
from rubric_ci.files.editing.yaml_layout import (
    LINE_BREAK,
    Leaf,
    Mapping,
    Node,
    Sequence,
    last_line_break,
    line_start,
    tail,
)
from rubric_ci.files.editing.yaml_writer import ListLayout
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON

_BLANKS_AND_COMMENTS = re.compile(r"(?:\s|#[^\r\n]*)*")


class Keys(NamedTuple):
    """The keys of a file's cases and of the criteria of a case; other tools have other ones."""

    cases: str = "evalcases"
    criteria: str = "rubrics"


@dataclass(frozen=True, slots=True)
class Splice:
    index: int
    text: str


class CannotPlace(Exception):
    """Rubrics cannot be inserted into a case; the message is the reason."""


def place(
    text: str, root: Node | None, position: int, rubrics: JSON, keys: Keys
) -> tuple[Splice, ...]:
    """Return the insertions that give a case these rubrics."""
    cases = root.get(keys.cases) if isinstance(root, Mapping) else None
    if not (isinstance(root, Mapping) and isinstance(cases, Sequence)):
        raise CannotPlace(f"`{keys.cases}` comes from an alias or merge key")
    case = cases.items[position]
    if not isinstance(case, Mapping):
        raise CannotPlace("the case is an alias of another case")
    if case.get(keys.criteria) is not None:
        raise CannotPlace(f"the case has a `{keys.criteria}` key already")
    if case.flow:
        return _into_flow(text, case, keys.criteria, rubrics)
    layout = _list_layout(text, case, root, cases)
    return (_into_block(text, case, yaml_writer.block_lines(keys.criteria, rubrics, layout)),)


def splice(text: str, splices: Iterable[Splice]) -> str:
    parts, done = [], 0
    for part in sorted(splices, key=lambda part: part.index):
        parts += [text[done : part.index], part.text]
        done = part.index
    return "".join([*parts, text[done:]])


def _into_block(text: str, case: Mapping, written: list[str]) -> Splice:
    """Insert lines after the case's last line of content, in the layout of the file."""
    lines = [" " * case.column + line if line else "" for line in written]
    line_break = LINE_BREAK.search(text, _anchor(case).end)
    if line_break:
        newline = line_break.group()
        return Splice(line_break.end(), "".join(line + newline for line in lines))
    newline = last_line_break(text)
    return Splice(len(text), "".join(newline + line for line in lines))


def _anchor(case: Mapping) -> Node:
    """Return the value after which rubrics are inserted: the last one, or the one before it.

    A block scalar that ends the file without a newline would get a newline as content.
    """
    *earlier, (_, last) = case.pairs
    end = tail(last)
    if end is None or not end.open_ended:
        return last
    if not earlier:
        raise CannotPlace("the case ends in a block scalar without a final newline")
    return earlier[-1][1]


def _list_layout(text: str, case: Mapping, suite: Mapping, cases: Sequence) -> ListLayout:
    """Return the layout of lists: of the case itself, else of another case, else of the suite."""
    others = [other for other in cases.items if isinstance(other, Mapping)]
    for owner in (case, *others, suite):
        for _, value in owner.pairs:
            if isinstance(value, Sequence) and not value.flow and text[value.start] == "-":
                first = value.items[0]
                inline = LINE_BREAK.search(text, value.start, first.start) is None
                item = max(first.column - value.column, 2) if inline else 2
                return ListLayout(value.column - owner.column, item)
    return ListLayout()


def _into_flow(text: str, case: Mapping, name: str, rubrics: JSON) -> tuple[Splice, ...]:
    """Insert a pair after the last one, on its own lines if the last one has its own line."""
    as_json = all(isinstance(key, Leaf) and key.quoted for key, _ in case.pairs)
    key, write = (f'"{name}"', yaml_writer.flow_json) if as_json else (name, yaml_writer.flow)
    last_key, last = case.pairs[-1]
    indent = text[line_start(text, last_key.start) : last_key.start]
    if not indent.strip():
        step = "\t" if indent.endswith("\t") else "  "
        items = ",\n".join(f"{step}{write(item)}" for item in rubrics).split("\n")
        lines = [indent + line for line in (f"{key}: [", *items, "]")]
        in_lines = _own_lines(text, last, lines)
        if in_lines:
            return in_lines
    comma = " , " if last.start == last.end and text[last.end - 1] != " " else ", "
    return (Splice(last.end, f"{comma}{key}: {write(rubrics)}"),)


def _own_lines(text: str, last: Node, lines: list[str]) -> tuple[Splice, ...]:
    """Insert lines after the line of the last pair; none if the closing brace is on it."""
    after = _after_blanks_and_comments(text, last.end)
    comma = text.startswith(",", after)
    brace = _after_blanks_and_comments(text, after + 1) if comma else after
    found = LINE_BREAK.search(text, after if comma else last.end)
    if not found or brace < found.end():
        return ()
    new = found.group().join(lines) + ("," if comma else "") + found.group()
    return (*(() if comma else (Splice(last.end, ","),)), Splice(found.end(), new))


def _after_blanks_and_comments(text: str, index: int) -> int:
    found = _BLANKS_AND_COMMENTS.match(text, index)
    return found.end() if found else index
