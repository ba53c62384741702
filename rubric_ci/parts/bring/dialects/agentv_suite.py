"""Settings of an AgentV suite for all its tests: targets, prompt, defaults, environment."""

from typing import Any, Final

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring.dialects.agentv_graders import GRADERS
from rubric_ci.parts.bring.dialects.agentv_workspace import (
    RULES,
    add_environment,
    add_extensions,
    add_workspace,
)
from rubric_ci.parts.bring.translation import Translation
from rubric_ci.values.problems import Path

ABOUT: Final = frozenset(
    (
        *("name", "description", "version", "author", "license", "metadata", "tags", "governance"),
        *("$schema", "category", "note", "notes"),
    )
)
IN_FILES: Final = {"default_test": "file://", "environment": "file://", "workspace": ""}
"""Keys whose value may be the name of a file with a mapping, after a prefix."""

_OF_SUITE: Final = frozenset(
    (
        *("tests", "prompts", "providers", "target", "workspace", "execution", "input"),
        *("evaluate_options", "input_files", "default_test", "defaults", "environment"),
        *("extensions", *GRADERS),
    )
)
_DECIDING: Final = (
    *("requires", "evaluators", "preprocessors", "scenarios", "options"),
    *("env", "transform", "turns", "mode", "rubrics", "targets", "vars", "provider"),
)
DECIDING_EXECUTION: Final = (
    *("evaluators", "assertions", "agent", "agent_timeout", "workspace", "repeat"),
    *("targets", "threshold"),
)
"""Keys that a version of AgentV reads and that have no counterpart."""

_INPUT: Final = ("{{ input }}", "{{input}}")


def add_suite(found: Translation, data: dict[str, Any]) -> None:
    """Add the settings of all tests, but for prompt and variables."""
    for key, ours in (("name", "dataset"), ("description", "description")):
        if isinstance(data.get(key), str):
            found.put((ours,), data[key], (key,))
    found.skip_keys(data, _OF_SUITE | ABOUT, _DECIDING, ())
    _options(found, data.get("evaluate_options"))
    _target(found, data)
    _defaults(found, data.get("defaults"))
    if not {"target", "targets"} & found.data.keys() and (name := _configured(found)):
        found.put(("target",), name, ())
    add_environment(found, data)
    add_workspace(found, data)
    add_extensions(found, data.get("extensions"))


def seen_by_judges(found: Translation, data: dict[str, Any]) -> list[str]:
    """Return the parts of an agent's work that judges of AgentV see besides the answer."""
    extensions = data.get("extensions")
    agent = isinstance(extensions, list) and RULES in extensions
    changes = ["file_changes"] if "workspace" in found.data else []
    return [*(["tool_calls"] if agent else []), *changes]


def _options(found: Translation, options: Any) -> None:
    """Add how often a test is run; a budget decides about no score."""
    if not isinstance(options, dict):
        return
    place: Path = ("evaluate_options",)
    found.refuse_keys(options, ("max_concurrency", "budget_usd", "repeat"), place)
    if "budget_usd" in options:
        found.skip((*place, "budget_usd"), "the limit of the cost of a run is `--max-cost-usd`")
    repeat = options.get("repeat", 1)
    written = repeat if isinstance(repeat, dict) else {"count": repeat}
    count, strategy = written.get("count"), written.get("strategy", "pass_any")
    if not isinstance(count, int) or strategy not in ("pass_any", "pass_all"):
        found.refuse((*place, "repeat"), "`repeat` is a count with `pass_any` or `pass_all`")
    elif count > 1:
        trials = {"count": count, "pass": 1 if strategy == "pass_any" else count}
        found.put(("trials",), trials, (*place, "repeat"))


def _trials(found: Translation, trials: Any) -> None:
    """Add the trials of versions 2 to 4, of which one must pass."""
    if not isinstance(trials, dict):
        return
    place: Path = ("execution", "trials")
    found.refuse_keys(trials, ("count", "strategy", "cost_limit_usd", "costLimitUsd"), place)
    count, strategy = trials.get("count"), trials.get("strategy", "pass_at_k")
    if not isinstance(count, int) or strategy != "pass_at_k":
        found.refuse(place, "`trials` is a `count` with `strategy: pass_at_k`")
    elif count > 1:
        found.put(("trials",), {"count": count, "pass": 1}, place)
    for key in trials.keys() & {"cost_limit_usd", "costLimitUsd"}:
        found.skip((*place, key), "the limit of the cost of a run is `--max-cost-usd`")


def _defaults(found: Translation, defaults: Any) -> None:
    """Add the target that a suite selects; the judge is the one in rubric-ci.yaml."""
    message = "`defaults` in another file has no counterpart"
    defaults = found.mapping(defaults, ("defaults",), message)
    selects = isinstance(defaults.get("provider"), str)
    if selects and not {"target", "targets"} & found.data.keys():
        found.put(("target",), defaults["provider"], ("defaults", "provider"))
    for key in (key for key in defaults if key != "provider" or not selects):
        what = "the judge is set in rubric-ci.yaml" if key == "grader" else "AgentV ignores it"
        found.skip(("defaults", key), f"`{key}` has no effect: {what}")


def _configured(found: Translation) -> str:
    """Return the target that the nearest configuration names; the name `default` needs none."""
    folder = ".agentv/"
    defaults = _mapping(found, f"{folder}config.yaml").get("defaults")
    if isinstance(defaults, str) and defaults.startswith("file://"):
        defaults = _mapping(found, folder + defaults.removeprefix("file://"))
    name = defaults.get("provider") if isinstance(defaults, dict) else None
    return name if isinstance(name, str) and name != "default" else ""


def _mapping(found: Translation, name: str) -> dict[str, Any]:
    data = Document(name, found.beside.read(name) or "").data
    return data if isinstance(data, dict) else {}


def default_variables(found: Translation, default: Any) -> dict[str, Any]:
    """Return the variables of every test; `agentv_graders` adds the graders."""
    message = "`default_test` in another file has no counterpart"
    default = found.mapping(default, ("default_test",), message)
    found.refuse_keys(default, ("vars", "threshold", *GRADERS, *ABOUT), ("default_test",))
    check_threshold(found, default, ("default_test",))
    variables = default.get("vars")
    return variables if isinstance(variables, dict) else {}


def _target(found: Translation, data: dict[str, Any]) -> None:
    execution = data.get("execution") or {}
    if not isinstance(execution, dict):
        found.refuse(("execution",), "`execution` is not a mapping")
        return
    known = ("target", "targets", "threshold", "workers", "budget_usd", "trials")
    found.skip_keys(execution, known, DECIDING_EXECUTION, ("execution",))
    _trials(found, execution.get("trials"))
    check_threshold(found, execution, ("execution",))
    owner, place = (execution, ("execution",)) if execution.get("target") else (data, ())
    if isinstance(owner.get("target"), str):
        found.put(("target",), owner["target"], (*place, "target"))
    for path, named in ((("execution", "targets"), execution), (("providers",), data)):
        names = named.get(path[-1])
        if not names:
            continue
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            found.refuse(path, f"`{path[-1]}` has no counterpart unless it lists names of targets")
        elif len(names) == 1:
            found.put(("target",), names[0], (*path, 0))
        else:
            found.put(("targets",), names, path)


def check_threshold(found: Translation, owner: dict[str, Any], path: Path) -> None:
    if owner.get("threshold", 0.8) != 0.8:
        found.refuse((*path, "threshold"), "`gate.thresholds.pass` in rubric-ci.yaml is the limit")


def suite_prompt(found: Translation, data: dict[str, Any]) -> str:
    """Return the prompt of the suite; empty: the input of each test."""
    prompts = data.get("prompts")
    if not prompts:
        return ""
    only = prompts[0] if isinstance(prompts, list) and len(prompts) == 1 else None
    if not isinstance(only, str) or only.startswith("file://"):
        found.refuse(("prompts",), "`prompts` has no counterpart unless it is one text")
        return ""
    return "" if only.strip() in _INPUT else only
