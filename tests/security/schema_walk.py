"""Every key of a schema, with the smallest document around it: a new key is found without a line.

A walk of the schema yields the places of values. What stands around a value is made from the
schema too: the required keys, the constants of an `if`, one item of a list.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

Schema = Mapping[str, Any]
Put = Callable[[Any], Any]

WORD: Final = "a"
_KEYS: Final = (WORD, "b", "0", "1")
_TEXTS: Final = (
    *(WORD, "1", "0" * 40, "0" * 12, "https://a.example", "tag:a", "case", "2027-01-01"),
    "/ready",
)


@dataclass(frozen=True)
class Place:
    """A place of values: its name, what may stand there, and the document around a value."""

    name: str
    owner: str
    schema: Schema
    put: Put


@dataclass(frozen=True)
class _Step:
    """A schema to enter, and what is known of the document around it."""

    schema: Schema
    owner: str
    name: str
    put: Put
    known: Mapping[str, Any]


class Walk:
    """A walk of one schema; a definition is entered once."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._entered: set[str] = set()
        self._waiting: deque[_Step] = deque()

    def places(self) -> Iterator[Place]:
        """Yield the places of each definition where it is nearest to the top."""
        self._waiting.append(_Step(self._root, "top", "", lambda value: value, {}))
        while self._waiting:
            step = self._waiting.popleft()
            reference = step.schema.get("$ref", "")
            if reference not in self._entered:
                self._entered.update({reference} - {""})
                yield from self._at(self.resolved(step.schema), step)

    def resolved(self, schema: Any) -> Schema:
        """Return a schema without its reference."""
        while isinstance(schema, dict) and "$ref" in schema:
            found: Any = self._root
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            schema = {**found, **{key: each for key, each in schema.items() if key != "$ref"}}
        return schema if isinstance(schema, dict) else {}

    def _at(self, node: Schema, step: "_Step") -> Iterator[Place]:
        named = "properties" in node and step.schema.get("$ref", "").rpartition("/")[2]
        step = replace(step, owner=named or step.owner)
        for key, inner in node.get("properties", {}).items():
            if isinstance(inner, dict) and key != "$schema":
                around = {**self.required(node, {key, *step.known}), **step.known}
                inside = _inside(step.put, without(around, node, key), key)
                yield Place(f"{step.name}.{key}".lstrip("."), step.owner, inner, inside)
                self._later(inner, replace(step, name=f"{step.name}.{key}", put=inside, known={}))
        self._items(node, step)
        around = {**self.required(node, step.known.keys(), conditional=False), **step.known}
        for branch in _branches(node):
            constants = _constants(branch.get("if", {}))
            self._later(branch.get("then"), replace(step, known={**around, **constants}))
            self._later(branch.get("else"), replace(step, known=around))

    def _items(self, node: Schema, step: "_Step") -> None:
        least = max(node.get("minItems", 0), node.get("minProperties", 0))
        if isinstance(items := node.get("items"), dict):
            rest = [self.example(items, number) for number in range(2, 1 + least)]
            put = _first_of(step.put, rest)
            self._later(items, replace(step, name=f"{step.name}[]", put=put, known={}))
        if isinstance(others := node.get("additionalProperties"), dict):
            names = [key for key in _KEYS if _fits(node.get("propertyNames", {}), key)]
            more = {key: self.example(others) for key in names[1:least]}
            put = _inside(step.put, more, names[0])
            self._later(others, replace(step, name=f"{step.name}.*", put=put, known={}))

    def _later(self, schema: Any, step: "_Step") -> None:
        if isinstance(schema, dict):
            self._waiting.append(replace(step, schema=schema))

    def required(
        self, schema: Any, given: Collection[str] = (), *, conditional: bool = True
    ) -> dict[str, Any]:
        """Return the smallest mapping of a schema, next to keys that are given."""
        node = self.resolved(schema)
        names = [*node.get("required", ())]
        for each in (node, *node.get("allOf", ())) if conditional else ():
            without_any = {n for n, s in each.get("if", {}).get("properties", {}).items() if not s}
            if without_any and not without_any & {*given, *names}:
                names += self.resolved(each.get("then", {})).get("required", ())
        properties = node.get("properties", {})
        found = {name: self.example(properties.get(name, {})) for name in names}
        for branch in _branches(node) if conditional else ():
            constants = _constants(branch.get("if", {})).items()
            if constants and constants <= found.items():
                inner = {**node, **self.resolved(branch["then"])}
                found = {**self.required(inner, conditional=False), **found}
        return found

    def example(self, schema: Any, number: int = 0) -> Any:
        """Return a small value that fits; texts differ by their number."""
        node = self.resolved(schema)
        if choices := node.get("enum") or node.get("then", {}).get("enum"):
            return choices[0]
        kinds = node.get("type", "object" if "properties" in node else "string")
        match kinds if isinstance(kinds, str) else kinds[0]:
            case "string":
                texts = [f"x{number}", *_TEXTS]
                return next(filter(lambda text: _fits(node, text), texts))
            case "integer" | "number":
                return min(max(node.get("minimum", 1), 1) + number, node.get("maximum", 1 + number))
            case "boolean":
                return True
            case "array":
                least = node.get("minItems", 0)
                return [self.example(node.get("items", {}), each) for each in range(least)]
        found = self.required(node)
        for key in _KEYS[: node.get("minProperties", 0)]:
            found.setdefault(key, self.example(node.get("additionalProperties", {})))
        for key in ("id", "name"):
            if key in found:
                found[key] = f"x{number}"
        return found

    def many(self, schema: Any, count: int) -> list[Any]:
        """Return different items of a list, or no items: the schema has no list."""
        node = self.resolved(schema)
        for each in (node, *_alternatives(node)):
            if item := self.resolved(each).get("items"):
                return [self.example(item, number) for number in range(count)]
        return []


def without(around: Mapping[str, Any], node: Schema, key: str) -> dict[str, Any]:
    """Return the keys that the schema allows next to a key."""
    excluded = node.get("dependentSchemas", {}).get(key, {}).get("properties", {})
    return {name: each for name, each in around.items() if excluded.get(name) is not False}


def _first_of(put: Put, rest: list[Any]) -> Put:
    return lambda value: put([value, *rest])


def _inside(put: Put, around: Mapping[str, Any], key: str) -> Put:
    return lambda value: put({**around, key: value})


def _fits(schema: Schema, text: str) -> bool:
    return bool(re.search(schema.get("pattern", ""), text))


def _branches(node: Schema) -> Iterator[Schema]:
    yield node
    yield from (each for each in node.get("allOf", ()) if isinstance(each, dict))
    for key in ("then", "else"):
        if isinstance(inner := node.get(key), dict) and "if" in inner:
            yield from _branches(inner)


def _alternatives(node: Schema) -> Iterator[Schema]:
    for key in ("then", "else"):
        if isinstance(inner := node.get(key), dict):
            yield inner
            yield from _alternatives(inner)


def _constants(condition: Schema) -> dict[str, Any]:
    properties = condition.get("properties", {})
    found = {name: each for name, each in properties.items() if isinstance(each, dict)}
    return {
        name: each["const"] if "const" in each else each["enum"][0]
        for name, each in found.items()
        if "const" in each or "enum" in each
    }
