"""The differences of two values, found field by field, and the facts of one value.

A new field of a value needs no code here: it is walked as soon as it exists. Left out are places
in files (`span`) and fields that a value does not compare.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.values.json_value import JSON
from rubric_ci.values.messages import DataPart, Message

Path: TypeAlias = tuple[str, ...]
"""Names of fields, ids and numbers of items: `("evaluators", "rubric", "rubric", …)`."""


class Absent:
    """The side that has no such field or item."""

    def __repr__(self) -> str:
        """Return nothing, as it is shown."""
        return ""


ABSENT: Final = Absent()
_PLAIN: Final = frozenset((str, int, float, bool))
_WRITER: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True)


class Difference(NamedTuple):
    """A place where two values differ."""

    path: Path
    before: Any  # ABSENT: the place is new
    after: Any  # ABSENT: the place is gone
    owners: tuple[tuple[Any, Any], ...]  # before and after of each value above, the outermost first


def differences(before: object, after: object, *, opened: bool = False) -> Iterator[Difference]:
    """Yield the innermost places where two values differ.

    Criteria, evaluators and other items with an id or a name are matched by it: their order is a
    difference of the list as a whole. Values of two classes differ as a whole, and in each field
    of either class. A value in place of None differs in each field that has not its default, and
    with `opened` so does an item that one side lacks.
    """
    return _walked(before, after, (), (), opened)


def _walked(
    before: Any, after: Any, path: Path, owners: tuple[tuple[Any, Any], ...], opened: bool
) -> Iterator[Difference]:
    if is_alike(before, after):
        return
    parts = _parts(before, after) or _opened(before, after, opened)
    if parts is None:
        if not _is_same(before, after):
            yield Difference(path, before, after, owners)
        return
    then, now = parts
    if _differ_as_a_whole(before, after, parts, owners):
        yield Difference(path, before, after, owners)
    inside = (*owners, (before, after))
    for step in dict.fromkeys((*then, *now)):
        sides = then.get(step, ABSENT), now.get(step, ABSENT)
        yield from _walked(*sides, (*path, str(step)), inside, opened)


def is_alike(before: Any, after: Any) -> bool:
    """Return True if a walk finds no difference: most values of two states are equal."""
    cls: Any = type(before)
    if before is after or cls is not type(after) or cls in _PLAIN:
        return before is after or (cls is type(after) and bool(before == after))
    if issubclass(cls, tuple | list):
        return len(before) == len(after) and all(map(is_alike, before, after))
    if issubclass(cls, dict):
        same = list(before) == list(after)
        return same and all(map(is_alike, before.values(), after.values()))
    if not is_dataclass(cls):
        return bool(before == after)
    return all(is_alike(getattr(before, name), getattr(after, name)) for name in names(cls))


def _differ_as_a_whole(
    before: Any,
    after: Any,
    parts: tuple[dict[Any, Any], dict[Any, Any]],
    owners: Sequence[tuple[Any, Any]],
) -> bool:
    """Return True for values of two classes, and for items in another order.

    The order of a mapping counts below structured content, which is sent as the file has it.
    """
    if is_dataclass(before) and is_dataclass(after):
        return type(before) is not type(after)
    then, now = parts
    if [key for key in then if key in now] == [key for key in now if key in then]:
        return False
    return not isinstance(before, Mapping) or any(isinstance(one, DataPart) for one, _ in owners)


def _opened(before: Any, after: Any, opened: bool) -> tuple[dict[Any, Any], dict[Any, Any]] | None:
    """Return the parts of a value that one side lacks, and none for that side."""
    lacking = [each is None or (opened and each is ABSENT) for each in (before, after)]
    if lacking == [True, False] and (found := _written(after)):
        return {}, found
    if lacking == [False, True] and (found := _written(before)):
        return found, {}
    return None


def _written(value: Any) -> dict[Any, Any]:
    """Return the parts of a value that have not their default; none: it is compared as a whole."""
    if isinstance(value, Mapping):
        return dict(value)
    if not is_dataclass(value):
        return {}
    found = _fields_of(value).items()
    return {name: each for name, each in found if not _is_default(value, name, each)}


def _parts(before: Any, after: Any) -> tuple[dict[Any, Any], dict[Any, Any]] | None:
    """Return the parts of both values by name; None: they are compared as a whole."""
    if is_dataclass(before) and is_dataclass(after):
        return _fields_of(before), _fields_of(after)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return dict(before), dict(after)
    if isinstance(before, tuple | list) and isinstance(after, tuple | list):
        named = _by_name(before), _by_name(after)
        if named[0] is not None and named[1] is not None:
            return named[0], named[1]
        return dict(enumerate(before)), dict(enumerate(after))
    return None


def _fields_of(value: Any) -> dict[str, Any]:
    cls: Any = type(value)
    return {name: getattr(value, name) for name in names(cls)}


@cache
def names(cls: type[Any]) -> tuple[str, ...]:
    """Return the fields of a class that are walked."""
    return tuple(each.name for each in fields(cls) if each.compare and each.name != "span")


def _by_name(items: Sequence[Any]) -> dict[str, Any] | None:
    """Return items by their ids or names; None: they are known by their numbers, as messages."""
    if any(isinstance(each, Message) for each in items):
        return None
    found = [getattr(each, "id", getattr(each, "name", "")) for each in items]
    if not all(found) or len(set(found)) < len(found):
        return None
    return dict(zip(found, items, strict=True))


def _is_same(before: Any, after: Any) -> bool:
    """Return True if two plain values are equal as written: 1 is neither `true` nor 1.0."""
    return bool(before == after) and type(before) is type(after)


def facts(value: Any, *, without: frozenset[str] = frozenset()) -> JSON:
    """Return a value as JSON, but for fields with their default and the fields `without`.

    A field that is added with a default changes the facts of no value.
    """
    cls: Any = type(value)
    if cls in _PLAIN:
        return value
    if is_dataclass(value):
        found = [(name, getattr(value, name)) for name in names(cls) if name not in without]
        defaults = _defaults(cls)
        return {
            name: facts(each, without=without)
            for name, each in found
            if not _is_same(each, defaults[name])
        }
    if isinstance(value, Mapping):
        return {str(name): facts(each, without=without) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [facts(each, without=without) for each in value]
    return getattr(value, "value", value)  # of an enumeration


def text_or_json(value: JSON) -> str:
    """Return a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def canonical(value: JSON) -> str:
    """Return JSON as one text, independent of the order of its keys."""
    return _WRITER.encode(value)


def _is_default(owner: Any, name: str, value: Any) -> bool:
    cls: Any = type(owner)
    return _is_same(value, _defaults(cls)[name])


@cache
def _defaults(cls: type[Any]) -> Mapping[str, Any]:
    given = {each.name: each.default for each in fields(cls)}
    made = {
        each.name: each.default_factory()
        for each in fields(cls)
        if each.default_factory is not MISSING
    }
    return {**given, **made}
