"""Rules of evaluators that a schema cannot express, for data of any shape."""

from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.model.rules import Rule, with_evaluator
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.validation.other_tools import CODE_JUDGE_OPTIONS
from rubric_ci.validation.rubric_rules import WEIGHT_TOTAL, WRONG_TYPE, criteria_problems
from rubric_ci.yaml_text.problems import Path, Problem

CODE_JUDGE_KEYS = (
    *("name", "type", "weight", "script", "cwd", "timeout_seconds", "env", "config", "score_from"),
)

EVALUATOR_NAME_DUPLICATE: Final = Rule(
    id="evaluator-name-duplicate",
    meaning=(
        "Reports identify evaluators by name, so names are unique in a list. Inline rubrics have "
        "the name `rubric`."
    ),
    hint="give every evaluator of a list its own name",
    bad=with_evaluator(
        "- {name: check, type: latency, threshold: 9}\n- {name: check, type: cost, budget: 1}"
    ),
    good=with_evaluator(
        "- {name: fast, type: latency, threshold: 9}\n- {name: cheap, type: cost, budget: 1}"
    ),
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


def execution_of(owner: dict[str, Any]) -> dict[str, Any]:
    """Return `execution` of a suite or a case; empty if it is missing or no mapping."""
    execution = owner.get("execution")
    return execution if isinstance(execution, dict) else {}


def evaluators_problems(evaluators: Any, path: Path, *, inline: bool) -> Iterator[Problem]:
    """Yield the problems of a list of evaluators; `inline`: rubrics are graded with them."""
    if not isinstance(evaluators, list):
        return
    yield from _same_names(evaluators, path, {"rubric"} if inline else set())
    yield from _no_weight(evaluators, path, inline=inline)
    for index, evaluator in enumerate(evaluators):
        if isinstance(evaluator, dict):
            yield from _evaluator(evaluator, (*path, index))


def _same_names(evaluators: list[Any], path: Path, inline: set[str]) -> Iterator[Problem]:
    taken: dict[str, Path] = dict.fromkeys(inline, ())
    for index, evaluator in enumerate(evaluators):
        name = evaluator.get("name") if isinstance(evaluator, dict) else None
        if not isinstance(name, str):
            continue
        where: Path = (*path, index, "name")
        first = taken.setdefault(name, where)
        if first is not where:
            owner = "an earlier evaluator" if first else "the inline rubrics"
            message = f"the name `{name}` is taken by {owner}"
            yield Problem(EVALUATOR_NAME_DUPLICATE, where, message, first=first)


def _no_weight(evaluators: list[Any], path: Path, *, inline: bool) -> Iterator[Problem]:
    weights = [e.get("weight", 1.0) if isinstance(e, dict) else 1.0 for e in evaluators]
    if weights and not inline and all(weight == 0 for weight in weights):
        yield Problem(WEIGHT_TOTAL, path, "every evaluator has weight 0, so nothing is graded")


def _evaluator(evaluator: dict[str, Any], path: Path) -> Iterator[Problem]:
    match evaluator.get("type"):
        case "rubric" | "llm_judge":
            yield from criteria_problems(evaluator.get("rubrics"), (*path, "rubrics"))
        case "code_judge":
            yield from _misspelt(evaluator, path)
            yield from _foreign_options(evaluator, path)
            yield from _target_of_script(evaluator, path)
        case "composite":
            members = evaluator.get("evaluators")
            yield from evaluators_problems(members, (*path, "evaluators"), inline=False)
            yield from _member_weights(evaluator, path)
        case "tool_trajectory":
            yield from _whole_minimums(evaluator.get("minimums"), (*path, "minimums"))


def _misspelt(evaluator: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Yield keys that are passed to the script and look like a misspelt setting."""
    for key in evaluator:
        if key not in (*CODE_JUDGE_KEYS, *CODE_JUDGE_OPTIONS) and not key.startswith("x-"):
            meant = nearest(key, [k for k in CODE_JUDGE_KEYS if k not in evaluator])
            if meant and meant != "script":  # the missing `script` has its own problem
                message = f"`{key}` is passed to the script as config"
                where, hint = (*path, key), did_you_mean(meant)
                yield Problem(SIMILAR_KEY, where, message, hint, at_key=True, meant=meant)


def _foreign_options(evaluator: dict[str, Any], path: Path) -> Iterator[Problem]:
    for key, hint in CODE_JUDGE_OPTIONS.items():
        if key in evaluator and "script" in evaluator:  # without it, that is the problem
            message = f"`{key}` is no option of a `code_judge`"
            yield Problem(FOREIGN_OPTION, (*path, key), message, hint, at_key=True)


def _target_of_script(evaluator: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Yield `target`, with which AgentV lets a script call a model."""
    if isinstance(evaluator.get("target"), dict):
        message = "`target` does not let a script call a model: there is no target proxy"
        yield Problem(TARGET_PROXY, (*path, "target"), message, at_key=True)


def _member_weights(composite: dict[str, Any], path: Path) -> Iterator[Problem]:
    aggregator = composite.get("aggregator")
    weights = aggregator.get("weights") if isinstance(aggregator, dict) else None
    members = composite.get("evaluators")
    if not isinstance(weights, dict) or not isinstance(members, list):
        return
    members = [member for member in members if isinstance(member, dict)]
    names = dict.fromkeys(str(member.get("name")) for member in members)
    where: Path = (*path, "aggregator", "weights")
    for name in weights:
        if name not in names:
            message = f"no member is called `{name}`"
            hint = did_you_mean(nearest(name, names))
            yield Problem(UNKNOWN_MEMBER, (*where, name), message, hint, at_key=True)
    given = [weights.get(name, 1.0) for name in names]
    if given and all(weight == 0 for weight in given):
        yield Problem(WEIGHT_TOTAL, where, "every member has weight 0, so nothing is graded")


def _whole_minimums(minimums: Any, path: Path) -> Iterator[Problem]:
    if isinstance(minimums, dict):
        for name, count in minimums.items():
            if isinstance(count, float) and count.is_integer():  # others fail the schema
                message = f"`{name}` must be an integer, not {count}"
                yield Problem(WRONG_TYPE, (*path, name), message)
