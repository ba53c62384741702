"""Where in a YAML text the rubrics of a case go, and how they are written there."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rubric_ci.editing import yaml_writer
from rubric_ci.editing.yaml_layout import (
    LINE_BREAK,
    Leaf,
    Mapping,
    Node,
    Sequence,
    line_start,
    tail,
)
from rubric_ci.editing.yaml_writer import ListManner
from rubric_ci.model.evals import JSON

_KEY = "rubrics"
_BLANKS_AND_COMMENTS = re.compile(r"(?:\s|#[^\r\n]*)*")


@dataclass(frozen=True, slots=True)
class Splice:
    """A text, and the index before which it is put in."""

    index: int
    text: str


class CannotPlace(Exception):
    """There is no place for rubrics in a case; the message is the reason."""


def place(text: str, root: Node | None, position: int, rubrics: JSON) -> tuple[Splice, ...]:
    """Return what to put in so that a case has these rubrics."""
    cases = root.get("evalcases") if isinstance(root, Mapping) else None
    if not (isinstance(root, Mapping) and isinstance(cases, Sequence)):
        raise CannotPlace("`evalcases` is not written out here but comes by an alias or merge key")
    case = cases.items[position]
    if not isinstance(case, Mapping):
        raise CannotPlace("the case is an alias of another")
    if case.get(_KEY) is not None:
        raise CannotPlace("the case has a `rubrics` key already")
    if case.flow:
        return _into_flow(text, case, rubrics)
    return (_into_block(text, case, rubrics, _manner(text, case, root, cases)),)


def splice(text: str, splices: Iterable[Splice]) -> str:
    """Return the text with everything put in."""
    parts, done = [], 0
    for part in sorted(splices, key=lambda part: part.index):
        parts += [text[done : part.index], part.text]
        done = part.index
    return "".join([*parts, text[done:]])


def _into_block(text: str, case: Mapping, rubrics: JSON, manner: ListManner) -> Splice:
    """Put lines after the case's last line of content, in the file's manner."""
    lines = [
        " " * case.column + line if line else ""
        for line in yaml_writer.block_lines(_KEY, rubrics, manner)
    ]
    line_break = LINE_BREAK.search(text, _anchor(case).end)
    if line_break:
        newline = line_break.group()
        return Splice(line_break.end(), "".join(line + newline for line in lines))
    newline = _last_line_break(text)
    return Splice(len(text), "".join(newline + line for line in lines))


def _anchor(case: Mapping) -> Node:
    """Return what the rubrics come after: the last pair, or the one before it.

    A block scalar that ends the file without a newline would get one as content.
    """
    *earlier, (_, last) = case.pairs
    end = tail(last)
    if end is None or not end.open_ended:
        return last
    if not earlier:
        raise CannotPlace("the case ends in a block scalar without a final newline")
    return earlier[-1][1]


def _manner(text: str, case: Mapping, suite: Mapping, cases: Sequence) -> ListManner:
    """Return how lists are set here: in the case itself, else in another, else in the suite."""
    others = [other for other in cases.items if isinstance(other, Mapping)]
    for owner in (case, *others, suite):
        for _, value in owner.pairs:
            if isinstance(value, Sequence) and not value.flow and text[value.start] == "-":
                first = value.items[0]
                inline = LINE_BREAK.search(text, value.start, first.start) is None
                item = max(first.column - value.column, 2) if inline else 2
                return ListManner(value.column - owner.column, item)
    return ListManner()


def _last_line_break(text: str) -> str:
    return next((found.group() for found in reversed([*LINE_BREAK.finditer(text)])), "\n")


def _into_flow(text: str, case: Mapping, rubrics: JSON) -> tuple[Splice, ...]:
    """Put in one more pair after the last: in lines of its own where the last has one, too."""
    as_json = all(isinstance(key, Leaf) and key.quoted for key, _ in case.pairs)
    key, write = (f'"{_KEY}"', yaml_writer.flow_json) if as_json else (_KEY, yaml_writer.flow)
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
    """Put lines after the last pair's line; nothing where the closing brace stands in it."""
    behind = _after_blanks_and_comments(text, last.end)
    comma = text.startswith(",", behind)
    brace = _after_blanks_and_comments(text, behind + 1) if comma else behind
    found = LINE_BREAK.search(text, behind if comma else last.end)
    if not found or brace < found.end():
        return ()
    new = found.group().join(lines) + ("," if comma else "") + found.group()
    return (*(() if comma else (Splice(last.end, ","),)), Splice(found.end(), new))


def _after_blanks_and_comments(text: str, index: int) -> int:
    found = _BLANKS_AND_COMMENTS.match(text, index)
    return found.end() if found else index
