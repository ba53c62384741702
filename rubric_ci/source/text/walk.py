"""A walk over YAML nodes that remembers the way: the path of a node in the data that it makes."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_ci.source.problem import MOST_PROBLEMS, Path
from rubric_ci.source.text.construction import merged_nodes

MOST_VISITS: Final = 600_000  # twice as many as a file can have values

LeaveOut: TypeAlias = Callable[[str, Any], bool]
"""Tells by its key whether a value is none of anybody's business."""


def paths_of(root: Any, nodes: Iterable[Any], leave_out: LeaveOut) -> dict[int, Path]:
    """Return a path to each node, by `id`, that passes no value which is left out.

    Every node is visited once for each set of keys that hide what is merged; aliases may form
    cycles, and merges more paths than there is time for. Enough are found when all are told.
    """
    wanted = {id(node) for node in nodes}
    found: dict[int, Path] = {}
    seen: set[tuple[int, frozenset[str]]] = set()
    open_nodes: list[Iterator[_Visit]] = [iter([_Visit(root, (), frozenset())])]
    while open_nodes and len(seen) < MOST_VISITS and len(found) <= MOST_PROBLEMS:
        visit = next(open_nodes[-1], None)
        if visit is None:
            open_nodes.pop()
        elif (key := (id(visit.node), visit.hidden)) not in seen:
            seen.add(key)
            if key[0] in wanted:
                found.setdefault(key[0], visit.path)
            open_nodes.append(_onward(visit, leave_out))
    return found


class _Visit(NamedTuple):
    """A node on a walk, and the keys that hide those of its that are merged."""

    node: Any
    path: Path
    hidden: frozenset[str]


def _onward(visit: _Visit, leave_out: LeaveOut) -> Iterator[_Visit]:
    if visit.node.__class__ is SequenceNode:
        for index, item in enumerate(visit.node.value):
            yield _Visit(item, (*visit.path, index), frozenset())
    if visit.node.__class__ is not MappingNode:
        return
    merges, hidden = [], visit.hidden
    for key, value in visit.node.value:
        if key.value == "<<" and not key.style:
            merges.append(value)
        elif key.__class__ is ScalarNode and not _is_passed(key.value, value, visit, leave_out):
            yield _Visit(value, (*visit.path, key.value), frozenset())
    if merges:
        own = {key.value for key, _ in visit.node.value if key.__class__ is ScalarNode}
        hidden = visit.hidden | own
    for merged in merged_nodes(merges):
        if merged.__class__ is MappingNode:
            yield _Visit(merged, visit.path, hidden)


def _is_passed(key: str, value: Any, visit: _Visit, leave_out: LeaveOut) -> bool:
    return key in visit.hidden or leave_out(key, value)
