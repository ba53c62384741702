"""JSON becomes frozen dataclasses by the types of their fields, strictly.

Nothing is converted, but a whole number is a float. Unknown keys are ignored, so that an older
program reads newer files.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

MOST_DIGITS: Final = 300  # of an integer
_TAG: Final = "outcome"  # the field that says which dataclass of a union it is
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_SCALARS: Final = frozenset({"bool", "int", "float", "str"})


class Mismatch(Exception):
    """Text that is not JSON, or not of the expected type at a path of keys and indices."""


def load(text: str) -> Any:
    """Return the data of a JSON text; raises Mismatch, also for a number that is not finite."""
    try:
        return json.loads(text, parse_float=_finite, parse_int=_whole, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise Mismatch(f"not JSON ({error})") from error


def value_of(kind: Any, text: str) -> Any:
    """Return the value of this type that a JSON text holds; raises Mismatch for the first problem.

    Does not look for numbers that are not finite: `load` does.
    """
    from pydantic import ValidationError

    try:
        if _SURROGATE.search(text):
            return _with_surrogates(kind, text)
        return _adapter(kind).validate_json(text, strict=True)
    except ValidationError as error:
        raise Mismatch(_first(error.errors(include_url=False, include_context=False))) from error


def _with_surrogates(kind: Any, text: str) -> Any:
    """Return the value of a text that may hold half of a pair, which pydantic's JSON refuses.

    Each half is read as a character for private use that the text does not hold.
    """
    plain = json.dumps(load(text), ensure_ascii=False)
    used = {*map(ord, plain)}
    free = next(n for n in range(0xF0000, 0x10F800, 0x800) if used.isdisjoint(range(n, n + 0x800)))
    there = {0xD800 + n: free + n for n in range(0x800)}
    value = _adapter(kind).validate_json(plain.translate(there), strict=True)
    return _translated(value, {new: old for old, new in there.items()})


def _translated(value: Any, table: Mapping[int, int]) -> Any:
    if isinstance(value, str):
        return value.translate(table)
    if isinstance(value, list | tuple):
        return type(value)(_translated(each, table) for each in value)
    if isinstance(value, Mapping):
        return {_translated(k, table): _translated(v, table) for k, v in value.items()}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    names = [field.name for field in fields(value)]
    return replace(value, **{name: _translated(getattr(value, name), table) for name in names})


@cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:  # a float of it would be infinite
        raise ValueError(f"a number of {len(text):,} digits")
    return int(text)


def _first(errors: Sequence["ErrorDetails"]) -> str:
    """Return the first problem, not of a dataclass of a union that the tag excludes."""
    excluded = [
        each["loc"][:-1]
        for each in errors
        if each["loc"][-1:] == (_TAG,) and each["type"] == "literal_error"
    ]
    meant = [each for each in errors if not any(each["loc"][: len(loc)] == loc for loc in excluded)]
    meant = meant or [each for each in errors if each["loc"][:-1] in excluded]
    path = _path(meant[0]["loc"])
    words = dict.fromkeys(_problem(each) for each in meant if _path(each["loc"]) == path)
    problem = " or ".join(words).replace(" or must be ", " or ")
    return ": ".join(filter(None, (".".join(path), problem)))


def _path(place: tuple[int | str, ...]) -> tuple[str, ...]:
    """Return the keys and indices; a step into a union is the name of a type that was tried."""
    steps = [str(step) for step in place]
    return tuple(s for s in steps if s not in _SCALARS and s == s.lower() and "[" not in s)


def _problem(error: "ErrorDetails") -> str:
    if error["type"] == "missing":
        return "is missing"
    return error["msg"].removeprefix("Input ").replace("should be", "must be")
