"""Assertions about JSON: whether a text is JSON, has JSON in it, or is valid by a schema."""

import json
import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rubric_ci.evaluators.assertions.row import Check, Outcome, Row, line_of
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON

if TYPE_CHECKING:
    from jsonschema_rs import Validator

_FENCED: Final = re.compile(r"```[\w+.-]*[ \t]*\r?\n(.*)\n[ \t]*```", re.DOTALL)
_OPENING: Final = re.compile(r"[\[{]")
_MOST_STARTS: Final = 2_000  # each that fails costs time in proportion to the length of the text


@dataclass(frozen=True, slots=True)
class NotJson:
    """Why a text is not JSON."""

    reason: str


def unfenced(check: Check) -> Check:
    """Return a check of JSON that does not hold for a code fence."""

    def exact(text: str, value: JSON, fold: bool) -> Outcome:
        if _FENCED.fullmatch(text.strip()):
            return Outcome(holds=False, found="it is in a code fence")
        return check(text, value, fold)

    return exact


def parsed(text: str) -> JSON | NotJson:
    """Return the value of a text that is JSON as a whole, or in one code fence."""
    stripped = text.strip()
    fenced = _FENCED.fullmatch(stripped)
    try:
        found: JSON = _DECODER.decode((fenced[1] if fenced else stripped).strip())
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        return NotJson(
            f"it is not JSON ({error.msg.lower()}: {place})" if stripped else "it is empty"
        )
    except ValueError as error:  # `NaN`, or a number of thousands of digits
        return NotJson(f"it is not JSON ({error})")
    except RecursionError:
        return NotJson("it is not JSON that can be read: it is nested too deep")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"`{name}` is not a number in JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant)


def _is_json(text: str, _: Any, __: bool) -> Outcome:
    found = parsed(text)
    if isinstance(found, NotJson):
        return Outcome(holds=False, found=found.reason)
    return Outcome(holds=True, found="it is JSON", evidence=text.strip())


def _contains_json(text: str, _: Any, __: bool) -> Outcome:
    starts = list(islice(_OPENING.finditer(text), _MOST_STARTS + 1))
    for start in starts[:_MOST_STARTS]:
        try:
            _, end = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        found = f"it starts in {line_of(text, start.start())}"
        return Outcome(holds=True, found=found, evidence=text[start.start() : end])
    if len(starts) > _MOST_STARTS:
        return Outcome(holds=False, found=f"none starts at the first {_MOST_STARTS:,} brackets")
    return Outcome(holds=False, found="there is none")


def _is_valid(text: str, schema: JSON, _: bool) -> Outcome:
    found = parsed(text)
    if isinstance(found, NotJson):
        return Outcome(holds=False, found=found.reason)
    if reason := validity(found, schema):
        return Outcome(holds=False, found=reason)
    return Outcome(holds=True, found="it is valid", evidence=text.strip())


def validity(value: JSON, schema: JSON) -> str:
    """Return why a value is not valid by a JSON Schema, or ""."""
    error = next(_validator(json.dumps(schema)).iter_errors(value), None)
    if error is None:
        return ""
    place = ".".join(map(str, error.instance_path))
    return f"{f'`{place}`: ' if place else ''}{error.message}"


def schema_problem(schema: JSON) -> str:
    """Return why a JSON Schema cannot be used, or ""; schemas elsewhere are not loaded."""
    from jsonschema_rs import ValidationError, ValidationErrorKind

    try:
        _validator(json.dumps(schema))
    except ValidationError as error:
        if isinstance(error.kind, ValidationErrorKind.Referencing):
            return "a `$ref` leads to nothing in it, and nothing is loaded from elsewhere"
        return str(error.message)
    return ""


def _inline_problem(schema: JSON) -> str:
    return schema_problem(schema) if isinstance(schema, dict) else ""


@cache
def _validator(schema: str) -> "Validator":
    from jsonschema_rs import RegexOptions, validator_for  # few rubrics have a schema

    return validator_for(
        json.loads(schema),
        retriever=_not_loaded,
        pattern_options=RegexOptions(),
        validate_formats=True,
    )


def _not_loaded(uri: str) -> JSON:
    raise LookupError(uri)


_TRUE: Final = {"type": "boolean", "enum": [True], "examples": [True]}

ROWS: Final = (
    Row(
        key="is_json",
        check=_is_json,
        exact=unfenced(_is_json),
        says="is JSON",
        denies="is not JSON",
        title="Is JSON",
        meaning="The text is JSON as a whole; one code fence around it is allowed.",
        value=_TRUE,
    ),
    Row(
        key="contains_json",
        check=_contains_json,
        says="contains a JSON object or list",
        denies="contains no JSON object or list",
        title="Contains JSON",
        meaning="The text has a JSON object or list in it.",
        value=_TRUE,
    ),
    Row(
        key="json_schema",
        check=_is_valid,
        exact=unfenced(_is_valid),
        says="is valid by the JSON Schema",
        denies="is not valid by the JSON Schema",
        title="JSON Schema",
        meaning="The text is JSON, as for `is_json`, and valid by this schema or file.",
        value={
            "type": ["object", "string"],
            "examples": [{"required": ["total"]}, "schemas/invoice.json"],
        },
        problem=_inline_problem,
    ),
)
