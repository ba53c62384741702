"""Plain scalars that contain a list item, or end at a comment, against the intention."""

import re
from collections.abc import Iterator
from typing import Any, Final

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_ci.model.rules import Rule, with_rubrics
from rubric_ci.yaml_text.problems import LocatedProblem
from rubric_ci.yaml_text.syntax_errors import split_lines

_ITEM = re.compile(r"[ \t]*- ")
_HASH = re.compile(r"[ \t]+(#[^\s#!]\S*)")


YAML_ITEM_IN_TEXT: Final = Rule(
    id="yaml-item-in-text",
    switchable=True,
    meaning=(
        "A line that starts with `- ` and is indented deeper than the text above it is not a list "
        "item: YAML appends it to that text."
    ),
    hint="start it in the column of the item above, or quote the text",
    bad=with_rubrics("- Greets\n - Says goodbye"),
    good=with_rubrics("- Greets\n- Says goodbye"),
)
YAML_COMMENT_IN_TEXT: Final = Rule(
    id="yaml-comment-in-text",
    severity="warning",
    switchable=True,
    meaning=(
        "In text without quotes, ` #` starts a comment, so the text ends before it. A comment with "
        "a blank after its `#` is not reported."
    ),
    hint="quote the text, or write a blank after `#` if it is a comment",
    bad=with_rubrics("- Names the issue #12"),
    good=with_rubrics('- "Names the issue #12"'),
)


def plain_scalar_problems(root: Any, text: str) -> Iterator[LocatedProblem]:
    """Yield list items that became text, and texts that end at a `#`, in the order of the file."""
    lines = split_lines(text)
    scalars = sorted(_plain_scalars(root), key=lambda node: node.start_mark.index)
    for scalar in scalars:
        yield from _items(scalar, lines)
        yield from _comment(scalar, lines)


def _plain_scalars(root: Any) -> Iterator[Any]:
    """Yield each plain scalar once; aliases may form cycles."""
    seen: set[int] = set()
    open_nodes = [root]
    while open_nodes:
        node = open_nodes.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.__class__ is ScalarNode and not node.style:
            yield node
        elif node.__class__ is SequenceNode:
            open_nodes.extend(node.value)
        elif node.__class__ is MappingNode:
            open_nodes.extend(each for pair in node.value for each in pair)


def _items(scalar: Any, lines: list[str]) -> Iterator[LocatedProblem]:
    for number in range(scalar.start_mark.line + 1, scalar.end_mark.line + 1):
        found = _ITEM.match(lines[number])
        if found:
            message = "this list item is part of the text above it"
            yield _problem(YAML_ITEM_IN_TEXT, number, found.end() - 2, len(lines[number]), message)


def _comment(scalar: Any, lines: list[str]) -> Iterator[LocatedProblem]:
    end = scalar.end_mark
    found = _HASH.match(lines[end.line], end.column) if " " in scalar.value else None
    if found:
        message = f"`{found[1]}` starts a comment and is not part of the text"
        yield _problem(YAML_COMMENT_IN_TEXT, end.line, found.start(1), found.end(1), message)


def _problem(rule: Rule, line: int, start: int, end: int, message: str) -> LocatedProblem:
    return LocatedProblem(rule, line + 1, start + 1, line + 1, end + 1, message)
