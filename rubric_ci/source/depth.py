"""How deeply a text nests, found before the composer can overflow the C stack."""

from typing import Any, Final

from yaml import YAMLError
from yaml._yaml import CParser
from yaml.events import CollectionEndEvent, CollectionStartEvent

from rubric_ci.source.construction import MOST_LEVELS
from rubric_ci.source.problem import Fault

SAFE_LEVELS: Final = 5_000  # libyaml's composer recurses in C and overflows at some 50,000


def too_deep(text: str) -> Fault | None:
    """Find where a text nests too deeply, before the composer can overflow the C stack."""
    if sum(map(text.count, "[{-:?")) < SAFE_LEVELS:
        return None
    depth = 0
    try:
        for event in _events(text):
            if isinstance(event, CollectionStartEvent):
                depth += 1
                if depth > SAFE_LEVELS:
                    mark: Any = event.start_mark
                    message = f"nested more than {MOST_LEVELS} levels deep"
                    line, column = mark.line + 1, mark.column + 1
                    return Fault("yaml-depth", line, column, line, column + 1, message)
            elif isinstance(event, CollectionEndEvent):
                depth -= 1
    except YAMLError:
        return None  # the composer stops at the same place
    return None


def _events(text: str) -> Any:
    parser = CParser(text)
    while parser.check_event():
        yield parser.get_event()
