"""Exact positions of the nodes of a YAML text, from parser events.

Events end exactly where nodes overrun blank lines and comments. The event of a block scalar
includes trailing blank lines; its value shows whether they are content.
"""

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import yaml

from rubric_ci.files.yaml_text.scalars import parseable
from rubric_ci.values.dataclass import dataclass

Event: TypeAlias = Any
"""A parser event; PyYAML's stubs declare its marks as optional, which they never are."""

LINE_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    start: int
    end: int  # after the last character of content
    column: int
    quoted: bool = False  # in double quotes, as in JSON
    text: str = ""
    open_ended: bool = False  # a block scalar at the end of the file, without a final newline


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceNode:
    start: int
    end: int
    column: int
    flow: bool
    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingNode:
    start: int
    end: int
    column: int
    flow: bool
    pairs: tuple[tuple["Node", "Node"], ...]

    def get(self, key: str) -> "Node | None":
        return next((v for k, v in self.pairs if isinstance(k, Leaf) and k.text == key), None)


Node: TypeAlias = Leaf | SequenceNode | MappingNode


def last_line_break(text: str) -> str:
    """Return the last line ending of a text; LF if it has none."""
    return next((found.group() for found in reversed([*LINE_BREAK.finditer(text)])), "\n")


def layout(text: str) -> Node | None:
    """Return the tree of the only document of a valid YAML text, or None if it is empty.

    The text must not start with a byte order mark: libyaml does not count it.
    """
    events: Iterator[Event] = iter(yaml.parse(parseable(text), Loader=yaml.CSafeLoader))
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            return _node(text, next(events), events)
    return None


def line_start(text: str, index: int) -> int:
    return max(text.rfind("\n", 0, index), text.rfind("\r", 0, index)) + 1


def tail(node: Node) -> Leaf | None:
    """Return the leaf that ends a node, or None if a bracket ends it."""
    match node:
        case Leaf():
            return node
        case (
            SequenceNode(flow=False, items=(*_, last))
            | MappingNode(flow=False, pairs=(*_, (_, last)))
        ):
            return tail(last)
        case _:
            return None


def _node(text: str, event: Event, events: Iterator[Event]) -> Node:
    match event:
        case yaml.SequenceStartEvent():
            return _sequence(text, event, events)
        case yaml.MappingStartEvent():
            return _mapping(text, event, events)
        case yaml.ScalarEvent(style="|" | ">"):
            return _block_scalar(text, event)
        case _:
            return _leaf(text, event)


def _sequence(text: str, event: Event, events: Iterator[Event]) -> SequenceNode:
    items: list[Node] = []
    while not _closes(last := next(events)):
        items.append(_node(text, last, events))
    return SequenceNode(
        start=event.start_mark.index,
        end=last.end_mark.index if event.flow_style or not items else items[-1].end,
        column=event.start_mark.column,
        flow=bool(event.flow_style),
        items=tuple(items),
    )


def _mapping(text: str, event: Event, events: Iterator[Event]) -> MappingNode:
    pairs: list[tuple[Node, Node]] = []
    while not _closes(last := next(events)):
        key = _node(text, last, events)
        pairs.append((key, _node(text, next(events), events)))
    return MappingNode(
        start=event.start_mark.index,
        end=last.end_mark.index if event.flow_style or not pairs else pairs[-1][1].end,
        column=_key_column(text, pairs[0][0]) if pairs else event.start_mark.column,
        flow=bool(event.flow_style),
        pairs=tuple(pairs),
    )


def _closes(event: Event) -> bool:
    return isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent)


def _key_column(text: str, key: Node) -> int:
    """Return the column of the keys, or of `?` if the first key is written `? key`."""
    before = text[line_start(text, key.start) : key.start].rstrip()
    return len(before) - 1 if before.endswith("?") else key.column


def _leaf(text: str, event: Event) -> Leaf:
    start, end = event.start_mark.index, event.end_mark.index
    return Leaf(
        start=start,
        # The parser reports the missing value of `? key` only on the next line.
        end=len(text[:end].rstrip("\r\n")) if start == end else end,
        column=event.start_mark.column,
        quoted=getattr(event, "style", None) == '"',
        text=getattr(event, "value", ""),
    )


def _block_scalar(text: str, event: Event) -> Leaf:
    end = event.end_mark.index
    # Trailing blank lines are content if they are kept by `+`, or longer than the indent.
    if event.value and not event.value.removesuffix("\n").rpartition("\n")[2].strip():
        content_end = len(re.sub(r"(?:\r\n|\r|\n)\Z", "", text[:end]))
    else:
        content_end = len(text[:end].rstrip())
    return Leaf(
        start=event.start_mark.index,
        end=content_end,
        column=event.start_mark.column,
        text=event.value,
        open_ended=LINE_BREAK.search(text, content_end) is None,
    )
