"""Values of the model's types, and every way to change one, from the annotations alone.

A new field or a new member of a union is covered as soon as it exists; an annotation that is not
known here raises, so that it cannot be left out.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

Hint: TypeAlias = Any

_numbers = itertools.count(1)


class Change(NamedTuple):
    """A value that differs from the first one in one place."""

    place: tuple[str, ...]  # "Class.field" from the outside to the inside
    value: Any


def examples(hint: Hint, name: str = "value", above: tuple[type, ...] = ()) -> list[Any]:
    """Return values of a type, with each member of a union; no two texts are equal.

    A class holds no instance of itself.
    """
    if hint in _PLAIN:
        return [_PLAIN[hint](name)]
    args = get_args(hint)
    match _origin(hint):
        case origin if origin in {Literal, Callable}:
            return list(args) if origin is Literal else [_nothing]
        case origin if origin in {Union, UnionType}:
            members = (each for each in args if each not in above)
            return [value for each in members for value in examples(each, name, above)]
        case origin if origin is tuple:
            return [tuple(examples(args[0], name, above))]
        case origin if origin is Mapping:
            return [{f"{name}-key": value} for value in examples(args[1], name, above)]
        case _ if isinstance(hint, type):
            return list(hint) if issubclass(hint, Enum) else _instances(hint, above)
    raise TypeError(f"no examples of {hint}")


def changes(hint: Hint, value: Any, place: tuple[str, ...] = ()) -> Iterator[Change]:
    """Yield values that differ from `value` in one place."""
    args = get_args(hint)
    match _origin(hint):
        case origin if origin in {Union, UnionType}:
            own = next(each for each in args if _is_a(each, value))
            yield from changes(own, value, place)
            others = (each for each in args if each is not own)
            yield from (Change(place, _another(each)) for each in others)
        case origin if origin is Literal:
            yield from (Change(place, each) for each in args if each != value)
        case origin if origin is tuple:
            yield from _of_tuple(args[0], value, place)
        case origin if origin is Mapping:
            yield from _of_mapping(args[1], value, place)
        case _ if hint is NoneType:
            return  # the other members of the union are its changes
        case _ if is_dataclass(value):
            yield from _of_fields(type(value), value, place)
        case _ if isinstance(value, Enum):
            yield from (Change(place, each) for each in type(value) if each is not value)
        case _:
            yield from (Change(place, new) for new in _plain_changes(value))


_PLAIN: Mapping[Hint, Callable[[str], Any]] = {
    NoneType: lambda _: None,
    bool: lambda _: False,
    int: lambda _: 7,
    float: lambda _: 0.5,
    str: lambda name: f"{name}{next(_numbers)}",
    Any: lambda name: {"list": [1, {"deep": f"{name}{next(_numbers)}"}], "none": None},
}


def _nothing() -> bytes:
    return b""


@cache
def _hints(cls: type) -> Mapping[str, Hint]:
    return get_type_hints(cls)


def _instances(cls: type, above: tuple[type, ...]) -> list[Any]:
    """Return instances that hold every example of every field."""
    hints = _hints(cls)

    def of(name: str) -> list[Any]:
        return examples(hints[name], name, (*above, cls))

    columns = {field.name: of(field.name) for field in fields(cls)}
    count = max(map(len, columns.values()), default=1)
    for name, column in columns.items():
        while len(column) < count:
            column.extend(of(name))
    return [cls(**{name: each[n] for name, each in columns.items()}) for n in range(count)]


@cache
def _another(hint: Hint) -> Any:
    """Return a value that is in no other value."""
    return examples(hint, "another")[0]


def _is_a(hint: Hint, value: Any) -> bool:
    if _origin(hint) is Literal:
        return value in get_args(hint)
    return hint is Any or isinstance(value, _origin(hint) or hint)


def _origin(hint: Hint) -> Any:
    return get_origin(hint)


def _of_fields(cls: type, value: Any, place: tuple[str, ...]) -> Iterator[Change]:
    hints = _hints(cls)
    for field in (each for each in fields(cls) if each.compare):
        here = (*place, f"{cls.__name__}.{field.name}")
        for change in changes(hints[field.name], getattr(value, field.name), here):
            yield Change(change.place, replace(value, **{field.name: change.value}))


def _of_tuple(hint: Hint, value: tuple[Any, ...], place: tuple[str, ...]) -> Iterator[Change]:
    new = (*value, _another(hint))
    yield Change(place, new)
    yield Change(place, new[::-1])
    for n, member in enumerate(value):
        yield Change(place, (*value[:n], *value[n + 1 :]))
        for change in changes(hint, member, place):
            yield Change(change.place, (*value[:n], change.value, *value[n + 1 :]))


def _of_mapping(hint: Hint, value: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[Change]:
    yield Change(place, {**value, "new": _another(hint)})
    for key, member in value.items():
        others = {name: each for name, each in value.items() if name != key}
        yield from (Change(place, others), Change(place, {**others, f"{key}!": member}))
        for change in changes(hint, member, place):
            yield Change(change.place, {**others, key: change.value})


def _plain_changes(value: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
        case str():
            yield from ({f"{value}!", ""} - {value})
        case None:
            yield {}
        case list():
            yield [*value, None]
            yield from ([*value[:n], new] for n, v in enumerate(value) for new in _plain_changes(v))
        case dict():
            yield {}
            yield from ({**value, key: n} for key, v in value.items() for n in _plain_changes(v))
        case _:
            raise TypeError(f"no change of {value!r}")
