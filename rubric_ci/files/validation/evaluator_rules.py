"""Rules of evaluators that the schema cannot state, and the prompts and scripts that they name.

They need data alone: `validate` loads nothing of a run. How an evaluator is read and assesses is in
its file of `evaluators/`, which loads judges and processes.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from rubric_ci.evaluators.kind import ANSWER_FILE, CODE_FILE, RESULTS_VARIABLE, Evaluator
from rubric_ci.evaluators.table import KINDS, kind_of
from rubric_ci.files.validation.schema import read_schema
from rubric_ci.files.validation.shape_rules import EVALUATOR_TYPE
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.problems import Path, Problem, Rule, with_evaluator

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


def _with_script(keys: str) -> str:
    return with_evaluator(f"- {{name: check, type: code_judge, script: ./check, {keys}}}")


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
    bad=_with_script("required: true"),
    good=_with_script("config: {required: true}"),
)
TARGET_PROXY: Final = Rule(
    id="target-proxy",
    meaning=(
        "AgentV lets a script call a model through a local server, the target proxy. rubric-ci "
        "has none, so the script could not give a mark."
    ),
    hint="use an `llm_judge`, or list in `env` what the script needs to call a model",
    bad=_with_script("target: {max_calls: 10}"),
    good=_with_script("env: [API_KEY]"),
)
NOT_IN_CONTAINER: Final = Rule(
    id="not-in-container",
    meaning="A script in a `container` gets no file and no folder of this machine.",
    hint="remove it, or remove `container`",
    bad=_with_script("cwd: .., container: {image: a}"),
    good=with_evaluator("- {name: check, type: code_judge, script: ./check}"),
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
    kind = evaluator.get("type")
    if kind == "code_judge":
        yield from _code_judge(evaluator, path)
    elif problems := kind_of(evaluator).problems:
        yield from problems(evaluator, path)
    elif (
        isinstance(kind, str)
        and kind not in KINDS
        # The schema has the types of a removed part as well.
        and kind in read_schema("eval")["$defs"]["evaluator"]["properties"]["type"]["enum"]
    ):
        message = f"`{kind}` is a type of a part of rubric-ci that was removed"
        yield Problem(EVALUATOR_TYPE, (*path, "type"), message)


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
