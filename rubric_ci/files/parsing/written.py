"""Checked data to values, by the keys that their fields declare: names, types and defaults."""

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin

from rubric_ci.values.written_keys import declared

Value = TypeVar("Value")
Convert = Callable[[Any], Any]


def read(kind: type[Value], data: Mapping[str, Any], **given: Any) -> Value:
    """Return the value of a mapping that the schema accepts; `given` are further fields."""
    cls: Any = kind
    found = {
        name: to(data[key])
        for name, keys, to in _readers(cls)
        if (key := next((key for key in keys if key in data), None)) is not None
    }
    return kind(**{**found, **given})


def keys_of(kind: Any) -> tuple[str, ...]:
    """Return the keys of a class, with their aliases."""
    return tuple(key for _, keys, _ in _readers(kind) for key in keys)


@cache
def _readers(kind: Any) -> tuple[tuple[str, tuple[str, ...], Convert], ...]:
    """Return the name, the key with its aliases, and the conversion of each written field."""
    return tuple(
        (name, (key.name or name, *key.aliases), _reader(of)) for name, of, key in declared(kind)
    )


def _reader(kind: Any) -> Convert:
    """Return the conversion to a type: whole numbers to floats, lists to tuples."""
    if kind is float:
        return float
    if isinstance(kind, type) and is_dataclass(kind):
        return partial(read, kind)
    to = [_reader(each) for each in get_args(kind) if each not in (NoneType, ...)]
    match get_origin(kind):
        case origin if origin is tuple:
            return lambda items: tuple(map(to[0], items))
        case origin if origin is Mapping:
            return lambda items: {key: to[1](item) for key, item in items.items()}
        case origin if origin is UnionType and len(to) == 1:
            return to[0]
    return lambda value: tuple(value) if isinstance(value, list) else value
