"""Fixable problems of an eval file: YAML nodes, their paths and their correct values."""

from collections.abc import Collection, Iterator
from typing import Any, Final

from yaml.nodes import ScalarNode, SequenceNode

from rubric_ci.validation.ambiguous_scalars import (
    AMBIGUOUS_TEXT,
    ambiguous_scalar_problems,
    is_passed_through,
)
from rubric_ci.validation.schema import problems
from rubric_ci.validation.shape_rules import NOT_TEXT
from rubric_ci.yaml_text.document import Document
from rubric_ci.yaml_text.problems import Path

NAMES: Final[dict[str, dict[str, str]]] = {
    "evalcases": {
        "outcome": "expected_outcome",
        "input": "input_messages",
        "expected_output": "expected_messages",
    },
    "rubrics": {"description": "expected_outcome"},
    "score_ranges": {"description": "expected_outcome"},
    "levels": {"description": "criteria", "expected_outcome": "criteria"},
    "evaluators": {"maxTotal": "max_total", "maxInput": "max_input", "maxOutput": "max_output"},
}
"""Current names of old keys, by the list that contains their mapping."""

LISTS_ONLY: Final = frozenset(
    ("input", "expected_output")
)  # other forms of these keys keep their name


def renamings(document: Document) -> Iterator[tuple[Any, Path, str]]:
    """Yield keys in an old spelling and their current names."""
    for path, node in _mappings(document):
        owner = path[-2] if len(path) > 1 else None
        names = NAMES.get(str(owner), {})
        present = {key.value for key, _ in node.value}
        for key, item in node.value:
            new = names.get(key.value)
            plain = key.__class__ is ScalarNode and not key.style
            is_list = item.__class__ is SequenceNode
            if new and plain and new not in present and (is_list or key.value not in LISTS_ONLY):
                yield key, (*path, key.value), new


def quotings(document: Document, switched_off: Collection[str]) -> Iterator[tuple[Any, Path, str]]:
    """Yield unquoted scalars that are meant as text, and their text."""
    rules = {rule for rule in (NOT_TEXT, AMBIGUOUS_TEXT) if rule.id not in switched_off}
    found = problems("eval", document)
    found += ambiguous_scalar_problems(document, found)
    for problem in found:
        node = document.node(problem.path)
        if problem.rule in rules and _is_plain(node, document.text):
            yield node, problem.path, str(node.value)


def bounds(document: Document) -> Iterator[tuple[Any, Path, list[int]]]:
    """Yield ranges that lack a bound if the other ranges leave one possibility."""
    for path, node in _mappings(document):
        if any(key.value == "score_ranges" for key, _ in node.value):
            yield from _bounds_of(document, (*path, "score_ranges"))


def _bounds_of(document: Document, path: Path) -> Iterator[tuple[Any, Path, list[int]]]:
    found = open_bound(document.value(path))
    if found is not None:
        where: Path = (*path, found[0], "score_range")
        node = document.node(where)
        if node is not None:
            yield node, where, found[1]


def open_bound(ranges: Any) -> tuple[int, list[int]] | None:
    """Return the index of the range that lacks a bound, and the only range it can be."""
    pairs = [r.get("score_range") if isinstance(r, dict) else None for r in _list(ranges)]
    broken = [index for index, pair in enumerate(pairs) if not _is_pair(pair)]
    if len(broken) != 1:
        return None
    whole = [pair for pair in pairs if pair is not None and _is_pair(pair)]
    taken = {n for low, high in whole for n in range(low, high + 1)}
    free = [n for n in range(11) if n not in taken]
    known = pairs[broken[0]]
    given = known[0] if isinstance(known, list) and len(known) == 1 else known
    contiguous = bool(free) and free[-1] - free[0] == len(free) - 1
    if contiguous and type(given) is int and given in {free[0], free[-1]}:
        return broken[0], [free[0], free[-1]]
    return None


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(type(bound) is int for bound in pair)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_plain(node: Any, text: str) -> bool:
    """Return True if a scalar is written without quotes, tag or anchor."""
    if node.__class__ is not ScalarNode or node.style:
        return False
    return bool(text[node.start_mark.index : node.end_mark.index] == node.value != "")


def _mappings(document: Document) -> Iterator[tuple[Path, Any]]:
    """Yield every mapping that is interpreted, once, with its path."""
    seen: set[int] = set()
    queue: list[tuple[Path, Any]] = [((), document.root)]
    while queue:
        path, node = queue.pop()
        if (
            id(node) in seen
            or node.__class__ is ScalarNode
            or is_passed_through(path, document.data)
        ):
            continue
        seen.add(id(node))
        if node.__class__ is SequenceNode:
            queue += [((*path, index), item) for index, item in enumerate(node.value)]
            continue
        yield path, node
        queue += [((*path, key.value), item) for key, item in node.value if _is_own(key)]


def _is_own(key: Any) -> bool:
    return key.__class__ is ScalarNode and not (key.value == "<<" and not key.style)
