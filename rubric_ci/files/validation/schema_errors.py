"""Errors of jsonschema as problems with readable messages."""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice
from typing import Any, Final, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from rubric_ci.evaluators.assertions.keys import KEYS
from rubric_ci.files.validation.config_summary import PROVIDERS
from rubric_ci.files.validation.schema_wording import (
    KINDS,
    diagnose_shape,
    hint_for,
    hint_for_key,
    instead_of_type,
    one_of,
    owner_name,
    value_in_words,
    value_name,
)
from rubric_ci.files.validation.shape_rules import (
    ALIAS_CONFLICT,
    ASSERTION_OPTION,
    CRITERION_KIND,
    EMPTY_TEXT,
    EVALUATOR_TYPE,
    MISSING_KEY,
    MISSING_VALUE,
    NOT_TEXT,
    OUT_OF_RANGE,
    TOO_FEW,
    UNKNOWN_VALUE,
    rule_of,
)
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.problems import INPUTS, MAX_PROBLEMS, UNKNOWN_KEY, WRONG_TYPE, Path, Problem

Explain: TypeAlias = Callable[[ValidationError, Path], Iterator[Problem]]

Written: TypeAlias = Callable[[Path], str | None]


def explain(schema: Any, data: Any, written: Written) -> list[Problem]:
    """Return one problem per cause, and at most one more than a report shows."""
    found = islice(_problems(schema, data, written), MAX_PROBLEMS + 1)
    return _merge_misspelt(list(found))


def _unique(_: Any, wanted: bool, items: Any, __: Any) -> Iterator[ValidationError]:
    """Yield an error for a list with an item that occurs twice; jsonschema compares each two."""
    if not (wanted and isinstance(items, list)):
        return
    texts = [json.dumps(item, sort_keys=True, default=str) for item in items]
    if len({*texts}) < len(texts):
        yield ValidationError(f"{items!r} has non-unique elements")


_Validator: Final = extend(  # type: ignore[no-untyped-call] # has no types
    Draft202012Validator, {"uniqueItems": _unique}
)


def _problems(schema: Any, data: Any, written: Written) -> Iterator[Problem]:
    excluded = cache(partial(_excluded, schema))
    for error in _Validator(schema).iter_errors(data):
        path = tuple(error.absolute_path)
        of_keys = error.validator in _OF_KEYS
        if of_keys and (meant := diagnose_shape(schema, path, error.instance)):
            yield meant
        elif error.validator is None:
            yield from _mutually_exclusive(error, path, data, excluded)
        elif error.validator == "type" and path and error.instance is None:
            hint = "write one, or remove the `-`" if isinstance(path[-1], int) else ""
            yield Problem(MISSING_VALUE, path, f"{value_name(path)} has no value", hint)
        elif error.validator == "type" and _is_unquoted(error):
            yield _unquoted(error, path, written(path))
        else:
            yield from _EXPLAIN.get(error.validator, _other_error)(error, path)


def _type(error: ValidationError, path: Path) -> Iterator[Problem]:
    wanted: Any = error.validator_value
    kinds = [wanted] if isinstance(wanted, str) else wanted
    name, value = value_name(path), error.instance
    expected = " or ".join(KINDS[kind] for kind in kinds)
    rule = rule_of(path, "type", WRONG_TYPE)
    message = f"{name} must be {expected}, not {value_in_words(value)}"
    yield Problem(rule, path, message, hint_for(path, kinds, value))


def _is_unquoted(error: ValidationError) -> bool:
    wanted: Any = error.validator_value
    return "string" in wanted and isinstance(error.instance, bool | int | float)


def _unquoted(error: ValidationError, path: Path, written: str | None) -> Problem:
    """Return the problem of a scalar that YAML reads as another type than text."""
    text = value_in_words(error.instance)[1:-1] if written is None else written
    kind = "true or false" if isinstance(error.instance, bool) else "a number"
    message = f"{value_name(path)} must be text; `{text}` reads as {kind}"
    return Problem(NOT_TEXT, path, message, f'quote it: "{text}"')


def _required(error: ValidationError, path: Path) -> Iterator[Problem]:
    wanted: Any = error.validator_value
    instance: Any = error.instance
    for key in wanted:
        if key not in instance:
            rule = rule_of((*path, key), "required", MISSING_KEY)
            setting = next((each for each in PROVIDERS if each in instance), "")
            of_provider = key == "model" and path[:1] == ("targets",) and setting
            keys = ("provider",) if of_provider else _alternatives(path, key)
            message = f"{owner_name(path)} has no {one_of(keys)}"
            other = next((other for other in _OTHERS.get(key, ()) if other in instance), "")
            hint = f"write `{key}` in place of `{other}`" if other else ""
            if of_provider:
                hint = f"`{setting}` is a setting of `provider: {PROVIDERS[setting]}`"
            yield Problem(rule, path, message, hint, missing=keys)


_OTHERS: Final = {"tool": ("name", "function"), "script": ("command", "cmd")}
"""Wrong keys for a required one, in mappings that accept any key."""

_ALTERNATIVES: Final = {INPUTS[0]: INPUTS, "max_total": ("max_total", "max_input", "max_output")}
"""Keys of which any one is enough, by the key that the schema names."""


def _alternatives(path: Path, key: str) -> tuple[str, ...]:
    if path[-1:] == ("git",) and key == "path":
        return ("url", "path")
    return _ALTERNATIVES.get(key, (key,))


def _additional(error: ValidationError, path: Path) -> Iterator[Problem]:
    schema: Any = error.schema
    instance: Any = error.instance
    known = schema["properties"]
    patterns = schema.get("patternProperties", {})
    for key in instance:
        if key not in known and not any(re.search(pattern, key) for pattern in patterns):
            message = f"unknown key `{key}` in {owner_name(path)}"
            hint = hint_for_key(key, path, instance)
            meant = nearest(key, known)
            meant = "" if meant in instance else meant
            where, hint = (*path, key), hint or did_you_mean(meant) or _after_comma(instance, key)
            yield Problem(UNKNOWN_KEY, where, message, hint, at_key=True, meant=meant)


def _after_comma(instance: dict[str, Any], key: str) -> str:
    """Return a hint for a key without a value that is the rest of the text before it."""
    before = [name for name in list(instance)[: list(instance).index(key)] if instance[name]]
    if instance[key] is not None or not before or not isinstance(instance[before[-1]], str):
        return ""
    return f"quote the text of `{before[-1]}`: inside {{ }} a comma ends a text without quotes"


def _enum(error: ValidationError, path: Path) -> Iterator[Problem]:
    wanted: Any = error.validator_value
    values = [value for value in wanted if isinstance(value, str)]  # `off` may read as false
    rule = rule_of(path, "enum", UNKNOWN_VALUE)
    words = ", ".join(f"`{value}`" for value in values or ("true",))
    value = error.instance
    hint = ""
    if isinstance(value, str):
        other = instead_of_type(value) if rule == EVALUATOR_TYPE else ""
        hint = other or did_you_mean(nearest(value, values))
    elif value is False and path[-1] in KEYS:
        hint = f"write `{path[-1]}: true` and `not: true`"
    allowed = f"one of {words}" if values else words
    message = f"{value_name(path)} must be {allowed}, not {value_in_words(value)}"
    yield Problem(rule, path, message, hint)


def _pattern(error: ValidationError, path: Path) -> Iterator[Problem]:
    if "propertyNames" in error.absolute_schema_path:
        key = error.instance
        rule = rule_of((*path, str(key)), "key", UNKNOWN_KEY)
        wanted = "integers 0 to 10" if "score_ranges" in path else "integers"
        if path[-1:] == ("choices",):
            yield Problem(EMPTY_TEXT, (*path, str(key)), "a choice has no name", at_key=True)
            return
        if path[-1:] == ("vars",):
            wanted = "letters, digits and underscores, without a digit first"
        message = f"the keys of {value_name(path)} must be {wanted}, not `{key}`"
        yield Problem(rule, (*path, str(key)), message, at_key=True)
    elif error.validator_value == "\\S":
        rule = rule_of(path, "pattern", EMPTY_TEXT)
        yield Problem(rule, path, f"{value_name(path)} must not be empty")
    else:
        schema = error.schema if isinstance(error.schema, dict) else {}
        examples = " or ".join(f"`{each}`" for each in schema.get("examples", ()))
        hint = f"write a value such as {examples}" if examples else ""
        message = f"{value_name(path)} cannot be `{error.instance}`"
        yield Problem(UNKNOWN_VALUE, path, message, hint)


def _bound(error: ValidationError, path: Path) -> Iterator[Problem]:
    words = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than"}
    bound = f"{words[str(error.validator)]} {error.validator_value}"
    rule = rule_of(path, "bounds", OUT_OF_RANGE)
    given: Any = error.instance
    percent = error.validator == "maximum" and error.validator_value == 1 and 1 < given <= 100
    hint = f"write {given / 100:g}" if percent else ""
    yield Problem(rule, path, f"{value_name(path)} must be {bound}, not {given}", hint)


def _count(error: ValidationError, path: Path) -> Iterator[Problem]:
    few = "at least" if str(error.validator).startswith("min") else "at most"
    rule = rule_of(path, few, TOO_FEW)
    instance: Any = error.instance
    number, have = error.validator_value, len(instance)
    unit = "entry" if number == 1 else "entries"
    if have == 0:
        drafted = "remove the key and run `rubric-ci generate rubrics` to draft them"
        hint = drafted if path[-1] == "rubrics" else ""
        yield Problem(rule, path, f"{value_name(path)} must not be empty", hint)
    else:
        size = f"{few} {number:,} {unit}, not {have:,}"
        yield Problem(rule, path, f"{value_name(path)} must have {size}")


def _excluded(schema: Any, other: str) -> tuple[str, ...]:
    """Return the keys that cannot stand next to another one, in any object of the schema."""
    if isinstance(schema, list):
        return tuple(key for each in schema for key in _excluded(each, other))
    if not isinstance(schema, dict):
        return ()
    below = schema.get("dependentSchemas", {}).get(other)
    return (*_denied(below), *(key for each in schema.values() for key in _excluded(each, other)))


def _denied(schema: Any) -> Iterator[str]:
    """Yield the keys that may not be there, also on a condition."""
    if isinstance(schema, dict):
        yield from (key for key, each in schema.get("properties", {}).items() if each is False)
        for each in (schema.get("then"), *schema.get("allOf", ())):
            yield from _denied(each)


def _mutually_exclusive(
    error: ValidationError, path: Path, data: Any, excluded: Callable[[str], tuple[str, ...]]
) -> Iterator[Problem]:
    """Yield the key that is excluded by the one that `dependentSchemas` names.

    NOTE: for the schema `false`, jsonschema does not include the key in the path of the error.
    """
    steps = list(error.absolute_schema_path)
    other = str(steps[len(steps) - steps[::-1].index("dependentSchemas")])
    for step in path:
        data = data[step]
    key = next(key for key in excluded(other) if data.get(key) is error.instance)
    repository = "`git`" if path[-1:] == ("git",) else "a repository"
    what = repository if other in ("url", "ref") else "a criterion"
    either = f"{what} has either `{key}` or `{other}`, not both"
    if other in ("url", "ref", "penalty"):
        yield Problem(ALIAS_CONFLICT, (*path, key), either, "remove one", at_key=True)
    elif other in {"levels", "choices"} or other in KEYS:
        yield Problem(CRITERION_KIND, (*path, key), either, at_key=True)
    else:
        same = f"{other}.{key}" if other == "execution" else other
        message = f"`{key}` and `{same}` mean the same; use one of them"
        yield Problem(ALIAS_CONFLICT, (*path, key), message, at_key=True)


def _needs_assertion(error: ValidationError, path: Path) -> Iterator[Problem]:
    key = str(list(error.absolute_schema_path)[-2])
    message = f"`{key}` has no effect on a criterion that is not an assertion"
    yield Problem(ASSERTION_OPTION, (*path, key), message, at_key=True)


def _other_error(error: ValidationError, path: Path) -> Iterator[Problem]:
    yield Problem(WRONG_TYPE, path, str(error.message))


_OF_KEYS: Final = frozenset(("required", "additionalProperties"))
_KINDS: Final = frozenset((*KEYS, "score_ranges", "levels", "choices", "include"))
"""Keys that give a criterion its kind; with one of them it needs no text."""
_OLD_SPELLINGS: Final = {
    "description": ("expected_outcome", "criteria"),
    "expected_outcome": ("criteria",),
    **dict.fromkeys(("maxTotal", "maxInput", "maxOutput"), ("max_total",)),
}
"""Required keys in whose place another key is enough, by the other key."""
_EXPLAIN: Final[dict[str, Explain]] = {
    "type": _type,
    "required": _required,
    "additionalProperties": _additional,
    "enum": _enum,
    "const": _enum,
    "pattern": _pattern,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum"), _bound),
    "not": _needs_assertion,
    **dict.fromkeys(("minItems", "maxItems", "minProperties", "maxProperties"), _count),
}


def _explains(meant: str, other: Problem) -> bool:
    """Return True if a misspelt key is why another one is missing, or an option has no effect."""
    if other.rule == ASSERTION_OPTION:
        return meant in KEYS
    if other.rule == UNKNOWN_KEY:
        return meant == "include" and other.path[-1] in ("as", "only", "except")
    wanted = (meant, *_OLD_SPELLINGS.get(meant, ()))
    of_kind = meant in _KINDS and "expected_outcome" in other.missing
    return of_kind or any(key in other.missing for key in wanted)


def _merge_misspelt(found: list[Problem]) -> list[Problem]:
    """Merge a missing-key problem into the misspelt key that explains it.

    The misspelt key gets the rule of the missing one: an unknown key may be ignored, a missing one
    may not.
    """
    kept = {(p.path, p.message): p for p in found}
    for unknown in (each for each in found if each.rule == UNKNOWN_KEY and each.meant):
        for other in found:
            owner = other.path[:-1] if other.at_key else other.path
            if owner == unknown.path[:-1] and _explains(unknown.meant, other):
                kept.pop((other.path, other.message), None)
                rule = CRITERION_KIND if unknown.meant in _KINDS else other.rule
                kept[unknown.path, unknown.message] = unknown._replace(rule=rule)
    return list(kept.values())
