"""The layout of a YAML text: exact positions of its nodes, and new values written as its lines."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeAlias

import yaml

from rubric_ci.files.yaml_text.scalars import parseable
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON

Event: TypeAlias = Any
"""A parser event; PyYAML's stubs declare its marks as optional, which they never are."""

LINE_BREAK = re.compile(r"\r\n|\r|\n")

_PLAIN = re.compile(r"(?!---|\.\.\.)[^\s\-?:,\[\]{}#&*!|>'\"%@`=<~](?:.*\S)?|-[^\s\-](?:.*\S)?")
_PLAIN_NEVER = re.compile(r":(?=\s|$)|\s#")
_FLOW_NEVER = re.compile(r"[,\[\]{}?:]")
_OTHER_READERS = re.compile(
    r"[yn]|0o[0-7]+|[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?|[-+]?\.[0-9]+(?:e[-+]?[0-9]+)?",
    re.IGNORECASE,
)
"""Text for PyYAML that YAML 1.2 or strict YAML 1.1 read as a number or a boolean."""
_UNPRINTABLE = re.compile(
    r"[^\t\n\x20-\x7e\xa0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\ud7ff"
    r"\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""Characters that YAML does not allow, and the signs that let a text run in another direction."""
_RESOLVER = yaml.resolver.Resolver()


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


@dataclass(frozen=True, slots=True)
class ListLayout:
    dash: int = 2  # columns from the key to the dash
    item: int = 2  # columns from the dash to the item


def block_lines(key: str, value: JSON, layout: ListLayout) -> list[str]:
    return [*_entry(f"{scalar(key, in_flow=True)}:", value, layout)]


def flow(value: JSON) -> str:
    return _flow(value, lambda text: scalar(text, in_flow=True))


def flow_json(value: JSON) -> str:
    """Return a value in one line that JSON and YAML both read."""
    return _flow(value, _quoted)


def scalar(text: str, *, in_flow: bool = False) -> str:
    """Return a text as a scalar of one line, quoted only if YAML requires it."""
    if _may_be_plain(text) and not (in_flow and _FLOW_NEVER.search(text)):
        return text
    if "'" not in text and re.search(r'["\\]', text) and not _needs_escapes(text):
        return f"'{text}'"
    return _quoted(text)


def _flow(value: JSON, write: Callable[[str], str]) -> str:
    match value:
        case dict():
            pairs = (f"{write(key)}: {_flow(item, write)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list():
            return "[" + ", ".join(_flow(item, write) for item in value) + "]"
        case str():
            return write(value)
        case _:
            # PyYAML reads an exponent only after a point.
            return re.sub(r"^(-?\d+)e", r"\1.0e", json.dumps(value))


def _entry(head: str, value: JSON, layout: ListLayout) -> Iterator[str]:
    """Write a value after `key:`, or after nothing at the top."""
    match value:
        case list() if value and not all(type(item) is int for item in value):
            yield head
            yield from _indented(layout.dash, chain(*(_item(item, layout) for item in value)))
        case dict() if value:
            yield head
            yield from _indented(2, _pairs(value, layout))
        case str() if _reads_better_as_block(value):
            yield f"{head} {'|' if value.endswith(chr(10)) else '|-'}"
            yield from _indented(2, value.removesuffix("\n").split("\n"))
        case str():
            yield f"{head} {scalar(value)}"
        case _:
            yield f"{head} {flow(value)}"


def _item(value: JSON, layout: ListLayout) -> Iterator[str]:
    match value:
        case dict() if value:
            lines = _pairs(value, layout)
            yield f"-{' ' * (layout.item - 1)}{next(lines)}"
            yield from _indented(layout.item, lines)
        case list():
            yield f"-{' ' * (layout.item - 1)}{flow(value)}"
        case _:
            yield from _entry("-" + " " * (layout.item - 2), value, layout)


def _pairs(value: dict[str, JSON], layout: ListLayout) -> Iterator[str]:
    for key, item in value.items():
        yield from _entry(f"{scalar(key, in_flow=True)}:", item, layout)


def _indented(columns: int, lines: Iterable[str]) -> Iterator[str]:
    return (" " * columns + line if line else "" for line in lines)


def _may_be_plain(text: str) -> bool:
    return (
        _PLAIN.fullmatch(text) is not None
        and not _PLAIN_NEVER.search(text)
        and not _needs_escapes(text)
        and _OTHER_READERS.fullmatch(text) is None
        and _resolves_to_text(text)
    )


def _resolves_to_text(text: str) -> bool:
    # PyYAML's own functions have no types
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return bool(tag == "tag:yaml.org,2002:str")


def _needs_escapes(text: str) -> bool:
    return "\n" in text or "\t" in text or _UNPRINTABLE.search(text) is not None


def _reads_better_as_block(text: str) -> bool:
    """Return True for multi-line text that a literal block represents exactly."""
    lines = text.removesuffix("\n").split("\n")
    return (
        len(lines) > 1
        and not _needs_escapes(text.replace("\n", ""))
        and lines[0] != ""
        and lines[-1] != ""
        and not any(line != line.strip() for line in lines)
    )


def _quoted(text: str) -> str:
    """Write a text in double quotes; characters that JSON allows and YAML does not are escaped."""
    return with_escapes(json.dumps(text, ensure_ascii=False))


def with_escapes(quoted: str) -> str:
    """Return a text in JSON whose signs that YAML does not allow or that turn it are escaped."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)
