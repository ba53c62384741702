"""Rules of eval files that a schema cannot express: each is a generator over plain data.

Rules run on data of any shape. Each checks only values of the right type and reports nothing where
another rule reports the cause.
"""

from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.model.rules import GOOD_CASE, GOOD_FILE, Rule, with_cases, with_evaluator
from rubric_ci.text.suggestions import did_you_mean, nearest, suggest
from rubric_ci.validation.rubric_rules import WEIGHT_TOTAL, WRONG_TYPE, criteria_problems
from rubric_ci.yaml_text.problems import Path, Problem

CODE_JUDGE_KEYS = (
    *("name", "type", "weight", "script", "cwd", "timeout_seconds", "env", "config", "score_from"),
)


CASE_ID_DUPLICATE: Final = Rule(
    id="case-id-duplicate",
    meaning="Reports, baselines and selections identify cases by id, so ids are unique in a file.",
    hint="give every case of a file its own id",
    bad=with_cases(GOOD_CASE * 2),
    good=with_cases(GOOD_CASE + GOOD_CASE.replace("greeting", "farewell")),
)
CASE_EMPTY: Final = Rule(
    id="case-empty",
    switchable=True,
    meaning="The case has nothing to be graded by, and no description of a good answer.",
    hint="add `rubrics`, or an `expected_outcome` to draft them from",
    bad=with_cases("  - id: greeting\n    input: Say hello\n"),
    good=with_cases(
        "  - id: greeting\n    input: Say hello\n    expected_outcome: A friendly greeting\n"
    ),
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
        "Unknown keys of a code judge are passed to its script, and those of a model to the model "
        "call. This key looks like a misspelt setting."
    ),
    bad=with_evaluator("- name: check\n  type: code_judge\n  script: ./check\n  timeout_second: 5"),
    good=with_evaluator(
        "- name: check\n  type: code_judge\n  script: ./check\n  timeout_seconds: 5"
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
UNUSED_SETTING: Final = Rule(
    id="unused-setting",
    severity="warning",
    switchable=True,
    meaning=(
        "The setting has no effect in rubric-ci. Most of these are AgentV settings without a "
        "counterpart; misspelt settings of a command target are reported as well."
    ),
    hint="remove it, or start its name with `x-`",
    bad="targets: [{name: default, model: openai/a, max_retries: 9}]\n",
    good="targets: [{name: default, model: openai/a}]\n",
)
UNKNOWN_TARGET: Final = Rule(
    id="unknown-target",
    switchable=True,
    meaning=(
        "Targets are defined in `rubric-ci.yaml`, `.agentv/targets.yaml` or `targets.yaml` next "
        "to the eval files. Without any of these files, target names are not checked."
    ),
    bad=f"execution: {{target: defualt}}\n{GOOD_FILE}",
    good=f"execution: {{target: default}}\n{GOOD_FILE}",
)
AGENT_TARGET: Final = Rule(
    id="agent-target",
    severity="warning",
    switchable=True,
    meaning=(
        "A targets file may define an AgentV agent, but rubric-ci starts only commands. Cases "
        "with such a target get no verdict."
    ),
    hint="start it with `provider: cli`, or record its answers",
    bad=f"execution: {{target: codex}}\n{GOOD_FILE}",
    good=f"execution: {{target: default}}\n{GOOD_FILE}",
)


UNGRADED_CASES: Final = Rule(
    id="ungraded-cases",
    severity="notice",
    switchable=True,
    meaning=(
        "Cases with an expected outcome and no rubrics or evaluators are skipped by "
        "`rubric-ci run`. `default_evaluator: llm_judge` in `rubric-ci.yaml` lets the judge grade "
        "them by their expected outcome."
    ),
)


def ungraded_cases(data: Any, file: str) -> Iterator[Problem]:
    """Yield one problem if cases of a file have an expected outcome and nothing to grade it."""
    cases = data.get("evalcases") if isinstance(data, dict) else None
    if not isinstance(cases, list) or data.keys() & {"rubrics", "evaluator"}:
        return
    inherited = bool(_execution(data).get("evaluators"))
    found = [index for index, case in enumerate(cases) if _is_ungraded(case, inherited=inherited)]
    if found:
        many = "1 case has" if len(found) == 1 else f"{len(found)} of {len(cases)} cases have"
        message = f"{many} an expected outcome and no evaluator, and will not be graded"
        yield Problem(UNGRADED_CASES, ("evalcases", found[0], "id"), message, _both_ways(file))


def _is_ungraded(case: Any, *, inherited: bool) -> bool:
    if not isinstance(case, dict) or not case.keys() & {"expected_outcome", "outcome"}:
        return False
    own = _execution(case).get("evaluators", case.get("evaluators"))
    return "rubrics" not in case and not (inherited if own is None else own)


def _both_ways(file: str) -> str:
    draft = f"run `rubric-ci generate rubrics {file}`"
    return f"{draft}, or set `default_evaluator: llm_judge` in rubric-ci.yaml"


def eval_problems(data: Any) -> Iterator[Problem]:
    """Yield the problems of a suite and its cases."""
    if not isinstance(data, dict):
        return
    suite = _execution(data)
    yield from criteria_problems(data.get("rubrics"), ("rubrics",))
    cases = data.get("evalcases")
    inline = "rubrics" in data or not _is_bare_case(cases)
    yield from _evaluators(suite.get("evaluators"), ("execution", "evaluators"), inline=inline)
    if isinstance(cases, list):
        yield from _same_ids(cases)
        for index, case in enumerate(cases):
            if isinstance(case, dict):
                yield from _case(case, ("evalcases", index), data, suite)


def _is_bare_case(cases: Any) -> bool:
    """Return True if a case has no rubrics or evaluators of its own."""
    return not isinstance(cases, list) or any(
        isinstance(case, dict)
        and "rubrics" not in case
        and "evaluators" not in case
        and "evaluators" not in _execution(case)
        for case in cases
    )


def target_problems(data: Any, known: frozenset[str], agents: frozenset[str]) -> Iterator[Problem]:
    """Yield references to undefined targets and to agents."""
    if not isinstance(data, dict):
        return
    yield from _target(data, (), known, agents)
    cases = data.get("evalcases")
    for index, case in enumerate(cases if isinstance(cases, list) else ()):
        if isinstance(case, dict):
            yield from _target(case, ("evalcases", index), known, agents)


def _target(
    owner: dict[str, Any], path: Path, known: frozenset[str], agents: frozenset[str]
) -> Iterator[Problem]:
    execution = _execution(owner)
    places = (owner, path), (execution, (*path, "execution"))
    for holder, where in places:
        name = holder.get("target")
        if isinstance(name, str) and name not in known:
            message = f"no target is called `{name}`"
            hint = suggest(name, known)
            yield Problem(UNKNOWN_TARGET, (*where, "target"), message, hint)
        elif name in agents:
            message = f"`{name}` is an agent, which rubric-ci does not start"
            yield Problem(AGENT_TARGET, (*where, "target"), message)


def _same_ids(cases: list[Any]) -> Iterator[Problem]:
    seen = set()
    for index, case in enumerate(cases):
        name = case.get("id") if isinstance(case, dict) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            message = f"the id `{name}` is taken by an earlier case"
            yield Problem(CASE_ID_DUPLICATE, ("evalcases", index, "id"), message)
        seen.add(name)


def _case(case: dict[str, Any], path: Path, data: dict[str, Any], suite: Any) -> Iterator[Problem]:
    rubrics = case.get("rubrics")
    yield from criteria_problems(rubrics, (*path, "rubrics"))
    inline = "rubrics" in case or "rubrics" in data
    execution = _execution(case)
    if "evaluators" in execution:
        where: Path = (*path, "execution", "evaluators")
        yield from _evaluators(execution["evaluators"], where, inline=inline)
    elif "evaluators" in case:
        yield from _evaluators(case["evaluators"], (*path, "evaluators"), inline=inline)
    elif not inline and not suite.get("evaluators") and "evaluator" not in data:
        yield from _nothing_to_grade(case, path)


def _nothing_to_grade(case: dict[str, Any], path: Path) -> Iterator[Problem]:
    wanted = ("expected_outcome", "outcome", "rubrics")
    if case.keys().isdisjoint(wanted) and not any(nearest(key, wanted) for key in case):
        message = "the case has neither rubrics nor evaluators nor an `expected_outcome`"
        yield Problem(CASE_EMPTY, path, message)


def _evaluators(evaluators: Any, path: Path, *, inline: bool) -> Iterator[Problem]:
    if not isinstance(evaluators, list):
        return
    yield from _same_names(evaluators, path, {"rubric"} if inline else set())
    yield from _no_weight(evaluators, path, inline=inline)
    for index, evaluator in enumerate(evaluators):
        if isinstance(evaluator, dict):
            yield from _evaluator(evaluator, (*path, index))


def _same_names(evaluators: list[Any], path: Path, inline: set[str]) -> Iterator[Problem]:
    taken = set(inline)
    for index, evaluator in enumerate(evaluators):
        name = evaluator.get("name") if isinstance(evaluator, dict) else None
        if not isinstance(name, str):
            continue
        if name in taken:
            owner = "the inline rubrics" if name == "rubric" else "an earlier evaluator"
            message = f"the name `{name}` is taken by {owner}"
            yield Problem(EVALUATOR_NAME_DUPLICATE, (*path, index, "name"), message)
        taken.add(name)


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
            yield from _target_of_script(evaluator, path)
        case "composite":
            members = evaluator.get("evaluators")
            yield from _evaluators(members, (*path, "evaluators"), inline=False)
            yield from _member_weights(evaluator, path)
        case "tool_trajectory":
            yield from _whole_minimums(evaluator.get("minimums"), (*path, "minimums"))


def _misspelt(evaluator: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Yield keys that are passed to the script and look like a misspelt setting."""
    for key in evaluator:
        if key not in CODE_JUDGE_KEYS and not key.startswith("x-"):
            meant = nearest(key, [k for k in CODE_JUDGE_KEYS if k not in evaluator])
            if meant and meant != "script":  # the missing `script` has its own problem
                message = f"`{key}` is passed to the script as config"
                where, hint = (*path, key), did_you_mean(meant)
                yield Problem(SIMILAR_KEY, where, message, hint, at_key=True, meant=meant)


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


def _execution(owner: dict[str, Any]) -> dict[str, Any]:
    execution = owner.get("execution")
    return execution if isinstance(execution, dict) else {}
