"""Where the aliases of a YAML text stand: a composed alias is its anchor's node and forgets it."""

from collections.abc import Iterator
from typing import Any

from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from rubric_ci.source.problem import Path


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
    """A list or mapping whose end has not come yet."""

    def __init__(self, *, mapping: bool) -> None:
        self.mapping = mapping
        self.step: str | int = "" if mapping else -1
        self._key_is_next = True

    def take(self, event: Any) -> None:
        """Note that a child begins: a key, or the value that `step` leads to."""
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
