"""Rules of `field_accuracy`: what the reference answers of a file decide before any run."""

from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.evaluators.kind import Evaluator, evaluators_of, with_members
from rubric_ci.model.json_value import Missing, value_at
from rubric_ci.model.problems import (
    WEIGHT_TOTAL,
    Path,
    Problem,
    Rule,
    mappings,
    with_evaluator,
)
from rubric_ci.model.references import Found, Lookup
from rubric_ci.text.dates import read_days

_MARKS: Final = ("targets.yaml", "providers.yaml", "config.yaml")
_FIELD: Final = (
    "- name: invoice\n  type: field_accuracy\n  fields: [{path: total, match: numeric_tolerance}]"
)

FIELD_REFERENCE: Final = Rule(
    id="field-reference",
    severity="warning",
    switchable=True,
    meaning=(
        "`field_accuracy` compares fields with the reference answer. If that has no such field, "
        "or no value of the right kind, the case gets no verdict."
    ),
    hint="fix the reference answer of the case",
    bad=f"{with_evaluator(_FIELD)}    expected_output: {{totals: 3}}\n",
    good=f"{with_evaluator(_FIELD)}    expected_output: {{total: 3}}\n",
)


def is_agentv_file(data: Any, lookup: Lookup) -> bool:
    """Return True for an eval file of AgentV: by its `$schema`, or by the nearest `.agentv` folder.

    Another `$schema` marks an eval file of rubric-ci.
    """
    schema = data.get("$schema") if isinstance(data, dict) else None
    if isinstance(schema, str):
        return schema.startswith("agentv")
    return any(isinstance(lookup(f".agentv/{name}"), Found) for name in _MARKS)


def problems(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    """Yield fields that all have weight 0."""
    fields = _fields(evaluator)
    if fields and all(field.get("weight", 1.0) == 0 for field in fields):
        message = "every field has weight 0, so nothing is compared"
        yield Problem(WEIGHT_TOTAL, (*path, "fields"), message)


def problems_of_file(data: Any, lookup: Lookup) -> Iterator[Problem]:
    """Yield reference answers that cannot be compared."""
    if not isinstance(data, dict):
        return
    of_agentv, inherited = is_agentv_file(data, lookup), evaluators_of(data)
    for path, case in mappings(data, "evalcases"):
        found = evaluators_of(case) or inherited
        for _, evaluator in with_members(found[1], ()) if found else ():
            if evaluator.get("type") == "field_accuracy":
                yield from _case_problems(case, path, evaluator, of_agentv=of_agentv)


def _fields(evaluator: Evaluator) -> list[dict[str, Any]]:
    fields = evaluator.get("fields")
    found = fields if isinstance(fields, list) else []
    return [field for field in found if isinstance(field, dict)]


def _case_problems(
    case: dict[str, Any], path: Path, evaluator: Evaluator, *, of_agentv: bool
) -> Iterator[Problem]:
    where, reference = _reference(case, path)
    name = evaluator.get("name")
    if isinstance(reference, Missing):
        message = f"the case has no reference answer for the fields of `{name}`"
        hint = "add `expected_output`, or give the case other evaluators"
        yield Problem(FIELD_REFERENCE, where, message, hint)
    elif isinstance(reference, str):
        if not any(sign in reference for sign in "{["):
            message = f"the reference answer is not JSON, which `{name}` compares"
            yield Problem(FIELD_REFERENCE, where, message)
    elif isinstance(reference, dict):
        for field in _fields(evaluator):
            for message, hint in _field_problems(field, reference, of_agentv=of_agentv):
                yield Problem(FIELD_REFERENCE, where, f"`{name}`: {message}", hint)


def _reference(case: dict[str, Any], path: Path) -> tuple[Path, Any]:
    """Return the last expected content, and its path; a list of parts is not looked into."""
    key = "expected_messages" if "expected_messages" in case else "expected_output"
    messages = case.get(key)
    if not isinstance(messages, list):
        return ((*path, key), messages) if key in case else (path, Missing())
    for index, message in reversed(list(enumerate(messages))):
        if isinstance(message, dict) and "content" in message:
            return (*path, key, index, "content"), message["content"]
    return (*path, key), Missing()


def _field_problems(
    field: dict[str, Any], reference: Any, *, of_agentv: bool
) -> Iterator[tuple[str, str]]:
    """Yield why a field cannot be compared, and a hint."""
    path, match = str(field.get("path")), field.get("match")
    value = value_at(reference, path)
    if isinstance(value, Missing):
        if not of_agentv and field.get("required") is not False:
            message = f"the reference answer has no `{path}`"
            yield message, "add it, or set `required: false` if only some cases have the field"
    elif match == "numeric_tolerance" and not _is_number(value):
        yield f"`{path}` of the reference answer is not a number", ""
    elif match == "date":
        yield from _date_problems(path, value, field.get("formats"))


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    try:
        return abs(float(value)) < float("inf")
    except (ValueError, OverflowError):
        return False


def _date_problems(path: str, value: Any, formats: Any) -> Iterator[tuple[str, str]]:
    written = [form for form in formats if isinstance(form, str)] if formats else []
    days = read_days(value, written) if isinstance(value, str) else frozenset()
    match sorted(days):
        case []:
            yield f"`{path}` of the reference answer is not a date", ""
        case [day, other]:
            yield f"`{path}` of the reference answer is {day} or {other}", "set `formats`"
