"""Fix unambiguous problems: old spellings, unquoted texts, a missing bound.

Every other character is kept. The new text is parsed again, and its data must equal the old data
with the fixed values, type for type; a fix that fails this check is left out.
"""

import re
from collections.abc import Collection, Iterator
from copy import deepcopy
from difflib import unified_diff
from json import dumps
from typing import Any, Final, NamedTuple

from yaml.nodes import ScalarNode, SequenceNode

from rubric_ci.files.editing.yaml_fixes import largest_valid_subset, quote_values, separate_items
from rubric_ci.files.validation.ambiguity_rules import (
    AMBIGUOUS_TEXT,
    ambiguous_scalar_problems,
    is_passed_through,
)
from rubric_ci.files.validation.schema import problems
from rubric_ci.files.validation.shape_rules import NOT_TEXT
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.scalars import YAML_COMMENT_IN_TEXT, YAML_ITEM_IN_TEXT
from rubric_ci.values.problems import Path

MAX_ATTEMPTS: Final = 500  # each parses the text again
_HARMLESS: Final = (YAML_ITEM_IN_TEXT, YAML_COMMENT_IN_TEXT)  # the data is what the text says


class Fix(NamedTuple):
    """One replacement in the text, and the same one in the data."""

    start: int  # in code points, as the parser counts
    end: int
    text: str
    path: Path
    value: Any  # of the value at the path, or the new name of the key
    is_key: bool = False


class FixResult(NamedTuple):
    text: str
    places: int  # that were fixed in it


_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_NEWLINE = "\n\\ No newline at end of file\n"


def fix(
    text: str, attempts: int = MAX_ATTEMPTS, switched_off: Collection[str] = frozenset()
) -> FixResult:
    """Return the fixed text of an eval file; YAML that remains invalid is returned unchanged.

    What a rule of `switched_off` reports is kept. Each attempt parses the text; one is enough where
    all fixes hold together.
    """
    document, quoted = quote_values(Document("", text))
    if not document.readable or not has_certain_data(document):
        return FixResult(text, 0)
    document, separated = separate_items(document, switched_off, attempts)
    fixed = _fix_data(document, switched_off, attempts)
    mark = text[: len(text) - len(text.removeprefix("\ufeff"))]  # a byte order mark
    return FixResult(mark + fixed.text, quoted + separated + fixed.places)


def _fix_data(document: Document, switched_off: Collection[str], attempts: int) -> FixResult:
    found = [
        Fix(node.start_mark.index, node.end_mark.index, name, path, name, is_key=True)
        for node, path, name in renamings(document)
    ]
    for node, path, value in (*quotings(document, switched_off), *bounds(document)):
        found.append(Fix(node.start_mark.index, node.end_mark.index, dumps(value), path, value))
    fixes = list({fix.start: fix for fix in found}.values())
    valid = largest_valid_subset(fixes, lambda some: _holds(document, some), attempts)
    return FixResult(apply(document.text, valid), len(valid))


def has_certain_data(document: Document) -> bool:
    """Return False for a text with a problem that makes its data uncertain."""
    return all(problem.rule in _HARMLESS for _, problem in document.text_problems)


def apply(text: str, fixes: list[Fix]) -> str:
    pieces, end = [], 0
    for fix in sorted(fixes):
        pieces += [text[end : fix.start], fix.text]
        end = fix.end
    return "".join([*pieces, text[end:]])


def expected_data(data: Any, fixes: list[Fix]) -> Any:
    """Return a copy of the data with the fixes, innermost first and values before their keys.

    Values that aliases share are shared in the copy as well.
    """
    fixed = deepcopy(data)
    for fix in sorted(fixes, key=lambda fix: (-len(fix.path), fix.is_key)):
        owner = fixed
        for step in fix.path[:-1]:
            owner = owner[step]
        if fix.is_key:
            _rename(owner, fix.path[-1], fix.value)
        else:
            owner[fix.path[-1]] = fix.value
    return fixed


def _holds(document: Document, fixes: list[Fix]) -> bool:
    after = Document("", apply(document.text, fixes))
    return has_certain_data(after) and dumps(after.data) == dumps(
        expected_data(document.data, fixes)
    )


def _rename(owner: dict[str | int, Any], old: str | int, new: str) -> None:
    if old in owner:  # else renamed through another alias
        items = [(new if key == old else key, item) for key, item in owner.items()]
        owner.clear()
        owner.update(items)


NAMES: Final[dict[str, dict[str, str]]] = {
    "evalcases": {
        "outcome": "expected_outcome",
        "input": "input_messages",
        "expected_output": "expected_messages",
    },
    **{key: {"description": "expected_outcome"} for key in ("rubrics", "criteria")},
    "score_ranges": {"description": "expected_outcome"},
    "levels": {"description": "criteria", "expected_outcome": "criteria"},
    "evaluators": {"maxTotal": "max_total", "maxInput": "max_input", "maxOutput": "max_output"},
}
"""Current names of old keys, by the list that contains their mapping."""

LISTS_ONLY: Final = frozenset(("input", "expected_output"))  # other forms keep their name


def renamings(document: Document) -> Iterator[tuple[Any, Path, str]]:
    """Yield keys in an old spelling and their current names."""
    for path, node in _mappings(document):
        owner = path[-2] if len(path) > 1 else None
        names = NAMES.get(str(owner), {})
        present = {key.value for key, _ in node.value}
        for key, item in node.value:
            new = names.get(key.value)
            kept = key.style or (key.value in LISTS_ONLY and item.__class__ is not SequenceNode)
            if new and new not in present and not kept:
                yield key, (*path, key.value), new


def quotings(document: Document, switched_off: Collection[str]) -> Iterator[tuple[Any, Path, str]]:
    """Yield unquoted scalars that are meant as text, and their text."""
    rules = {rule for rule in (NOT_TEXT, AMBIGUOUS_TEXT) if rule.id not in switched_off}
    found = problems("eval", document)
    found += ambiguous_scalar_problems(document, found)
    for problem in found:
        node = document.node(problem.path)
        written = document.text[node.start_mark.index : node.end_mark.index]
        if problem.rule in rules and written == node.value:  # no quotes, tag or anchor
            yield node, problem.path, str(node.value)


def bounds(document: Document) -> Iterator[tuple[Any, Path, list[int]]]:
    """Yield ranges that lack a bound if the other ranges leave one possibility."""
    for path, node in _mappings(document):
        has_ranges = any(key.value == "score_ranges" for key, _ in node.value)
        if has_ranges and (found := open_bound(document.value((*path, "score_ranges")))):
            where: Path = (*path, "score_ranges", found[0], "score_range")
            if (bound := document.node(where)) is not None:
                yield bound, where, found[1]


def open_bound(ranges: Any) -> tuple[int, list[int]] | None:
    """Return the index of the range that lacks a bound, and the only range it can be."""
    listed = ranges if isinstance(ranges, list) else []
    pairs = [r.get("score_range") if isinstance(r, dict) else None for r in listed]
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
        queue += [
            ((*path, key.value), item) for key, item in node.value if key.value != "<<" or key.style
        ]


def unified(path: str, before: str, after: str) -> str:
    """Return the diff, or "" without a change; only LF ends a line."""
    lines = unified_diff(
        _LINE.findall(before), _LINE.findall(after), f"a/{_name(path)}", f"b/{_name(path)}"
    )
    return "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in lines)


def _name(path: str) -> str:
    """Return a path with a tab after it if it has blanks, as git writes it."""
    return f"{path}\t" if " " in path else path
