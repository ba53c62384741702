"""Dedent list items that are one column too deep, so that they are items again.

YAML appends such a line to the text above. One column deeper is a sibling, in Markdown as well; at
two or more it could be a list inside of that text, and is kept.
"""

import re
from collections.abc import Collection, Iterator
from copy import deepcopy
from json import dumps
from typing import Any, Final, NamedTuple

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_ci.editing.largest_subset import largest_valid_subset
from rubric_ci.validation.ignore_comments import ignored_rules
from rubric_ci.yaml_text.document import Document
from rubric_ci.yaml_text.plain_scalars import YAML_ITEM_IN_TEXT
from rubric_ci.yaml_text.problems import Path
from rubric_ci.yaml_text.syntax_errors import BREAK, split_lines

_ITEM: Final = re.compile(r"\A( *+)- ")


class Absorbed(NamedTuple):
    """A list item and the items that became part of its text."""

    owner: Path
    position: int  # in the list
    lines: tuple[int, ...]  # of the absorbed items, from 0


def separate_items(
    document: Document, switched_off: Collection[str], attempts: int
) -> tuple[Document, int]:
    """Return the document with separate items, and how many; none if the rule is switched off."""
    if not any(problem.rule == YAML_ITEM_IN_TEXT for _, problem in document.text_problems):
        return document, 0
    kept = _kept_lines(document.text, switched_off)
    found = [each for each in _absorbed(document) if kept.isdisjoint(each.lines)]
    valid = largest_valid_subset(found, lambda some: _holds(document, some), attempts)
    lines = [line for each in valid for line in each.lines]
    return Document("", _dedented(document.text, lines)), len(lines)


def _kept_lines(text: str, switched_off: Collection[str]) -> frozenset[int]:
    """Return the lines, from 0, whose items are not reported."""
    if YAML_ITEM_IN_TEXT.id in switched_off:
        return frozenset(range(len(split_lines(text))))
    ignored = ignored_rules(text)
    return frozenset(each.line - 1 for each in ignored if each.rule == YAML_ITEM_IN_TEXT.id)


def _absorbed(document: Document) -> Iterator[Absorbed]:
    """Yield the items of block lists that contain other items, in the order of the file."""
    lines = split_lines(document.text)
    for path, node in _block_lists(document.root):
        for index, item in enumerate(node.value):
            if item.__class__ is ScalarNode and not item.style:
                inside = range(item.start_mark.line + 1, item.end_mark.line + 1)
                columns = {n: len(found[1]) for n in inside if (found := _ITEM.match(lines[n]))}
                if set(columns.values()) == {node.start_mark.column + 1}:
                    yield Absorbed(path, index, tuple(columns))


def _block_lists(root: Any) -> Iterator[tuple[Path, Any]]:
    """Yield every list that is written with `- `, once, with its path, in the order of the file."""
    seen: set[int] = set()
    queue: list[tuple[Path, Any]] = [((), root)]
    while queue:
        path, node = queue.pop()
        if id(node) in seen or node.__class__ is ScalarNode:
            continue
        seen.add(id(node))
        if node.__class__ is SequenceNode:
            if not node.flow_style:
                yield path, node
            queue += reversed([((*path, index), item) for index, item in enumerate(node.value)])
        elif node.__class__ is MappingNode:
            queue += reversed([((*path, key.value), item) for key, item in node.value])


def _holds(document: Document, some: list[Absorbed]) -> bool:
    """Return True if the separate items, joined again, are the data of the text before."""
    lines = [line for each in some for line in each.lines]
    after = Document("", _dedented(document.text, lines))
    if not after.readable:
        return False
    data = deepcopy(after.data)
    try:
        for each in sorted(some):
            _join(data, document.data, each)
    except (KeyError, IndexError, TypeError):
        return False
    return dumps(data) == dumps(document.data)


def _join(data: Any, before: Any, each: Absorbed) -> None:
    """Replace items by the text that they were part of; raises LookupError or TypeError."""
    for step in each.owner:
        data, before = data[step], before[step]
    start, end = each.position, each.position + len(each.lines) + 1
    text = before[start]
    if _words(" - ".join(data[start:end])) == _words(text):
        data[start:end] = [text]


def _words(text: str) -> list[str]:
    """Return the words without quotation marks, which end with the item that they enclose."""
    return re.sub("[\"']", "", text).split()


def _dedented(text: str, lines: list[int]) -> str:
    starts = [0, *(found.end() for found in BREAK.finditer(text))]
    places = sorted(starts[line] for line in lines)
    bounds = [0, *(place + 1 for place in places)]
    pieces = [text[start:end] for start, end in zip(bounds, [*places, len(text)], strict=True)]
    return "".join(pieces)
