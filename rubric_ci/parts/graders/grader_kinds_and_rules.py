"""The types of this part as rows of the table, and their rules that the schema cannot state."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from rubric_ci.evaluators.kind import Evaluator, Kind, evaluators_of, is_agentv_file, with_members
from rubric_ci.evaluators.table import late, spec_reader
from rubric_ci.files.validation.evaluator_rules import has_weights_by_name
from rubric_ci.text.dates import read_days
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.json_value import Missing, value_at
from rubric_ci.values.problems import WEIGHT_TOTAL, Path, Problem, Rule, mappings, with_evaluator
from rubric_ci.values.references import Lookup

UNKNOWN_MEMBER: Final = Rule(
    id="unknown-member",
    switchable=True,
    meaning="The weights of a composite refer to its members by name.",
    bad=with_evaluator(
        "- name: both\n  type: composite\n  evaluators:\n"
        "    - {name: fast, type: latency, threshold: 9}\n"
        "  aggregator: {type: weighted_average, weights: {fats: 1}}"
    ),
    good=with_evaluator(
        "- name: both\n  type: composite\n  evaluators:\n"
        "    - {name: fast, type: latency, threshold: 9}\n"
        "  aggregator: {type: weighted_average, weights: {fast: 1}}"
    ),
)
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


def weights_problems(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    """Yield weights of no member, and weights that are all 0."""
    members = evaluator.get("evaluators")
    if not has_weights_by_name(evaluator) or not isinstance(members, list):
        return
    weights = evaluator["aggregator"]["weights"]
    members = [member for member in members if isinstance(member, dict)]
    own = {str(member.get("name")): member.get("weight", 1.0) for member in members}
    where: Path = (*path, "aggregator", "weights")
    for name in weights:
        if name not in own:
            message = f"no member is called `{name}`"
            hint = did_you_mean(nearest(name, own))
            yield Problem(UNKNOWN_MEMBER, (*where, name), message, hint, at_key=True)
    given = [weights.get(name, weight) for name, weight in own.items()]
    if given and all(weight == 0 for weight in given):
        yield Problem(WEIGHT_TOTAL, where, "every member has weight 0, so nothing is graded")


def no_field_counts(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    fields = _fields(evaluator)
    if fields and all(field.get("weight", 1.0) == 0 for field in fields):
        message = "every field has weight 0, so nothing is compared"
        yield Problem(WEIGHT_TOTAL, (*path, "fields"), message)


def reference_answer_problems(data: Any, lookup: Lookup) -> Iterator[Problem]:
    """Yield reference answers whose fields `field_accuracy` cannot compare."""
    if not isinstance(data, dict):
        return
    of_agentv, inherited = is_agentv_file(data, lookup), evaluators_of(data)
    for path, case in mappings(data, "evalcases"):
        found = evaluators_of(case) or inherited
        for _, evaluator in with_members(found[1], ()) if found else ():
            if evaluator.get("type") == "field_accuracy":
                yield from _case_problems(case, path, evaluator, of_agentv=of_agentv)


def _fields(evaluator: Evaluator) -> list[dict[str, Any]]:
    return [field for _, field in mappings(evaluator, "fields")]


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


_late: Final = partial(late, __package__)
_spec_reader: Final = partial(spec_reader, __package__)

COMPOSITE: Final = Kind(
    _late("composite.read_composite"),
    assess=_late("composite.composite"),
    problems=weights_problems,
    members=True,
)
FIELD_ACCURACY: Final = Kind(
    _late("field_accuracy.read_field_accuracy"),
    measure=_late("field_accuracy.field_accuracy"),
    problems=no_field_counts,
    means=True,
)
TOOL_TRAJECTORY: Final = Kind(
    _spec_reader("tool_trajectory.ToolTrajectorySpec"),
    measure=_late("tool_trajectory.tool_trajectory"),
    whole=("minimums",),
)
LATENCY: Final = Kind(
    _spec_reader("usage_limits.LatencySpec"), measure=_late("usage_limits.latency")
)
COST: Final = Kind(_spec_reader("usage_limits.CostSpec"), measure=_late("usage_limits.cost"))
TOKEN_USAGE: Final = Kind(
    _spec_reader("usage_limits.TokenUsageSpec"), measure=_late("usage_limits.token_usage")
)
