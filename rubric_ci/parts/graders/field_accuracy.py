"""The `field_accuracy` evaluator: fields of a JSON answer against the reference answer.

JSON values are found in an answer, and compared exactly, within a tolerance, or by date.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Annotated, Any, Final, Literal, TypeAlias, assert_never

from rubric_ci.errors import CannotMeasure
from rubric_ci.evaluators.kind import Written, is_agentv_file
from rubric_ci.text import answer_text
from rubric_ci.text.dates import read_days
from rubric_ci.text.redact import Redactor
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, MeasuringSpec
from rubric_ci.values.json_value import JSON, Missing, equal, value_at
from rubric_ci.values.messages import DataPart
from rubric_ci.values.results import Answer, Assessment, CriterionResult
from rubric_ci.values.scoring import CHECKLIST, weighted_mean
from rubric_ci.values.written_keys import Key, read_keys

_DECODER: Final = json.JSONDecoder()
_STARTS = re.compile(r"\{\s*\"|\[")  # `{}` in prose is code
_MAX_STARTS = 2_000  # each that fails costs time in proportion to the length of the text
_WITH_UNIT = re.compile(r"\s*(?P<number>[-+]?\d+(?:\.\d+)?)\s*[^\d\s.,:/+-][^\d]*")
Show: TypeAlias = Callable[[JSON], str]
"""A value as a message shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """One field of a JSON answer, and how it is compared with the reference answer."""

    path: Annotated[str, Key("supplier.name")]  # indices as `[0]` or `.0`
    """Path of the field, with dots between its keys."""
    match: Annotated[Literal["exact", "numeric_tolerance", "date"], Key("exact")]
    """How the two values are compared."""
    weight: Annotated[float, Key.of("weight")] = 1.0
    required: bool = False  # a gate
    optional: bool = False  # not counted if the answer lacks it
    may_lack_reference: bool = False  # not compared if the reference answer lacks it
    tolerance: Annotated[float, Key(0.5, minimum=0)] = 0.0
    """Maximum difference of two numbers."""
    relative: Annotated[bool, Key(True)] = False
    """Whether `tolerance` is a fraction of the expected value."""
    formats: Annotated[tuple[str, ...], Key(["YYYY-MM-DD"])] = ()
    """Date formats to read first. ISO 8601 and unambiguous spellings, such as `15-JAN-2025`, need
    none; `03/04/2025` does."""
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAccuracySpec(MeasuringSpec):
    """Fields of a JSON answer are compared with the reference answer."""

    type: str = "field_accuracy"
    fields: Annotated[
        tuple[FieldSpec, ...],
        Key([{"path": "total", "match": "numeric_tolerance", "tolerance": 0.5}], minItems=1),
    ]
    """Fields to compare."""
    aggregation: Annotated[Literal["weighted_average", "all_or_nothing"], Key("all_or_nothing")] = (
        "weighted_average"
    )
    """Weighted mean of the fields, or 1 only if all of them match."""


def read_field_accuracy(written: Written) -> FieldAccuracySpec:
    of_agentv = is_agentv_file(written.source.data, written.files.lookup)
    fields = enumerate(written.data["fields"])
    specs = tuple(_field(each, written.span("fields", n), of_agentv) for n, each in fields)
    return read_keys(FieldAccuracySpec, written.data, span=written.span("name"), fields=specs)


def _field(field: dict[str, Any], span: Span, of_agentv: bool) -> FieldSpec:
    required = field.get("required")
    return read_keys(
        FieldSpec,
        field,
        required=required is True and not of_agentv,
        optional=required is False,
        may_lack_reference=required is False or of_agentv,
        span=span,
    )


def field_accuracy(
    case: EvalCase, answer: Answer, spec: FieldAccuracySpec, redact: Redactor
) -> Assessment:
    """Compare field by field; raises CannotMeasure without a reference value."""
    show = partial(shortened, redact=redact)
    expected = _reference(case)
    _check(spec, expected)
    found = json_values(answer.text, "[" if isinstance(expected, list) else "{")
    fields = spec.fields if len(found) == 1 else ()
    results = [_compare(field, found[0], expected, show) for field in fields]
    none_counts = not any(result.weight for result in results)
    if none_counts:
        results = [_missing(field, value_at(expected, field.path), show) for field in spec.fields]
    return Assessment(
        score=_score(spec, results),
        gated_by=tuple(result.id for result in results if result.gated),
        reasoning=_reasoning(len(found)) if none_counts else "",
        criteria=tuple(results),
    )


def _reasoning(found: int) -> str:
    match found:
        case 0:
            return "the answer is not JSON"
        case 1:
            return "the answer has none of the fields that count"
        case _:
            return f"the answer has {found} different JSON values, so none is compared"


def _reference(case: EvalCase) -> JSON:
    for message in reversed(case.expected_messages):
        match message.parts:
            case (DataPart(data),):
                return data
            case ():
                continue
            case _:
                found = json_values(message.text)
                if len(found) != 1:
                    problem = "has several JSON values" if found else "is not JSON"
                    raise CannotMeasure(f"the reference answer of the case {problem}")
                return found[0]
    raise CannotMeasure("the case has no reference answer (`expected_messages`) to compare with")


def _check(spec: FieldAccuracySpec, expected: JSON) -> None:
    if not any(field.weight for field in spec.fields):
        raise CannotMeasure("every field has weight 0; set a weight above 0 for at least one")
    lacking = [f for f in spec.fields if isinstance(value_at(expected, f.path), Missing)]
    for field in lacking:
        if not field.may_lack_reference:
            raise CannotMeasure(f"the reference answer has no `{field.path}` to compare with")
    if len(lacking) == len(spec.fields):
        raise CannotMeasure("the reference answer has none of the fields to compare with")


def _compare(field: FieldSpec, given: JSON, expected: JSON, show: Show) -> CriterionResult:
    expected_value, got = value_at(expected, field.path), value_at(given, field.path)
    if isinstance(expected_value, Missing):
        text = f"`{field.path}` is not in the reference answer"
        return _result(field, text, "", note="not compared")
    if not isinstance(got, Missing):
        reason = difference(field, got, expected_value, show)
        return _result(field, f"`{field.path}` is {show(expected_value)}", reason)
    if field.optional:
        text = f"`{field.path}` is {show(expected_value)}, or missing"
        return replace(_result(field, text, "", note="missing, so it is not counted"), weight=0.0)
    return _missing(field, expected_value, show)


def _missing(field: FieldSpec, expected: JSON | Missing, show: Show) -> CriterionResult:
    value = "in the answer" if isinstance(expected, Missing) else show(expected)
    return _result(field, f"`{field.path}` is {value}", f"missing; expected {value}")


def _result(field: FieldSpec, text: str, reason: str, note: str = "") -> CriterionResult:
    """Return a field that differs for a reason, or one that does not."""
    return CriterionResult(
        id=field.path,
        kind=CHECKLIST,
        line=field.span.line,
        text=text,
        weight=field.weight,
        mark=not reason,
        normalised=0.0 if reason else 1.0,
        gated=field.required and bool(reason),
        gate="required" if field.required else "",
        reasoning=reason or note,
    )


def _score(spec: FieldAccuracySpec, results: Sequence[CriterionResult]) -> float:
    if spec.aggregation == "all_or_nothing":
        return 1.0 if all(result.mark for result in results) else 0.0
    return weighted_mean((result.weight, result.normalised) for result in results)


def json_values(text: str, opening: str = "{[") -> list[JSON]:
    """Return the different JSON values of a text: usually one, none if it has no JSON.

    Fenced blocks are searched before prose. In both, only values that begin with a character of
    `opening` are found.
    """
    whole = list(_whole(text))
    if whole:
        return whole
    blocks = [block for _, block in answer_text.fenced_blocks(text)]
    fenced = [v for block in blocks if block.lstrip()[:1] in set(opening) for v in _whole(block)]
    return _different(fenced or list(_in_prose(text, opening)))


def _whole(text: str) -> Iterator[JSON]:
    try:
        yield json.loads(text)
    except (ValueError, RecursionError):
        return


def _in_prose(text: str, opening: str) -> Iterator[JSON]:
    """Yield the outermost objects or lists."""
    end = 0
    for start in islice(_STARTS.finditer(text), _MAX_STARTS):
        if start[0][0] not in opening or start.start() < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start.start())
            yield value
        except (ValueError, RecursionError):
            continue


def _different(values: list[JSON]) -> list[JSON]:
    found: list[JSON] = []
    for value in values:
        if not any(equal(value, other) for other in found):
            found.append(value)
    return found


def difference(field: FieldSpec, got: JSON, expected: JSON, show: Show) -> str:
    """Return how the two values differ, or "" if they match."""
    match field.match:
        case "exact":
            differs = f"is {show(got)}, not {show(expected)}"
            return "" if equal(got, expected) else differs
        case "numeric_tolerance":
            return _number_difference(field, got, expected, show)
        case "date":
            return _date_difference(field, got, expected, show)
        case _:
            assert_never(field.match)


def shortened(value: JSON, redact: Redactor) -> str:
    """Return a value as JSON, short enough for a message."""
    text = redact(json.dumps(value, ensure_ascii=False))  # before it is cut
    return text if len(text) <= 120 else f"{text[:120]}…"


def _number_difference(field: FieldSpec, got: JSON, reference: JSON, show: Show) -> str:
    """Compare as decimals, not as binary floats: 0.4 is within 0.1 of 0.3."""
    expected, given = _number(reference), _number(got)
    if expected is None:
        raise CannotMeasure(f"`{field.path}` of the reference answer is not a number")
    if given is None:
        return f"is {show(got)}, which is not a number"
    scale = abs(expected) if field.relative and expected else Decimal(1)  # of 0: absolute
    allowed = Decimal(str(field.tolerance)) * scale
    if abs(given - expected) <= allowed:
        return ""
    return f"is {given}, more than {allowed.normalize():f} from {expected}"


def _number(value: JSON) -> Decimal | None:
    """Return the number, read from a text with or without a unit; None if it is not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    found = _WITH_UNIT.fullmatch(value) if isinstance(value, str) else None
    text = found["number"] if found else str(value)
    try:
        number = float(text.replace("_", "-"))  # `1_000` is no number
    except (ValueError, OverflowError):
        return None
    return Decimal(text.strip()) if math.isfinite(number) else None


def _date_difference(field: FieldSpec, got: JSON, reference: JSON, show: Show) -> str:
    expected, given = _days(reference, field.formats), _days(got, field.formats)
    if not expected:
        raise CannotMeasure(
            f"`{field.path}` of the reference answer is not a date{_formats(field)}"
        )
    if isinstance(got, str) and got.strip() == str(reference).strip():
        return ""
    if not given:
        return f"is {show(got)}, which is not a date{_formats(field)}"
    if not given & expected:
        return f"is {_listed_days(given)}, not {_listed_days(expected)}"
    if given == expected and len(given) == 1:
        return ""
    raise CannotMeasure(
        f"`{field.path}` is {show(got)}, the reference answer has {show(reference)}, and "
        f"one of them is {_listed_days(max(given, expected, key=len))}; set `formats`"
    )


def _days(value: JSON, formats: tuple[str, ...]) -> frozenset[date]:
    return read_days(value, formats) if isinstance(value, str) else frozenset()


def _listed_days(days: frozenset[date]) -> str:
    return " or ".join(str(day) for day in sorted(days))


def _formats(field: FieldSpec) -> str:
    return f" in the format {' or '.join(field.formats)}" if field.formats else ""
