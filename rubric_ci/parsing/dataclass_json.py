"""JSON becomes frozen dataclasses by the types of their fields.

It is strict: nothing is converted, but a whole number is a float. Unknown keys are ignored, so that
an older program reads newer files. A library that does this takes longer to import than all of
`rubric-ci history add`: `benchmarks/history`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, reduce
from math import isfinite
from operator import or_
from types import NoneType, UnionType
from typing import Any, Final, Literal, NoReturn, Self, TypeAlias, Union, get_args, get_origin
from typing import get_type_hints as hints_of

Reader: TypeAlias = Callable[[Any], Any]
"""From JSON data to a value; raises Mismatch."""

_TAG: Final = "outcome"  # the field that says which dataclass of a union it is
_NAMES: Final[Mapping[type, str]] = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    NoneType: "null",
}


class Mismatch(Exception):
    """Data that is not of the expected type, at a path of keys and indices."""

    def __init__(self, problem: str, path: tuple[str, ...] = ()) -> None:
        super().__init__(": ".join(filter(None, (".".join(path), problem))))
        self._problem, self._path = problem, path

    def below(self, step: str | int) -> Self:
        """Return the same problem, one key or index further from the top."""
        return type(self)(self._problem, (str(step), *self._path))


def load(text: str) -> Any:
    """Return the data of a JSON text; raises Mismatch, also for a number that is not finite."""
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise Mismatch(f"not JSON ({error})") from error


def value_of(kind: Any, data: object) -> Any:
    """Return the data as a value of this type; raises Mismatch for the first problem."""
    return reader(kind)(data)


@cache
def reader(kind: Any) -> Reader:
    """Return the reader of a type; raises TypeError for one that JSON has no value of."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if is_dataclass(kind):
        return _dataclass(kind)
    if make := _COMPOSED.get(get_origin(kind)):
        return make(get_args(kind))
    raise TypeError(kind)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def _number(data: object) -> float:
    if type(data) is float:
        return data
    if type(data) is not int or abs(data) > 1e300:
        raise Mismatch("must be a number")
    return float(data)


def _exactly(kind: type) -> Reader:
    def read(data: object) -> object:
        if type(data) is not kind:
            raise Mismatch(f"must be {_NAMES[kind]}")
        return data

    return read


def _literal(words: Sequence[str]) -> Reader:
    def read(data: object) -> object:
        if type(data) is not str or data not in words:
            raise Mismatch("must be " + _either([f"'{word}'" for word in words]))
        return data

    return read


def _dataclass(kind: Any) -> Reader:
    hints = hints_of(kind)
    readers = [(field.name, reader(hints[field.name])) for field in fields(kind)]
    required = {
        field.name
        for field in fields(kind)
        if field.default is MISSING and field.default_factory is MISSING
    }

    def read(data: object) -> object:
        if type(data) is not dict:
            raise Mismatch("must be an object")
        given, name = {}, ""
        try:  # around the loop and without `_at`: a report has tens of thousands of fields
            for name, read_field in readers:
                if name in data:
                    given[name] = read_field(data[name])
                elif name in required:
                    _missing()
        except Mismatch as error:
            raise error.below(name) from None
        return kind(**given)

    return read


def _missing() -> NoReturn:
    raise Mismatch("is missing")


def _at(step: str | int, read: Reader, data: object) -> Any:
    try:
        return read(data)
    except Mismatch as error:
        raise error.below(step) from None


def _tuple(kinds: Sequence[Any]) -> Reader:
    return _array(reader(kinds[0])) if kinds[-1] is ... else _fixed([*map(reader, kinds)])


def _array(read_each: Reader) -> Reader:
    def read(data: object) -> object:
        try:
            return tuple(map(read_each, _list(data)))
        except Mismatch:  # again, now with the index
            return tuple(_at(at, read_each, each) for at, each in enumerate(_list(data)))

    return read


def _fixed(readers: Sequence[Reader]) -> Reader:
    def read(data: object) -> object:
        if len(_list(data)) != len(readers):
            raise Mismatch(f"must be an array of {len(readers)}")
        pairs = zip(readers, _list(data), strict=True)
        return tuple(_at(at, read_each, each) for at, (read_each, each) in enumerate(pairs))

    return read


def _list(data: object) -> list[Any]:
    if not isinstance(data, list):
        raise Mismatch("must be an array")
    return data


def _object(kinds: Sequence[Any]) -> Reader:
    read_each = reader(kinds[1])

    def read(data: object) -> object:
        if type(data) is not dict:
            raise Mismatch("must be an object")
        return {name: _at(name, read_each, each) for name, each in data.items()}

    return read


def _union(kinds: Sequence[Any]) -> Reader:
    others = [kind for kind in kinds if kind is not NoneType]
    if len(others) < len(kinds):
        return _optional(reader(reduce(or_, others)))
    if all(map(is_dataclass, others)):
        return _tagged(others)
    return _first(list(map(reader, others)))


def _optional(read: Reader) -> Reader:
    return lambda data: None if data is None else read(data)


def _first(readers: Sequence[Reader]) -> Reader:
    def read(data: object) -> object:
        problems = []
        for each in readers:
            try:
                return each(data)
            except Mismatch as error:
                problems.append(str(error).removeprefix("must be "))
        raise Mismatch(f"must be {_either(problems)}")

    return read


def _tagged(kinds: Sequence[Any]) -> Reader:
    """Return the reader of a union of dataclasses, which differ in the words of one field."""
    by_word = {word: reader(kind) for kind in kinds for word in get_args(hints_of(kind)[_TAG])}
    read_tag = _literal(list(by_word))

    def read(data: object) -> object:
        if type(data) is not dict:
            raise Mismatch("must be an object")
        return by_word[_at(_TAG, read_tag, data.get(_TAG))](data)

    return read


def _either(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


_SIMPLE: Final[Mapping[object, Reader]] = {
    Any: lambda data: data,
    float: _number,
    **{kind: _exactly(kind) for kind in _NAMES},
}
_COMPOSED: Final[Mapping[object, Callable[[Sequence[Any]], Reader]]] = {
    Literal: _literal,
    tuple: _tuple,
    Mapping: _object,
    Union: _union,
    UnionType: _union,
}
