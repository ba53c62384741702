"""Rules of evaluators that the schema cannot state, and the prompts and scripts that they name.

They need data alone: `validate` loads nothing of a run. How an evaluator is read and assesses is in
its file of `evaluators/`, which loads judges and processes.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from rubric_ci.evaluators.kind import (
    ANSWER_FILE,
    CODE_FILE,
    RESULTS_VARIABLE,
    Evaluator,
    evaluators_of,
    is_agentv_file,
    with_members,
)
from rubric_ci.files.validation.schema import read_schema
from rubric_ci.text.dates import read_days
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.json_value import Missing, value_at
from rubric_ci.values.problems import WEIGHT_TOTAL, Path, Problem, Rule, mappings, with_evaluator
from rubric_ci.values.references import Lookup

FOREIGN_OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("required", "min_score"),
        "a script cannot be a gate: its score counts by `weight`, and the key `gate` decides",
    ),
    "negate": "let the script give 1 - score",
    "command": "the command is `script`",
    "value": "list it under `config`, which the script reads",
}
"""Options of graders of other tools, which a script here would get as configuration."""

_LIMITS: Final = "it decides nothing here: `gate.thresholds` has the limits of all scores"

SIMILAR_KEY: Final = Rule(
    id="similar-key",
    severity="warning",
    switchable=True,
    meaning=(
        "Unknown keys of a code judge are passed to its script, unknown keys of a model to its "
        "call. This key looks like a misspelt setting."
    ),
    bad=with_evaluator("- name: check\n  type: code_judge\n  script: ./check\n  timeout_second: 5"),
    good=with_evaluator(
        "- name: check\n  type: code_judge\n  script: ./check\n  timeout_seconds: 5"
    ),
)
FOREIGN_OPTION: Final = Rule(
    id="foreign-option",
    meaning=(
        "Graders of other tools have this option. A `code_judge` has not, and would only pass it "
        "to the script as configuration: a gate or a limit would be lost. Below `config` every "
        "key is yours."
    ),
    bad=with_evaluator("- {name: check, type: code_judge, script: ./check, required: true}"),
    good=with_evaluator(
        "- {name: check, type: code_judge, script: ./check, config: {required: true}}"
    ),
)
TARGET_PROXY: Final = Rule(
    id="target-proxy",
    meaning=(
        "AgentV lets a script call a model through a local server, the target proxy. rubric-ci "
        "has none, so the script could not give a mark."
    ),
    hint="use an `llm_judge`, or list in `env` what the script needs to call a model",
    bad=with_evaluator(
        "- {name: check, type: code_judge, script: ./check, target: {max_calls: 10}}"
    ),
    good=with_evaluator("- {name: check, type: code_judge, script: ./check, env: [API_KEY]}"),
)
NOT_IN_CONTAINER: Final = Rule(
    id="not-in-container",
    meaning="A script in a `container` gets no file and no folder of this machine.",
    hint="remove it, or remove `container`",
    bad=with_evaluator(
        "- {name: check, type: code_judge, script: ./check, cwd: .., container: {image: a}}"
    ),
    good=with_evaluator("- {name: check, type: code_judge, script: ./check}"),
)
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

PROMPT_VARIABLES: Final = (
    "question",
    "expected_outcome",
    "reference_answer",
    "candidate_answer",
    "answer",
    "input_messages",
    "expected_messages",
    "output_messages",
    *("input", "criteria", "expected_output", "output"),  # of AgentV
)
ANSWER_VARIABLES: Final = ("answer", "candidate_answer", "output_messages", "output")


class Prompt(NamedTuple):
    """A prompt of a judge."""

    path: Path
    text: str
    known: tuple[str, ...]  # the variables that it may use
    needed: tuple[str, ...]  # variables of which it needs one
    scores: str = "the answer"  # what these variables show


class Script(NamedTuple):
    """An evaluator that starts a command: its data, their path, and the key of the command."""

    data: dict[str, Any]
    path: Path
    key: str


def evaluator_problems(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    match evaluator.get("type"):
        case "code_judge":
            yield from _code_judge(evaluator, path)
        case "composite":
            yield from _weights(evaluator, path)
        case "field_accuracy":
            yield from _no_field_counts(evaluator, path)


def prompts_of(evaluator: Evaluator, path: Path) -> Iterator[Prompt]:
    """Yield the prompt of an `llm_judge`, or of the judge that aggregates a composite."""
    match evaluator:
        case {"type": "llm_judge", "prompt": str(prompt)}:
            # The prompt of criteria already has the answer.
            needed = () if "rubrics" in evaluator else ANSWER_VARIABLES
            yield Prompt((*path, "prompt"), prompt, PROMPT_VARIABLES, needed)
        case {"type": "composite", "aggregator": {"prompt": str(prompt)}}:
            known = (*PROMPT_VARIABLES, RESULTS_VARIABLE)
            where, shown = (*path, "aggregator", "prompt"), "the results of the members"
            yield Prompt(where, prompt, known, (RESULTS_VARIABLE,), shown)


def scripts_of(evaluator: Evaluator, path: Path) -> Iterator[Script]:
    """Yield the script of an evaluator, of its prompt, or of its aggregator."""
    match evaluator:
        case {"type": "code_judge", "container": _}:
            return  # what it starts is in the image
        case {"type": "code_judge"}:
            yield Script(evaluator, path, "script")
        case {"type": "llm_judge", "prompt": dict(prompt)}:
            yield Script(prompt, (*path, "prompt"), "script")
        case {"type": "composite", "aggregator": {"type": "code_judge"} as aggregator}:
            yield Script(aggregator, (*path, "aggregator"), "path")


def _code_judge(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    """Yield keys that would reach the script as configuration and mean something else."""
    yield from _misspelt(evaluator, path)
    yield from _foreign_options(evaluator, path)
    if "container" in evaluator:
        yield from _outside(evaluator, path)
    if isinstance(evaluator.get("target"), dict):
        message = "`target` does not let a script call a model: there is no target proxy"
        yield Problem(TARGET_PROXY, (*path, "target"), message, at_key=True)


def _outside(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    """Yield the files of this machine that a script in a container would need."""
    script = str(evaluator.get("script"))
    for name in (ANSWER_FILE, CODE_FILE):
        if name in script:
            message = f"there is no `{name}` in a container: its script reads standard input"
            yield Problem(NOT_IN_CONTAINER, (*path, "script"), message)
    if "cwd" in evaluator:
        message = "a script in a container starts in the folder that the image names"
        yield Problem(NOT_IN_CONTAINER, (*path, "cwd"), message, at_key=True)


def _misspelt(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    known = read_schema("eval")["$defs"]["codeJudge"]["properties"]
    for key in evaluator:
        if key not in (*known, *FOREIGN_OPTIONS) and not key.startswith("x-"):
            meant = nearest(key, [each for each in known if each not in evaluator])
            where, message = (*path, key), f"`{key}` is passed to the script as config"
            if key == "threshold":
                yield Problem(SIMILAR_KEY, where, message, _LIMITS, at_key=True)
            elif meant and meant != "script":  # the missing `script` has its own problem
                hint = did_you_mean(meant)
                yield Problem(SIMILAR_KEY, where, message, hint, at_key=True, meant=meant)


def _foreign_options(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    for key, hint in FOREIGN_OPTIONS.items():
        if key in evaluator and "script" in evaluator:  # without it, that is the problem
            message = f"`{key}` is not an option of a `code_judge`"
            yield Problem(FOREIGN_OPTION, (*path, key), message, hint, at_key=True)


def has_weights_by_name(evaluator: Evaluator) -> bool:
    aggregator = evaluator.get("aggregator")
    return (
        isinstance(aggregator, dict)
        and aggregator.get("type", "weighted_average") == "weighted_average"
        and isinstance(aggregator.get("weights"), dict)
    )


def _weights(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
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


def _no_field_counts(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
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
