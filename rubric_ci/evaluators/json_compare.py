"""Whether two JSON values agree: the same, close as numbers, or the same day."""

import json
import math
import re
from datetime import date, datetime
from decimal import Decimal
from typing import assert_never

from rubric_ci.errors import CannotMeasure
from rubric_ci.model.evals import JSON
from rubric_ci.model.evaluators import FieldSpec
from rubric_ci.system.masking import redact

_TOKENS = {
    "YYYY": "%Y",
    "MMMM": "%B",
    "MMM": "%b",
    "MM": "%m",
    "DD": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "Z": "%z",
    "%": "%%",
}
_TOKEN = re.compile("|".join(_TOKENS))


def disagreement(field: FieldSpec, got: JSON, wanted: JSON) -> str:
    """Return how the two differ, or nothing where they agree."""
    match field.match:
        case "exact":
            return "" if same(got, wanted) else f"is {_shown(got)}, not {_shown(wanted)}"
        case "numeric_tolerance":
            return _apart(field, got, wanted)
        case "date":
            return _other_day(field, got, wanted)
        case _:
            assert_never(field.match)


def same(one: JSON, other: JSON) -> bool:
    """Compare as JSON does: `true` is not 1, but 1.0 is."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _apart(field: FieldSpec, got: JSON, wanted: JSON) -> str:
    """Compare in decimals, as people read them: 0.4 is within 0.1 of 0.3."""
    expected, given = _number(wanted), _number(got)
    if expected is None:
        raise CannotMeasure(f"`{field.path}` of the reference answer is no number")
    if given is None:
        return f"is {_shown(got)}, which is no number"
    allowed = Decimal(str(field.tolerance)) * (abs(expected) if field.relative else 1)
    if abs(given - expected) <= allowed:
        return ""
    return f"is {given}, more than {allowed.normalize():f} from {expected}"


def _number(value: JSON) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return Decimal(str(value).strip()) if math.isfinite(number) else None


def _other_day(field: FieldSpec, got: JSON, wanted: JSON) -> str:
    expected, given = _day(wanted, field.formats), _day(got, field.formats)
    if expected is None:
        raise CannotMeasure(f"`{field.path}` of the reference answer is no date {_forms(field)}")
    if given is None:
        return f"is {_shown(got)}, which is no date {_forms(field)}"
    return "" if given == expected else f"is {given}, not {expected}"


def _day(value: JSON, formats: tuple[str, ...]) -> date | None:
    if not isinstance(value, str):
        return None
    for form in formats or ("",):
        try:
            if not form:
                return datetime.fromisoformat(value.strip()).date()
            return datetime.strptime(value.strip(), _pattern(form)).date()
        except ValueError:
            continue
    return None


def _pattern(form: str) -> str:
    return _TOKEN.sub(lambda match: _TOKENS[match[0]], form)


def _forms(field: FieldSpec) -> str:
    return f"of the form {' or '.join(field.formats)}" if field.formats else "in ISO 8601"


def _shown(value: JSON) -> str:
    text = redact(json.dumps(value, ensure_ascii=False))  # before it is cut
    return text if len(text) <= 120 else f"{text[:120]}…"
