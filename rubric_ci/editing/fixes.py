"""Fix unambiguous problems: old spellings, unquoted texts, a missing bound.

Every other character is kept. The new text is parsed again, and its data must equal the old data
with the fixed values, type for type; a fix that fails this check is left out.
"""

from collections.abc import Collection, Iterator
from copy import deepcopy
from json import dumps
from typing import Any, Final, NamedTuple

from rubric_ci.editing.fixable import bounds, quotings, renamings
from rubric_ci.editing.largest_subset import largest_valid_subset
from rubric_ci.editing.quote_values import quote_values
from rubric_ci.editing.separate_items import separate_items
from rubric_ci.yaml_text.document import Document
from rubric_ci.yaml_text.plain_scalars import YAML_COMMENT_IN_TEXT, YAML_ITEM_IN_TEXT
from rubric_ci.yaml_text.problems import Path

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
    """A text and the number of fixes in it."""

    text: str
    places: int


def fix(
    text: str, attempts: int = MAX_ATTEMPTS, switched_off: Collection[str] = frozenset()
) -> FixResult:
    """Return the fixed text of an eval file; YAML that remains invalid is returned unchanged.

    What a rule of `switched_off` reports is kept. Each attempt parses the text; one is enough where
    all fixes hold together.
    """
    document, quoted = quote_values(Document("", text))
    if not document.readable or not _is_fixable(document):
        return FixResult(text, 0)
    document, separated = separate_items(document, switched_off, attempts)
    fixed = _fix_data(document, switched_off, attempts)
    mark = text[: len(text) - len(text.removeprefix("\ufeff"))]  # a byte order mark
    return FixResult(mark + fixed.text, quoted + separated + fixed.places)


def _fix_data(document: Document, switched_off: Collection[str], attempts: int) -> FixResult:
    fixes = list({fix.start: fix for fix in _fixes(document, switched_off)}.values())
    valid = largest_valid_subset(fixes, lambda some: _holds(document, some), attempts)
    return FixResult(apply(document.text, valid), len(valid))


def _is_fixable(document: Document) -> bool:
    """Return False for a text with a problem that makes its data uncertain."""
    return all(problem.rule in _HARMLESS for _, problem in document.text_problems)


def apply(text: str, fixes: list[Fix]) -> str:
    """Return the text with every replacement made."""
    pieces, end = [], 0
    for fix in sorted(fixes, key=lambda fix: fix.start):
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


def _fixes(document: Document, switched_off: Collection[str]) -> Iterator[Fix]:
    for node, path, name in renamings(document):
        yield Fix(node.start_mark.index, node.end_mark.index, name, path, name, is_key=True)
    for node, path, value in (*quotings(document, switched_off), *bounds(document)):
        yield Fix(node.start_mark.index, node.end_mark.index, dumps(value), path, value)


def _holds(document: Document, fixes: list[Fix]) -> bool:
    after = Document("", apply(document.text, fixes))
    return _is_fixable(after) and dumps(after.data) == dumps(expected_data(document.data, fixes))


def _rename(owner: dict[str | int, Any], old: str | int, new: str) -> None:
    if old in owner:  # else renamed through another alias
        items = [(new if key == old else key, item) for key, item in owner.items()]
        owner.clear()
        owner.update(items)
