"""Comparison of two JSON values: exact, numeric within a tolerance, or by date."""

import json
import math
import re
from datetime import date
from decimal import Decimal
from typing import assert_never

from rubric_ci.errors import CannotMeasure
from rubric_ci.model.evaluators import FieldSpec
from rubric_ci.model.json_value import JSON, equal
from rubric_ci.system.masking import redact
from rubric_ci.text.dates import read_days

_WITH_UNIT = re.compile(r"\s*(?P<number>[-+]?\d+(?:\.\d+)?)\s*[^\d\s.,:/+-][^\d]*")


def difference(field: FieldSpec, got: JSON, expected: JSON) -> str:
    """Return how the two values differ, or "" if they match."""
    match field.match:
        case "exact":
            differs = f"is {shortened(got)}, not {shortened(expected)}"
            return "" if equal(got, expected) else differs
        case "numeric_tolerance":
            return _number_difference(field, got, expected)
        case "date":
            return _date_difference(field, got, expected)
        case _:
            assert_never(field.match)


def shortened(value: JSON) -> str:
    """Return a value as JSON, short enough for a message."""
    text = redact(json.dumps(value, ensure_ascii=False))  # before it is cut
    return text if len(text) <= 120 else f"{text[:120]}…"


def _number_difference(field: FieldSpec, got: JSON, reference: JSON) -> str:
    """Compare as decimals, not as binary floats: 0.4 is within 0.1 of 0.3."""
    expected, given = _number(reference), _number(got)
    if expected is None:
        raise CannotMeasure(f"`{field.path}` of the reference answer is not a number")
    if given is None:
        return f"is {shortened(got)}, which is not a number"
    scale = abs(expected) if field.relative and expected else Decimal(1)  # of 0: absolute
    allowed = Decimal(str(field.tolerance)) * scale
    if abs(given - expected) <= allowed:
        return ""
    return f"is {given}, more than {allowed.normalize():f} from {expected}"


def _number(value: JSON) -> Decimal | None:
    """Return a number, or that of a text with a unit after it; None without a finite one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    found = _WITH_UNIT.fullmatch(value) if isinstance(value, str) else None
    text = found["number"] if found else str(value)
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return None
    return Decimal(text.strip()) if math.isfinite(number) else None


def _date_difference(field: FieldSpec, got: JSON, reference: JSON) -> str:
    expected, given = _days(reference, field.formats), _days(got, field.formats)
    if not expected:
        raise CannotMeasure(
            f"`{field.path}` of the reference answer is not a date{_formats(field)}"
        )
    if isinstance(got, str) and got.strip() == str(reference).strip():
        return ""
    if not given:
        return f"is {shortened(got)}, which is not a date{_formats(field)}"
    if not given & expected:
        return f"is {_shown(given)}, not {_shown(expected)}"
    if given == expected and len(given) == 1:
        return ""
    raise CannotMeasure(
        f"`{field.path}` is {shortened(got)}, the reference answer has {shortened(reference)}, and "
        f"one of them is {_shown(max(given, expected, key=len))}; set `formats`"
    )


def _days(value: JSON, formats: tuple[str, ...]) -> frozenset[date]:
    return read_days(value, formats) if isinstance(value, str) else frozenset()


def _shown(days: frozenset[date]) -> str:
    return " or ".join(str(day) for day in sorted(days))


def _formats(field: FieldSpec) -> str:
    return f" in the format {' or '.join(field.formats)}" if field.formats else ""
