"""Keys that users write, each declared at the field that has its value.

`cases: Annotated[int, Key(20, minimum=0)] = 50` is a field with a key; the docstring below it is
the meaning. The schema, the reference page and the reader come from this. A field without a `Key`
is in no file; one with an empty `Key` is written, and another class says what it means.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from posixpath import dirname, join, normpath
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, NamedTuple, TypeVar, get_args, get_origin

from rubric_ci.values.json_value import JSON

Value = TypeVar("Value")
Convert = Callable[[Any, str], Any]
"""A written value and the file that has it, to a value."""


class Key:
    """How a field is written; `limits` are keywords of JSON Schema that its type does not say."""

    __slots__ = ("aliases", "examples", "limits", "name", "title", "to")

    def __init__(
        self,
        *examples: JSON,
        name: str = "",
        title: str = "",
        aliases: Mapping[str, str] = MappingProxyType({}),
        to: Convert | None = None,
        **limits: JSON,
    ) -> None:
        self.examples = examples
        self.name = name  # in the file; empty: the name of the field
        self.title = title  # empty: the words of the name
        # "older" or "other" spellings; "": of another tool, not of ours; "#name": a form or a part
        # of the value, in the definition of this name
        self.aliases = aliases
        self.to = to  # None: the conversion to its type
        self.limits = limits

    @classmethod
    def of(cls, definition: str, *examples: JSON, **more: Any) -> "Key":
        """Return a key that the schema describes, in a definition for several objects."""
        limits: dict[str, Any] = {"$ref": f"#/$defs/{definition}"}
        return cls(*examples, **more, **limits)


ENVIRONMENT: Final = Key.of("environment")
TEXT: Final[dict[str, Any]] = {"$ref": "#/$defs/text"}
VARIABLE: Final = r"^\$\{\{"
URL: Final = r"^(https?://|\$\{\{)"


def declared(cls: type[Any]) -> Iterator[tuple[str, Any, Key]]:
    """Yield the name of each field that has a key, its type and its key."""
    for each in fields(cls):
        kind, *about = get_args(each.type) or (None,)
        if key := next((one for one in about if isinstance(one, Key)), None):
            yield each.name, kind, key


def from_root(path: str, file: str) -> str:
    """Return a path that counts from its file as one from the root, unless it is a variable's."""
    return path if path.startswith("${{") else normpath(join(dirname(file), path))


def read_keys(kind: type[Value], data: Mapping[str, Any], file: str = "", /, **given: Any) -> Value:
    """Return the value of a mapping that the schema accepts; `given` are further fields.

    Paths count from `file`, also the folder that is the default.
    """
    cls: Any = kind
    readers, with_default = _readers(cls)
    for key, value in data.items():
        for name, before, to in readers.get(key, ()):
            if name not in given and not (before and any(other in data for other in before)):
                given[name] = to(value, file)
    for name in with_default:
        if name not in given:
            given[name] = from_root(".", file)
    return kind(**given)


def keys_of(kind: Any, *names: str) -> tuple[str, ...]:
    """Return the keys of a class, or of these fields of it, with their aliases."""
    readers, _ = _readers(kind)
    return tuple(
        key
        for key, found in readers.items()
        if not names or any(reader.name in names for reader in found)
    )


class _Reader(NamedTuple):
    """How the value at a key is read."""

    name: str  # of the field
    before: tuple[str, ...]  # its keys that precede this one, an alias
    to: Convert


@cache
def _readers(kind: Any) -> tuple[Mapping[str, list[_Reader]], list[str]]:
    """Return the readers by key, aliases included, and the fields whose default is the folder."""
    defaults = {each.name: each.default for each in fields(kind)}
    readers, with_default = dict[str, list[_Reader]](), list[str]()
    for name, of, key in declared(kind):
        keys = (key.name or name, *key.aliases)
        for n, one in enumerate(keys):
            readers.setdefault(one, []).append(_Reader(name, keys[:n], key.to or _reader(of)))
        if key.to is from_root and defaults[name] == ".":
            with_default.append(name)
    return readers, with_default


def _reader(kind: Any) -> Convert:
    """Return the conversion to a type: whole numbers to floats, lists to tuples."""
    if kind is float:
        return lambda value, _: float(value)
    if isinstance(kind, type) and is_dataclass(kind):
        return lambda value, file: read_keys(kind, value, file)
    to = [_reader(each) for each in get_args(kind) if each not in (NoneType, ...)]
    match get_origin(kind):
        case origin if origin is tuple:
            return lambda items, file: tuple(to[0](item, file) for item in items)
        case origin if origin is Mapping:
            return lambda items, file: {key: to[1](item, file) for key, item in items.items()}
        case origin if origin is UnionType and len(to) == 1:
            return to[0]
    return lambda value, _: tuple(value) if isinstance(value, list) else value
