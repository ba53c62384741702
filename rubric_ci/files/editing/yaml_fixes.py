"""Fixes of the YAML itself: quotes around a text, and list items that became part of a text.

`- @handle is named` and `- "Quoted" and more` are that text. A value with `: `, ` #`, a second pair
of quotation marks or an escape could mean something else, and is kept.

YAML appends a list item that is one column too deep to the text above. Such an item is a sibling,
in Markdown as well; at two columns or more it could be a list inside of that text, and is kept.
"""

import re
from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from json import dumps
from typing import Any, Final, NamedTuple, TypeVar

from yaml import YAMLError
from yaml._yaml import CParser
from yaml.nodes import MappingNode, ScalarNode, SequenceNode
from yaml.tokens import (
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    ScalarToken,
)

from rubric_ci.files.validation.located_problems import ignored_rules
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.scalars import YAML_ITEM_IN_TEXT, parseable
from rubric_ci.files.yaml_text.syntax_errors import BREAK, YAML_SYNTAX, split_lines
from rubric_ci.values.problems import Path

MAX_VALUES: Final = 20  # each parses the text again
_BLOCK: Final = r"\A(\s*+(?:- ++|[\w$-]++: ++)++)"
_UNSTARTABLE: Final = re.compile(rf"{_BLOCK}([@`%].*)")
_AFTER_QUOTES: Final = re.compile(rf"""{_BLOCK}("[^"\\]*" [^"]*|'[^']*' [^']*)""")
_SEVERAL_MEANINGS: Final = re.compile(r":(?:\s|$)|\s#")
_OPENS: Final = FlowMappingStartToken, FlowSequenceStartToken
_CLOSES: Final = FlowMappingEndToken, FlowSequenceEndToken


def quote_values(document: Document) -> tuple[Document, int]:
    """Return the document with quoted values, and how many; unchanged if one problem remains."""
    values: dict[int, str] = {}  # by their start in code points
    after = document
    while not after.readable and len(values) < MAX_VALUES and (found := _value_at_error(after)):
        start, value = found
        text = after.text
        values[start] = value
        after = Document("", text[:start] + quote(value) + text[start + len(value) :])
    proven = after.readable and values.items() <= _scalars(after.text).items()
    return (after, len(values)) if proven else (document, 0)


def _value_at_error(document: Document) -> tuple[int, str] | None:
    """Return start and text of the value at the syntax error; None if it has several meanings."""
    _, problem = document.text_problems[0]
    if problem.rule != YAML_SYNTAX:
        return None
    start = [0, *(found.end() for found in BREAK.finditer(document.text))][problem.line - 1]
    own = split_lines(document.text[start:])[0].rstrip()
    found = _UNSTARTABLE.fullmatch(own) or _AFTER_QUOTES.fullmatch(own)
    if found is None or _SEVERAL_MEANINGS.search(found[2]):
        return None
    place = start + found.start(2)
    return (place, found[2]) if _is_in_block(document.text, place) else None


def quote(text: str) -> str:
    """Return a text of one line in the quotation marks that need the fewest escapes."""
    if '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f"'{text}'" if "'" not in text else dumps(text, ensure_ascii=False)


def _is_in_block(text: str, place: int) -> bool:
    """Return True if a place is outside of `[ ]` and `{ }`, where a comma would end the value."""
    depth, parser = 0, CParser(parseable(text))
    try:
        while (token := parser.get_token()) and token.start_mark.index < place:
            depth += isinstance(token, _OPENS)
            depth -= isinstance(token, _CLOSES)
    except YAMLError:
        return depth == 0
    return depth == 0


def _scalars(text: str) -> dict[int, str]:
    parser, found = CParser(parseable(text)), {}
    while token := parser.get_token():
        if isinstance(token, ScalarToken):
            found[token.start_mark.index] = token.value
    return found


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
        if id(node) in seen:
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
    except (LookupError, TypeError):
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
    ends = [found.end() for found in BREAK.finditer(text)]
    places = sorted(ends[line - 1] for line in lines)
    kept = map(slice, [0, *(place + 1 for place in places)], [*places, len(text)])
    return "".join(text[each] for each in kept)


_Edit = TypeVar("_Edit")


def largest_valid_subset(
    edits: list[_Edit], holds: Callable[[list[_Edit]], bool], attempts: int
) -> list[_Edit]:
    """Return all edits if they hold together, else those that hold, found by halving."""
    valid: list[_Edit] = []
    remaining = [edits] if edits else []
    for _ in range(attempts):
        if not remaining:
            break
        some = remaining.pop()
        if holds([*valid, *some]):
            valid += some
        elif len(some) > 1:
            half = len(some) // 2
            remaining += [some[half:], some[:half]]
    return valid
