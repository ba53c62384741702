"""Keys that users write, each declared at the field that has its value.

`cases: Annotated[int, Key(20, minimum=0)] = 50` is a field with a key; the docstring below it is
the meaning. The schema, the reference page and the reader come from this. A field without a `Key`
is in no file; one with an empty `Key` is written, and another class says what it means.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, TypeVar, get_args, get_origin

from rubric_ci.values.json_value import JSON

Value = TypeVar("Value")
Convert = Callable[[Any], Any]


class Key:
    """How a field is written; `limits` are those of JSON Schema that its type does not say."""

    __slots__ = ("aliases", "examples", "limits", "name", "title")

    def __init__(
        self,
        *examples: JSON,
        name: str = "",
        title: str = "",
        aliases: Mapping[str, str] = MappingProxyType({}),
        **limits: JSON,
    ) -> None:
        self.examples = examples
        self.name = name  # in the file; empty: the name of the field
        self.title = title  # empty: the words of the name
        self.aliases = aliases  # "older" or "other" spellings; "": of another tool, not of ours
        self.limits = limits

    @classmethod
    def of(cls, definition: str, **more: Any) -> "Key":
        """Return a key that the schema describes, in a definition for several objects."""
        limits: dict[str, Any] = {"$ref": f"#/$defs/{definition}"}
        return cls(**more, **limits)


ENVIRONMENT: Final = Key.of("environment")
URL: Final = r"^(https?://|\$\{\{)"


def declared(cls: type[Any]) -> Iterator[tuple[str, Any, Key]]:
    """Yield the name of each field that has a key, its type and its key."""
    for each in fields(cls):
        kind, *about = get_args(each.type) or (None,)
        if key := next((one for one in about if isinstance(one, Key)), None):
            yield each.name, kind, key


def read(kind: type[Value], data: Mapping[str, Any], **given: Any) -> Value:
    """Return the value of a mapping that the schema accepts; `given` are further fields."""
    cls: Any = kind
    for name, keys, to in _readers(cls):
        if name not in given and (key := next((key for key in keys if key in data), "")):
            given[name] = to(data[key])
    return kind(**given)


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
