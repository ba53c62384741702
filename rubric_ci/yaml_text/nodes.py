"""Paths of YAML nodes and aliases in the data that is built from them."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
)
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_ci.yaml_text.constructor import merged_nodes
from rubric_ci.yaml_text.problems import MAX_PROBLEMS, Path

MAX_VISITS: Final = 600_000  # twice as many as a file can have values

LeaveOut: TypeAlias = Callable[[str, Any], bool]
"""Predicate on key and value: skip this value."""


def paths_of(root: Any, nodes: Iterable[Any], leave_out: LeaveOut) -> dict[int, Path]:
    """Return a path to each node, by `id`, that avoids the values in `leave_out`.

    Every node is visited once for each set of keys that override merged ones: aliases may form
    cycles, and merges may form too many paths. The walk ends when enough problems are found.
    """
    wanted = {id(node) for node in nodes}
    found: dict[int, Path] = {}
    seen: set[tuple[int, frozenset[str]]] = set()
    open_nodes: list[Iterator[_Visit]] = [iter([_Visit(root, (), frozenset())])]
    while open_nodes and len(seen) < MAX_VISITS and len(found) <= MAX_PROBLEMS:
        visit = next(open_nodes[-1], None)
        if visit is None:
            open_nodes.pop()
        elif (key := (id(visit.node), visit.hidden)) not in seen:
            seen.add(key)
            if key[0] in wanted:
                found.setdefault(key[0], visit.path)
            open_nodes.append(_children(visit, leave_out))
    return found


class _Visit(NamedTuple):
    """A node on a walk, and the keys that override merged ones."""

    node: Any
    path: Path
    hidden: frozenset[str]


def _children(visit: _Visit, leave_out: LeaveOut) -> Iterator[_Visit]:
    if visit.node.__class__ is SequenceNode:
        for index, item in enumerate(visit.node.value):
            yield _Visit(item, (*visit.path, index), frozenset())
    if visit.node.__class__ is not MappingNode:
        return
    merges, hidden = [], visit.hidden
    for key, value in visit.node.value:
        if key.value == "<<" and not key.style:
            merges.append(value)
        elif key.__class__ is ScalarNode and not _is_skipped(key.value, value, visit, leave_out):
            yield _Visit(value, (*visit.path, key.value), frozenset())
    if merges:
        own = {key.value for key, _ in visit.node.value if key.__class__ is ScalarNode}
        hidden = visit.hidden | own
    for merged in merged_nodes(merges):
        if merged.__class__ is MappingNode:
            yield _Visit(merged, visit.path, hidden)


def _is_skipped(key: str, value: Any, visit: _Visit, leave_out: LeaveOut) -> bool:
    return key in visit.hidden or leave_out(key, value)


def alias_lines(text: str) -> dict[Path, int]:
    """Return the line, from 1, of each alias by its path; a merged one's path ends with `<<`."""
    found: dict[Path, int] = {}
    open_nodes: list[_Open] = []
    for event in _events(text):
        if isinstance(event, CollectionEndEvent):
            open_nodes.pop()
        elif isinstance(event, ScalarEvent | AliasEvent | MappingStartEvent | SequenceStartEvent):
            if open_nodes:
                open_nodes[-1].take(event)
            if isinstance(event, AliasEvent):
                mark: Any = event.start_mark
                found[tuple(node.step for node in open_nodes)] = mark.line + 1
            elif not isinstance(event, ScalarEvent):
                open_nodes.append(_Open(mapping=isinstance(event, MappingStartEvent)))
    return found


class _Open:
    """A list or mapping that is not closed yet."""

    def __init__(self, *, mapping: bool) -> None:
        self.mapping = mapping
        self.step: str | int = "" if mapping else -1
        self._key_is_next = True

    def take(self, event: Any) -> None:
        """Update `step` for a new child: a key, or the value of the last key."""
        if not self.mapping:
            self.step = int(self.step) + 1
            return
        if self._key_is_next:
            self.step = event.value if isinstance(event, ScalarEvent) else ""
        self._key_is_next = not self._key_is_next


def _events(text: str) -> Iterator[Any]:
    parser = CParser(text)
    while parser.check_event():
        yield parser.get_event()
