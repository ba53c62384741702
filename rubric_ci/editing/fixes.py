"""Mends what can mean one thing only: older spellings, texts without quotes, a bound left out.

Every other character stays. The new text is parsed again and must say what the old one said with
just the mended values, type for type; a mend for which that does not hold is left out.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from json import dumps
from typing import Any, Final, NamedTuple

from rubric_ci.editing.fixable import bounds, quotings, renamings
from rubric_ci.yaml_text.document import Document
from rubric_ci.yaml_text.problems import Path

MOST_TRIALS: Final = 500  # each reads the text anew


class Fix(NamedTuple):
    """One replacement in the text, and the same one in the data."""

    start: int  # in code points, as the parser counts
    end: int
    text: str
    path: Path
    value: Any  # of the value at the path, or the new name of the key
    is_key: bool = False


class FixResult(NamedTuple):
    """A text, and how many places of it were mended."""

    text: str
    places: int


def fix(text: str) -> FixResult:
    """Return the mended text of an eval file; one that is no YAML stays as it is."""
    document = Document("", text)
    if not document.readable or document.text_problems:
        return FixResult(text, 0)
    fixes = list({fix.start: fix for fix in _fixes(document)}.values())
    held = largest_valid_subset(fixes, lambda taken: _holds(document, taken))
    mark = text[: len(text) - len(document.text)]  # a byte order mark
    return FixResult(mark + apply(document.text, held), len(held))


def largest_valid_subset(fixes: list[Fix], holds: Callable[[list[Fix]], bool]) -> list[Fix]:
    """Take all, or else what holds of one half and then of the other, for as long as it pays."""
    taken: list[Fix] = []
    left = [fixes]
    for _ in range(MOST_TRIALS):
        if not left:
            break
        some = left.pop()
        if holds([*taken, *some]):
            taken += some
        elif len(some) > 1:
            half = len(some) // 2
            left += [some[half:], some[:half]]
    return taken


def apply(text: str, fixes: list[Fix]) -> str:
    """Return the text with every replacement made."""
    pieces, end = [], 0
    for fix in sorted(fixes, key=lambda fix: fix.start):
        pieces += [text[end : fix.start], fix.text]
        end = fix.end
    return "".join([*pieces, text[end:]])


def expected_data(data: Any, fixes: list[Fix]) -> Any:
    """Mend a copy of the data, the inmost first and values before their keys.

    What aliases share is shared in the copy too.
    """
    mended = deepcopy(data)
    for fix in sorted(fixes, key=lambda fix: (-len(fix.path), fix.is_key)):
        owner = mended
        for step in fix.path[:-1]:
            owner = owner[step]
        if fix.is_key:
            _rename(owner, fix.path[-1], fix.value)
        else:
            owner[fix.path[-1]] = fix.value
    return mended


def _fixes(document: Document) -> Iterator[Fix]:
    for node, path, name in renamings(document):
        yield Fix(node.start_mark.index, node.end_mark.index, name, path, name, is_key=True)
    for node, path, value in (*quotings(document), *bounds(document)):
        yield Fix(node.start_mark.index, node.end_mark.index, dumps(value), path, value)


def _holds(document: Document, fixes: list[Fix]) -> bool:
    after = Document("", apply(document.text, fixes))
    return not after.text_problems and dumps(after.data) == dumps(
        expected_data(document.data, fixes)
    )


def _rename(owner: dict[str | int, Any], old: str | int, new: str) -> None:
    if old in owner:  # not yet, through another alias
        items = [(new if key == old else key, item) for key, item in owner.items()]
        owner.clear()
        owner.update(items)
