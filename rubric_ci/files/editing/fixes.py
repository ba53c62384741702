"""Quote unquoted values that are meant as text, and show an edit as a diff.

Every other character is kept. The new text is parsed again, and its data must equal the old data
with these texts, type for type; a pair of quotes that fails this check is left out.
"""

import re
from collections.abc import Collection, Iterator
from copy import deepcopy
from difflib import unified_diff
from json import dumps
from typing import Final, NamedTuple

from rubric_ci.files.editing.insertions import (
    Splice,
    has_certain_data,
    largest_valid_subset,
    splice,
)
from rubric_ci.files.validation.ambiguity_rules import AMBIGUOUS_TEXT, ambiguous_scalar_problems
from rubric_ci.files.validation.schema import problems
from rubric_ci.files.validation.shape_rules import NOT_TEXT
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.values.problems import Path

MAX_ATTEMPTS: Final = 500  # each parses the text again
FIXED: Final = (NOT_TEXT, AMBIGUOUS_TEXT)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_NEWLINE = "\n\\ No newline at end of file\n"


class _Quoted(NamedTuple):
    start: int  # in code points, as the parser counts
    end: int
    path: Path
    text: str


class FixResult(NamedTuple):
    text: str
    places: int  # that were fixed in it


def fix(
    text: str, attempts: int = MAX_ATTEMPTS, switched_off: Collection[str] = frozenset()
) -> FixResult:
    """Return the fixed text of an eval file; invalid YAML is returned unchanged.

    What a rule of `switched_off` reports is kept. Each attempt parses the text; one is enough where
    all fixes hold together.
    """
    document = Document("", text)
    if not document.readable or not has_certain_data(document):
        return FixResult(text, 0)
    found = {each.start: each for each in _meant_as_text(document, switched_off)}
    every = [*found.values()]
    valid = largest_valid_subset(every, lambda some: _holds(document, some), attempts)
    mark = text[: len(text) - len(document.text)]  # a byte order mark
    return FixResult(mark + _with_quotes(document.text, valid), len(valid))


def _meant_as_text(document: Document, switched_off: Collection[str]) -> Iterator[_Quoted]:
    rules = {rule for rule in FIXED if rule.id not in switched_off}
    found = problems("eval", document)
    found += ambiguous_scalar_problems(document, found)
    for problem in found:
        node = document.node(problem.path)
        start, end = node.start_mark.index, node.end_mark.index
        # Without quotes, tag or anchor.
        if problem.rule in rules and document.text[start:end] == node.value:
            yield _Quoted(start, end, problem.path, node.value)


def _with_quotes(text: str, some: list[_Quoted]) -> str:
    return splice(text, [Splice(at, '"') for each in some for at in each[:2]])


def _holds(document: Document, some: list[_Quoted]) -> bool:
    after = Document("", _with_quotes(document.text, some))
    expected = deepcopy(document.data)  # what aliases share is shared in the copy as well
    for each in some:
        owner = expected
        for step in each.path[:-1]:
            owner = owner[step]
        owner[each.path[-1]] = each.text
    return has_certain_data(after) and dumps(after.data) == dumps(expected)


def unified(path: str, before: str, after: str) -> str:
    """Return the diff, or "" without a change; only LF ends a line."""
    lines = unified_diff(
        _LINE.findall(before), _LINE.findall(after), f"a/{_name(path)}", f"b/{_name(path)}"
    )
    return "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in lines)


def _name(path: str) -> str:
    """Return a path with a tab after it if it has blanks, as git writes it."""
    return f"{path}\t" if " " in path else path
