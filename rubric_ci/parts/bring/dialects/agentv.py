"""AgentV's eval files of 2.7 to 5: `tests` with graders in `assertions` or `assert`.

Suites and tests become a suite and its cases; `agentv_tests.py` has the tests, and
`agentv_graders.py` the graders. A suite has settings for all its tests: targets, prompt, defaults,
environment.
"""

import re
from typing import Any, Final

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring.dialects.agentv_graders import GRADERS
from rubric_ci.parts.bring.dialects.agentv_tests import (
    ABOUT,
    CASES,
    DECIDING_EXECUTION,
    add_test,
    check_environment,
    check_threshold,
    with_variables,
)
from rubric_ci.parts.bring.dialects.agentv_workspace import (
    RULES,
    add_environment,
    add_extensions,
    add_workspace,
)
from rubric_ci.parts.bring.translation import ALONE, Beside, Translation, renamed
from rubric_ci.values.problems import Path

NAME: Final = "AgentV"

_OF_TEST: Final = frozenset(("input", "criteria", "vars", "expected_output", *GRADERS))
_ITS_TEST: Final = frozenset(("criteria", "expected_output", "input_files", *GRADERS))
"""Keys of a test that lists of cases of no tool do not have."""
_ITS_OWN: Final = frozenset(
    ("name", "execution", "evaluate_options", "default_test", "environment", "workspace")
)
"""Keys of a suite that no configuration of promptfoo has."""

_OF_PROMPTFOO: Final = frozenset(("prompts", "targets", "defaultTest"))
"""Keys of a suite next to which promptfoo ignores graders."""

_ALONE: Final = frozenset(
    (
        *("a2a", "browser", "echo", "http", "https", "llama", "mcp", "n8n", "openclaw", "opencode"),
        *("openinterpreter", "sequence", "slack", "websocket", "ws", "wss"),
    )
)
"""Providers of promptfoo that are one word; all others have a colon or the ending of a file."""


def matches(data: Any) -> bool:
    """Return True if each test has an id, which promptfoo's have not, and a key is AgentV's own."""
    tests = data.get("tests") if isinstance(data, dict) else None
    listed = [tests] if isinstance(tests, str) else tests
    if not isinstance(listed, list) or not listed or "evalcases" in data:
        return False
    files = [each for each in listed if isinstance(each, str)]
    own = [each for each in listed if not isinstance(each, str)]
    if files and not own:
        graded = bool({*GRADERS} & data.keys()) and not _OF_PROMPTFOO & data.keys()
        return (graded and _names_targets(data)) or bool(_ITS_OWN & data.keys())
    if not all(isinstance(test, dict) and "id" in test for test in own):
        return False
    keys = frozenset().union(*own)
    return bool(keys & _ITS_TEST or (keys & _OF_TEST and data.keys() & {*_ITS_OWN, *GRADERS}))


def _names_targets(data: dict[str, Any]) -> bool:
    """Return True unless the suite has `providers` that promptfoo could load."""
    if "providers" not in data:
        return True
    written = data["providers"]
    names = written if isinstance(written, list) and written else [None]
    return all(isinstance(n, str) and _WORD.fullmatch(n) and n not in _ALONE for n in names)


_WORD: Final = re.compile(r"[\w-]+")


def edited(data: dict[str, Any]) -> tuple[str, str]:
    """Return the keys of the cases and of the criteria to add."""
    owners = [data, *(test for test in data[CASES] if isinstance(test, dict))]
    used = (key for owner in owners for key in GRADERS if key in owner)
    return CASES, next(used, "assert" if "prompts" in data else "assertions")


def drafted(rubrics: Any, key: str) -> list[Any]:
    """Return drafted criteria as one grader of the version that has the key."""
    items = renamed(rubrics, "expected_outcome", "outcome")
    if key == "assert":
        return [{"type": "llm-rubric", "value": items}]
    return [{"type": "rubrics", "criteria": items}]


def translate(data: dict[str, Any], beside: Beside = ALONE) -> Translation:
    found = Translation(beside=beside)
    _add_suite(found, data)
    prompt = _suite_prompt(found, data)
    default = _default_variables(found, data.get("default_test"))
    found.put(("evalcases",), [], ("tests",))
    seen = _seen_by_judges(found, data)
    tests = data["tests"] if isinstance(data["tests"], list) else []
    check_environment(found, {key: each for key, each in data.items() if key != "tests"}, ())
    for index, written in enumerate(tests):
        if isinstance(written, dict):
            test = with_variables(found, written, default, index)
            check_environment(found, test, (CASES, index))
            add_test(found, data, test, index=index, prompt=prompt, seen=seen)
        elif not isinstance(written, str):  # a file, which is not read here
            found.refuse((CASES, index), "a test is a mapping")
    found.keep_braces()
    found.stop_unsupported([("evalcases", at) for at in range(len(found.data["evalcases"]))])
    return found


MAPPINGS: Final = {"default_test": "file://", "environment": "file://", "workspace": ""}
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
_INPUT: Final = ("{{ input }}", "{{input}}")


def _add_suite(found: Translation, data: dict[str, Any]) -> None:
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


def _seen_by_judges(found: Translation, data: dict[str, Any]) -> list[str]:
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


def _default_variables(found: Translation, default: Any) -> dict[str, Any]:
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


def _suite_prompt(found: Translation, data: dict[str, Any]) -> str:
    """Return the prompt of the suite; empty: the input of each test."""
    prompts = data.get("prompts")
    if not prompts:
        return ""
    only = prompts[0] if isinstance(prompts, list) and len(prompts) == 1 else None
    if not isinstance(only, str) or only.startswith("file://"):
        found.refuse(("prompts",), "`prompts` has no counterpart unless it is one text")
        return ""
    return "" if only.strip() in _INPUT else only


_OF_SIDECAR: Final[tuple[str, ...]] = ("name", "description", "execution")


def translate_lines(data: dict[str, Any], beside: Beside) -> Translation:
    suite: dict[str, Any] = {key: data[key] for key in _OF_SIDECAR if key in data}
    execution = suite.get("execution")
    if isinstance(execution, dict):
        suite["execution"] = {k: v for k, v in execution.items() if k not in GRADERS}
        suite |= {key: execution[key] for key in GRADERS if key in execution}
    lines = [{k: v for k, v in line.items() if k != "vars"} for line in data["evalcases"]]
    found = translate({**suite, "tests": lines}, beside)
    for index, line in enumerate(data["evalcases"]):
        if "vars" in line:
            found.skip(("tests", index, "vars"), "AgentV reads no `vars` of a line")
    for key in data:
        if key == "evaluator":
            found.refuse((key,), f"`{key}` has no counterpart")
        elif key not in (*_OF_SIDECAR, "evalcases"):
            found.skip((key,), f"AgentV reads no `{key}` of the file next to the lines")
    found.paths = {ours: _in_lines(theirs) for ours, theirs in found.paths.items()}
    found.problems = {(rule, _in_lines(path), text): None for rule, path, text in found.problems}
    return found


def _in_lines(path: Path) -> Path:
    if path[:1] == ("tests",):
        return ("evalcases", *path[1:])
    return ("execution", *path) if path[:1] and path[0] in GRADERS else path
