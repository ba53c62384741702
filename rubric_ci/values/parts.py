"""The parts: folders of `rubric_ci/parts/` that can be removed, each with its row of `PARTS`.

The core asks here for what a part offers, by name. A part is imported when a file, a command or an
option needs it, and a removed one offers nothing.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar

PARTS: Final = (
    "agents",
    "authorize",
    "bring",
    "formats",
    "graders",
    "lab",
    "litellm",
    "pytest",
    "start",
    "telemetry",
)
"""The one table that names the parts."""

Places = Mapping[str, str]
"""Names, each with its place in the part as `module:attribute`, or `module`."""


class Part(NamedTuple):
    """The offers of a part, each by the name that files, options and the core use."""

    commands: Mapping[str, Places] = MappingProxyType({})  # by their heading in `--help`
    programs: Places = MappingProxyType({})  # agent programs
    evaluators: Places = MappingProxyType({})  # their types, each with its row
    rules: tuple[str, ...] = ()  # modules with rules of `validate`
    entries: Places = MappingProxyType({})  # the core calls each at one place


Row = TypeVar("Row")


class Offers(Mapping[str, Row], Generic[Row]):
    """The rows that all parts offer in one field; a row is imported when it is asked for."""

    def __init__(self, name: Literal["programs", "evaluators", "entries"]) -> None:
        self._field = name

    def __getitem__(self, name: str) -> Row:
        """Import and return a row; raises KeyError."""
        for part in PARTS:
            if place := getattr(_part(part), self._field).get(name):
                module, _, attribute = place.partition(":")
                found: Any = import_module(f"rubric_ci.parts.{part}.{module}")
                row: Row = getattr(found, attribute) if attribute else found
                return row
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        """Return True for an offered name, without an import of its row."""
        return any(name in getattr(_part(part), self._field) for part in PARTS)

    def __iter__(self) -> Iterator[str]:
        for part in PARTS:
            yield from getattr(_part(part), self._field)

    def __len__(self) -> int:
        return sum(len(getattr(_part(part), self._field)) for part in PARTS)


_ENTRIES: Final[Offers[Any]] = Offers("entries")


def offered(name: str) -> Any:
    """Return a function or a module that a part offers; None: the part was removed."""
    return _ENTRIES.get(name)


def is_offered(name: str) -> bool:
    """Return True for a function or a module that a part offers, without an import of it."""
    return name in _ENTRIES


def commands() -> Iterator[tuple[str, str, str]]:
    """Yield heading, name and module of each command that parts offer."""
    for part in PARTS:
        for heading, places in _part(part).commands.items():
            for name, place in places.items():
                yield heading, name, f"parts.{part}.{place}"


def modules_with_rules() -> Iterator[ModuleType]:
    """Import and yield the modules of parts that have rules of `validate`."""
    for part in PARTS:
        for name in _part(part).rules:
            yield import_module(f"rubric_ci.parts.{part}.{name}")


@cache
def _part(name: str) -> Part:
    found: Part = import_module(f"rubric_ci.parts.{name}").PART
    return found
