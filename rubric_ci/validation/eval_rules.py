"""What a schema cannot say about an eval file: each rule is a generator over plain data.

Rules also run where the shape is wrong, so each looks only at what has the shape it needs, and
keeps silent where another rule has the cause.
"""

from collections.abc import Iterator
from typing import Any

from rubric_ci.text.suggestions import did_you_mean, meant_or_known, nearest
from rubric_ci.validation.rubric_rules import criteria_problems
from rubric_ci.yaml_text.problems import Path, Problem

CODE_JUDGE_KEYS = ("name", "type", "weight", "script", "cwd", "timeout_seconds", "env", "config")


def eval_problems(data: Any) -> Iterator[Problem]:
    """Yield what is wrong in a suite and its cases."""
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
    """Tell whether some case is graded by nothing but the suite's evaluators."""
    return not isinstance(cases, list) or any(
        isinstance(case, dict)
        and "rubrics" not in case
        and "evaluators" not in case
        and "evaluators" not in _execution(case)
        for case in cases
    )


def target_problems(data: Any, known: frozenset[str], agents: frozenset[str]) -> Iterator[Problem]:
    """Yield targets that nothing defines, and those that nobody here can ask."""
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
            hint = meant_or_known(name, known)
            yield Problem("unknown-target", (*where, "target"), message, hint)
        elif name in agents:
            message = f"`{name}` is an agent that rubric-ci does not start by itself"
            yield Problem("agent-target", (*where, "target"), message)


def _same_ids(cases: list[Any]) -> Iterator[Problem]:
    seen = set()
    for index, case in enumerate(cases):
        name = case.get("id") if isinstance(case, dict) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            message = f"the id `{name}` is taken by an earlier case"
            yield Problem("case-id-duplicate", ("evalcases", index, "id"), message)
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
        yield Problem("case-empty", path, message)


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
            yield Problem("evaluator-name-duplicate", (*path, index, "name"), message)
        taken.add(name)


def _no_weight(evaluators: list[Any], path: Path, *, inline: bool) -> Iterator[Problem]:
    weights = [e.get("weight", 1.0) if isinstance(e, dict) else 1.0 for e in evaluators]
    if weights and not inline and all(weight == 0 for weight in weights):
        yield Problem("weight-total", path, "every evaluator has weight 0, so nothing is graded")


def _evaluator(evaluator: dict[str, Any], path: Path) -> Iterator[Problem]:
    match evaluator.get("type"):
        case "rubric" | "llm_judge":
            yield from criteria_problems(evaluator.get("rubrics"), (*path, "rubrics"))
        case "code_judge":
            yield from _misspelt(evaluator, path)
            yield from _models_of_scripts(evaluator, path)
        case "composite":
            members = evaluator.get("evaluators")
            yield from _evaluators(members, (*path, "evaluators"), inline=False)
            yield from _member_weights(evaluator, path)
        case "tool_trajectory":
            yield from _whole_minimums(evaluator.get("minimums"), (*path, "minimums"))


def _misspelt(evaluator: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Warn of keys that become the script's config and look like a setting of ours."""
    for key in evaluator:
        if key not in CODE_JUDGE_KEYS and not key.startswith("x-"):
            hint = did_you_mean(key, [k for k in CODE_JUDGE_KEYS if k not in evaluator])
            if hint and "`script`" not in hint:  # that it is missing is told already
                message = f"`{key}` is handed to the script as its config"
                yield Problem("similar-key", (*path, key), message, hint, at_key=True)


def _models_of_scripts(evaluator: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Warn of a key with which AgentV lets a script ask a model."""
    if isinstance(evaluator.get("target"), dict):
        message = "`target` lets no script ask a model; it is handed on as its config"
        hint = "use an `llm_judge`, or name in `env` what the script needs to ask by itself"
        yield Problem("unused-setting", (*path, "target"), message, hint, at_key=True)


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
            hint = did_you_mean(name, names)
            yield Problem("unknown-member", (*where, name), message, hint, at_key=True)
    given = [weights.get(name, 1.0) for name in names]
    if given and all(weight == 0 for weight in given):
        yield Problem("weight-total", where, "every member has weight 0, so nothing is graded")


def _whole_minimums(minimums: Any, path: Path) -> Iterator[Problem]:
    if isinstance(minimums, dict):
        for name, count in minimums.items():
            if isinstance(count, float):
                message = f"`{name}` must be an integer, not {count}"
                yield Problem("wrong-type", (*path, name), message)


def _execution(owner: dict[str, Any]) -> dict[str, Any]:
    execution = owner.get("execution")
    return execution if isinstance(execution, dict) else {}
