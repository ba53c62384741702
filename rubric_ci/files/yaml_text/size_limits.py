"""Limits of size and nesting, checked before parsing can exhaust memory."""

import re
from typing import Any, Final

from yaml import YAMLError
from yaml._yaml import CParser
from yaml.events import CollectionEndEvent, CollectionStartEvent, NodeEvent

from rubric_ci.files.yaml_text.constructor import YAML_DEPTH
from rubric_ci.files.yaml_text.escaped_pairs import parseable
from rubric_ci.values.json_value import MAX_DEPTH
from rubric_ci.values.problems import LocatedProblem, Rule

MAX_CHARACTERS: Final = 16_000_000  # code points
MAX_VALUES: Final = 200_000  # half a kilobyte each
MAX_ESCAPES: Final = 1_000_000  # Python's JSON decoder splits text at each of them
MAX_COMPOSED_DEPTH: Final = 5_000  # libyaml's composer recurses in C and overflows at some 50,000

_STRING = r'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*\\?"?'  # or an unclosed one on its line
_MANY = f"the file has more than {MAX_VALUES:,} values"


FILE_SIZE: Final = Rule(
    id="file-size",
    meaning=(
        "A file may have 200,000 values and 16 million characters; JSON Lines may have a million "
        "escapes. All cases of a file together may take 200,000 entries from the suite, such as "
        "its criteria, and have 64 million characters with their variables, a text of them a "
        "million. Larger files would exhaust the memory of a CI runner."
    ),
    hint="split the file",
)


def yaml_over_limits(text: str) -> LocatedProblem | None:
    """Return a problem for a text that is too large or too deep to be composed.

    A text with few brackets, dashes and colons is neither, and is not parsed twice.
    """
    if len(text) > MAX_CHARACTERS:
        return _too_long()
    if most_values(text) <= MAX_VALUES and most_levels(text) <= MAX_COMPOSED_DEPTH:
        return None
    try:
        return _events_over_limits(CParser(parseable(text)))
    except YAMLError:
        return None  # the composer stops at the same place


def most_values(text: str) -> int:
    """Return a number of values that a text cannot have more of, by its signs of structure."""
    return 1 + 2 * sum(map(text.count, "[{-:?,"))  # each begins two at most: a key and its value


def most_levels(text: str) -> int:
    """Return a number of levels that a text cannot have more of."""
    brackets = sum(map(text.count, "[[{"))  # an entry `[a: b]` is a mapping of its own
    blocks = sum(map(text.count, "-:?"))
    widest = max(map(len, text.split("\n")))
    return brackets + min(blocks, 2 * widest)  # a list may begin in the column of its mapping


def lines_over_limits(text: str) -> LocatedProblem | None:
    """Return a problem for JSON Lines that are too large, by counting separators."""
    if len(text) > MAX_CHARACTERS:
        return _too_long()
    if len(text) <= MAX_VALUES:
        return None
    if text.count("\\") > MAX_ESCAPES:
        return _problem(FILE_SIZE, 1, 1, f"the file has more than {MAX_ESCAPES:,} escapes")
    signs = re.sub(_STRING, "", text)
    if sum(map(signs.count, ",:[{\n")) > MAX_VALUES:
        return _problem(FILE_SIZE, 1, 1, _MANY)
    return None


def _events_over_limits(parser: Any) -> LocatedProblem | None:
    depth = values = 0
    while parser.check_event():
        event = parser.get_event()
        if isinstance(event, CollectionEndEvent):
            depth -= 1
        elif isinstance(event, NodeEvent):
            values += 1
            depth += isinstance(event, CollectionStartEvent)
            mark: Any = event.start_mark
            if depth > MAX_COMPOSED_DEPTH:
                message = f"nested more than {MAX_DEPTH} levels deep"
                return _problem(YAML_DEPTH, mark.line + 1, mark.column + 1, message)
            if values > MAX_VALUES:
                return _problem(FILE_SIZE, mark.line + 1, mark.column + 1, _MANY)
    return None


def _too_long() -> LocatedProblem:
    message = f"the file has more than {MAX_CHARACTERS // 1_000_000} million characters"
    return _problem(FILE_SIZE, 1, 1, message)


def _problem(rule: Rule, line: int, column: int, message: str) -> LocatedProblem:
    return LocatedProblem(rule, line, column, line, column + 1, message)
