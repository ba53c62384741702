"""An assertion of promptfoo as criteria, or as a check of the shim where only that decides alike.

Texts are compared as they are there: white space counts, and a code fence is not JSON.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from rubric_ci.evaluators.assertions.json_data import schema_problem
from rubric_ci.evaluators.assertions.text import pattern_problem
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring.dialects.nunjucks import js_text
from rubric_ci.parts.bring.dialects.promptfoo_code import KEYS, Setting, rendered
from rubric_ci.parts.bring.translation import Translation, other_meaning
from rubric_ci.values.json_value import is_number, nodes
from rubric_ci.values.problems import Path


class Made(NamedTuple):
    """The translation of an assertion: criteria, and a check that the shim makes in their place."""

    criteria: tuple[dict[str, Any], ...] = ()
    check: dict[str, Any] | None = None  # None: the shim has none for it
    only_check: bool = False  # the criteria would decide otherwise


class _Refused(Exception):
    """An assertion without a counterpart: the reason, and the key that it is about."""

    def __init__(self, reason: str, key: str = "value") -> None:
        super().__init__(reason)
        self.key = key


_OF_JUDGE: Final = ("threshold", "provider", "rubricPrompt")
_WITHOUT: Final[Mapping[str, str]] = {
    "similar": "it compares embeddings; write the meaning as a criterion of `llm-rubric`",
    "levenshtein": "it counts edits; a script can",
    **dict.fromkeys(("contains-xml", "is-xml"), "it reads XML; a script can"),
    **dict.fromkeys(("contains-html", "is-html"), "it reads HTML; a script can"),
    **dict.fromkeys(("contains-sql", "is-sql"), "it reads SQL; a script can"),
    **dict.fromkeys(("webhook", "moderation"), "it asks a service; a script can"),
}
"""Why an assertion has no counterpart, where there is more to say."""

_SCHEMA: Final = "http://json-schema.org/draft-07/schema#"
_LATER: Final = "https://json-schema.org/draft/2019-09/schema"
_FORMATS: Final = frozenset(
    (
        *("date", "time", "date-time", "email", "hostname", "ipv4", "ipv6", "uri", "regex"),
        *("uri-reference", "uri-template", "json-pointer", "relative-json-pointer"),
    )
)
_LATER_FORMATS: Final = frozenset(("uuid", "duration"))


def made_of(found: Translation, assertion: Any, kind: str, place: Path, setting: Setting) -> Made:
    """Return the translation of an assertion; nothing, and a report, without a counterpart."""
    if not isinstance(assertion, dict):
        found.refuse(place, "an assertion is a mapping")
        return Made()
    plain = kind.removeprefix("not-")
    maker = _MAKERS.get(plain)
    if maker is None:
        why = _WITHOUT.get(plain, "")
        end = f": {why}" if why else ""
        found.refuse((*place, "type"), f"the assertion `{kind}` has no counterpart{end}")
        return Made()
    _other_keys(found, assertion, plain, place)
    try:
        value = _value(found, assertion.get("value"), (*place, "value"), setting)
        if value is None and assertion.get("value") is not None:
            return Made()
        made = maker(value, kind != plain, setting, assertion)
    except _Refused as error:
        at = (*place, error.key) if error.key in assertion else place
        found.refuse(at, f"`{kind}`: {error}")
        return Made()
    return _weighed(
        found, made, assertion, inverted=kind != plain and plain not in _JUDGED, place=place
    )


def _value(found: Translation, written: Any, place: Path, setting: Setting) -> Any:
    """Return a value with the texts of its files; other texts have their templates filled in."""
    if isinstance(written, list):
        inner = [_value(found, each, place, setting) for each in written]
        return inner if None not in inner or None in written else None
    if not isinstance(written, str) or not written.startswith(("file://", "package:")):
        return rendered(found, written, place, setting)
    name = written.removeprefix("file://")
    text = found.beside.read(name) if name.endswith(_FILES) else None
    if text is None:
        raise _Refused(f"`{written}` is not read")
    return text.strip() if name.endswith(".txt") else Document(name, text, core=True).data


_FILES: Final = (".txt", ".json", ".yaml", ".yml")
"""The ends of names of the files that promptfoo reads; it runs others, or stops at them."""


def is_judged(kind: str) -> bool:
    return kind.removeprefix("not-") in _JUDGED


def _other_keys(found: Translation, assertion: dict[str, Any], plain: str, place: Path) -> None:
    of_kind = _OF_JUDGE if plain in _JUDGED else ()
    for key in assertion:
        if key in ("rubricPrompt", "contextTransform", "config"):
            found.refuse((*place, key), f"`{key}` has no counterpart")
        elif key not in (*KEYS, *of_kind):
            found.skip((*place, key), f"promptfoo ignores `{key}` of this assertion")


def _weighed(
    found: Translation, made: Made, assertion: dict[str, Any], *, inverted: bool, place: Path
) -> Made:
    """Return criteria and check with weight and inversion; a weight of 0 decides nothing."""
    weight = assertion.get("weight", 1)
    if not is_number(weight) or weight < 0:
        found.refuse((*place, "weight"), "a weight is a number from 0")
        weight = 1
    share = weight if len(made.criteria) < 2 else weight / len(made.criteria)
    extra: dict[str, Any] = {"not": True} if inverted else {}
    optional = {"required": False} if weight == 0 else {}
    weights = {"weight": share} if share != 1 else {}
    check = made.check and {**made.check, **extra, **({"weight": weight} if weight != 1 else {})}
    criteria = tuple({**each, **extra, **weights, **optional} for each in made.criteria)
    return made._replace(criteria=criteria, check=check)


_Maker = Callable[[Any, bool, Setting, Mapping[str, Any]], Made]


def _alike(criterion: dict[str, Any]) -> Made:
    """Return a criterion that decides alike; texts that are white space are for the shim."""
    blank = any(isinstance(each, str) and not each.strip() for _, each in nodes(criterion))
    return Made((criterion,), criterion, only_check=blank and "equals" not in criterion)


def _only_check(check: dict[str, Any]) -> Made:
    return Made((), check, only_check=True)


def _contains(key: str, *, fold: bool = False) -> _Maker:
    """Return the maker of `contains`, or of a key that takes several texts."""
    folding = {"ignore_case": True} if fold else {}

    def make_one(value: Any, *_: Any) -> Made:
        if not (is_number(value) or (isinstance(value, str) and value)):
            raise _Refused("promptfoo stops at a value that is neither text nor a number")
        return _alike({key: js_text(value), **folding})

    def make_several(value: Any, *_: Any) -> Made:
        items = _separated(value) if isinstance(value, str) and value else value
        if not isinstance(items, list):
            raise _Refused("promptfoo stops at a value that is neither text nor a list")
        made = {key: [js_text(each, null="null") for each in items], **folding}
        return _alike(made) if items else _only_check(made)

    return make_one if key == "contains" else make_several


def _separated(text: str) -> list[str]:
    """Return the texts between commas, as promptfoo reads them: quotes keep a comma."""
    found, at = list[str](), 0
    while (at := _past(text, at, " \t\r\n\f\v,")) < len(text):
        if text[at] != '"':
            end = text.find(",", at)
            end = len(text) if end < 0 else end
            found.append(text[at:end].strip())
        else:
            field, end = _quoted(text, at + 1)
            found.append(field)
            end = _past(text, end, " \t\r\n\f\v")
            if end < len(text) and text[end] != ",":
                raise _Refused("promptfoo stops at a text after quotes")
        at = end
    return found


def _past(text: str, at: int, signs: str) -> int:
    while at < len(text) and text[at] in signs:
        at += 1
    return at


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Return a text in quotes and where it ends."""
    field = ""
    while at < len(text):
        if text[at : at + 2] in ('\\"', "\\\\", '""'):
            field += text[at + 1]
            at += 2
        elif text[at] == '"':
            return field, at + 1
        else:
            field += text[at]
            at += 1
    raise _Refused("promptfoo stops at quotes without an end")


def _equals(value: Any, *_: Any) -> Made:
    if value is None:
        raise _Refused("there is no value")
    if isinstance(value, dict | list):
        return Made(({"equals": value, "exact": True},), {"equals": value})
    return _alike({"equals": js_text(value), "exact": True})


def _starts_with(value: Any, *_: Any) -> Made:
    if not isinstance(value, str) or not value:
        raise _Refused("promptfoo stops at a value that is not text")
    return _alike({"starts_with": value, "exact": True})


def _regex(value: Any, *_: Any) -> Made:
    if not isinstance(value, str) or not value:
        raise _Refused("promptfoo stops at a value that is not text")
    made = {"matches": value}
    return _only_check(made) if other_meaning(value) or pattern_problem(value) else _alike(made)


def _is_json(value: Any, *_: Any) -> Made:
    if not value:
        return _alike({"is_json": True, "exact": True})
    return Made(({"json_schema": _schema(value), "exact": True},))


def _contains_json(value: Any, *_: Any) -> Made:
    if value:
        raise _Refused("a schema of JSON in a text has no counterpart")
    return _only_check({"contains_json": True})


def _schema(value: Any) -> dict[str, Any]:
    """Return a schema that reads as Ajv reads it."""
    schema = Document("schema", value, core=True).data if isinstance(value, str) else value
    if not isinstance(schema, dict):
        raise _Refused("a schema is a mapping")
    named = (each.get("format") for _, each in nodes(schema) if isinstance(each, dict))
    formats = {each for each in named if isinstance(each, str)}
    if unknown := formats - _FORMATS - _LATER_FORMATS:
        raise _Refused(f"the format `{min(unknown)}` is not checked here")
    if inexact := next(_inexact(schema), ""):
        raise _Refused(f"`{inexact}` is compared in binary there, and exactly here")
    dialect = _LATER if formats & _LATER_FORMATS else _SCHEMA
    schema = schema if "$schema" in schema else {"$schema": dialect, **schema}
    if reason := schema_problem(schema):
        raise _Refused(reason)
    return schema


def _inexact(schema: Any) -> Iterator[str]:
    """Yield limits of numbers that JavaScript rounds before it compares."""
    for (*_, key), each in islice(nodes(schema), 1, None):
        part = key == "multipleOf" and isinstance(each, float) and not each.is_integer()
        if part or (key in _LIMITS and isinstance(each, int | float) and abs(each) > _EXACT):
            yield f"{key}: {each}"


_LIMITS: Final = frozenset(("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "const"))
_EXACT: Final = 2**53 - 1  # the largest integer of JavaScript that no other rounds to


def _word_count(value: Any, inverted: bool, setting: Setting, _: Mapping[str, Any]) -> Made:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    limits = value if isinstance(value, dict) else {"min": value, "max": value}
    ends = {end: limits[end] for end in ("min", "max") if limits.get(end) is not None}
    if not ends or any(isinstance(n, bool) or not isinstance(n, int) for n in ends.values()):
        raise _Refused("promptfoo stops at a value that is not a number of words")
    check = {"word_count": ends}
    criteria = tuple({f"{end}_words": limit} for end, limit in ends.items())
    alone = len(criteria) == 1
    return Made(criteria, check, only_check=not alone and (inverted or setting.limit is not None))


def _judged(question: str) -> _Maker:
    """Return the maker of a question to a judge, in the words that a threshold or `not-` need."""

    def make(value: Any, inverted: bool, setting: Setting, assertion: Mapping[str, Any]) -> Made:
        if not isinstance(value, str) or not value.strip():
            raise _Refused("a judge is asked about a text")
        least = assertion.get("threshold", 0.7 if question == _G_EVAL else None)
        if least is not None and not is_number(least):
            raise _Refused("a threshold is a number", "threshold")
        text = question.format(value.strip()) if question else value
        if setting.limit is not None:
            return Made((_scored(text, inverted=inverted),))
        if least:
            text = f"At least {round(least * 100)} % of this is met: {text}"
        return Made(({"expected_outcome": f"Does not hold: {text}" if inverted else text},))

    return make


def _faithful(_: Any, inverted: bool, setting: Setting, assertion: Mapping[str, Any]) -> Made:
    """Return the question whether an answer follows from the context; promptfoo fails below 0."""
    context = setting.variables.get("context")
    if inverted or not isinstance(context, str) or not context.strip():
        raise _Refused("promptfoo needs the variable `context`, a text, and no `not-`", "type")
    text = f"Its statements follow from this context: {context.strip()}"
    if "threshold" not in assertion and setting.limit is None:
        return Made(({"expected_outcome": text, "required": False},))
    return _judged("")(text, False, setting, assertion)


_G_EVAL: Final = "{0}"
_FACTS: Final = "States nothing that contradicts this: {0}"


def _scored(text: str, *, inverted: bool) -> dict[str, Any]:
    """Return a criterion with a score, for a test whose mean decides."""
    ends = ("Does not meet it at all", "Meets it in full")
    low, high = reversed(ends) if inverted else ends
    return {"expected_outcome": text, "score_ranges": {0: low, 1: "Meets it in part", 10: high}}


_JUDGED: Final[Mapping[str, _Maker]] = {
    "llm-rubric": _judged(""),
    "model-graded-closedqa": _judged(""),
    "g-eval": _judged(_G_EVAL),
    "factuality": _judged(_FACTS),
    "model-graded-factuality": _judged(_FACTS),
    "context-faithfulness": _faithful,
}
_MAKERS: Final[Mapping[str, _Maker]] = {
    "contains": _contains("contains"),
    "icontains": _contains("contains", fold=True),
    "contains-any": _contains("contains_any"),
    "icontains-any": _contains("contains_any", fold=True),
    "contains-all": _contains("contains_all"),
    "icontains-all": _contains("contains_all", fold=True),
    "equals": _equals,
    "starts-with": _starts_with,
    "regex": _regex,
    "is-json": _is_json,
    "contains-json": _contains_json,
    "word-count": _word_count,
    **_JUDGED,
}

KINDS: Final = frozenset((*_MAKERS, *_WITHOUT))
"""The types of assertions that are known by name."""


def as_key(provider: Any) -> str:
    """Return a provider as JSON, which is the same for the same one."""
    return json.dumps(provider, sort_keys=True, default=str)
