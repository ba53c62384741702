"""AgentV's graders that become one evaluator each: scripts, prompts, fields and limits."""

import re
from typing import Any, Final

from rubric_ci.evaluators.assertions.text import pattern_problem
from rubric_ci.files.yaml_text.translation import Translation
from rubric_ci.parts.bring.dialects.agentv_calls import (
    CALLS,
    OPTIONS,
    Parts,
    called,
    named,
    trajectory,
)
from rubric_ci.parts.bring.dialects.js_regex import other_meaning
from rubric_ci.values.problems import Path

CHECKS: Final = {
    "contains": "contains",
    "contains-any": "contains_any",
    "contains-all": "contains_all",
    "icontains": "contains",
    "icontains-any": "contains_any",
    "icontains-all": "contains_all",
    "equals": "equals",
    "starts-with": "starts_with",
    "ends-with": "ends_with",
    "regex": "matches",
    "is-json": "is_json",
}
"""Checks without a judge by type, to the key of the assertion; `_` is read as `-`."""


def check_of(found: Translation, grader: dict[str, Any], kind: str, place: Path) -> dict[str, Any]:
    """Return a check without a judge as a criterion."""
    found.refuse_keys(grader, (*OPTIONS, "value", "negate", "flags"), place)
    key = CHECKS[kind]
    value = True if key == "is_json" else grader.get("value")
    criterion: dict[str, Any] = {key: value, "required": grader.get("required") is True}
    flags = str(grader.get("flags", ""))
    if set(flags) - {"i", "g", "u"}:
        found.refuse((*place, "flags"), f"the flags `{flags}` have no counterpart")
    if key == "is_json":
        criterion["exact"] = True
    if key == "matches" and not pattern_problem(value) and (part := other_meaning(str(value))):
        found.refuse((*place, "value"), f"`{part}` has another meaning in JavaScript than in RE2")
    if kind.startswith("icontains") or "i" in flags:
        criterion["ignore_case"] = True
    if grader.get("negate") is True:
        criterion["not"] = True
    described = grader.get("description")
    if isinstance(described, str):
        criterion["expected_outcome"] = described
    return criterion


def evaluator_of(found: Translation, grader: dict[str, Any], kind: str, place: Path) -> Parts:
    """Return a grader of the table as its parts, each with a weight as if the grader had 1."""
    return EVALUATORS[kind](found, grader, place)


def _script(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    """Return a script as a `code_judge`; its other keys are its configuration."""
    command = next((grader[key] for key in ("command", "script") if key in grader), None)
    if not isinstance(command, str | list) or str(command).startswith("file://"):
        found.refuse(place, "a script without a `command` has no counterpart")
    for key in ("provider", "target", "negate", "timeout"):
        if grader.get(key):
            found.refuse((*place, key), f"`{key}` of a script has no counterpart")
    known = (*OPTIONS, "command", "script", "cwd", "config")
    given = grader.get("config")
    config = {key: value for key, value in grader.items() if key not in known}
    config |= given if isinstance(given, dict) else {}
    options = {"config": config} if config else {}
    options |= {"cwd": grader["cwd"]} if "cwd" in grader and not found.of_scripts else {}
    options |= {**found.of_scripts, **_BY_OUTPUT}
    return Parts(evaluators=(named(grader, "code_judge", script=command, **options),))


_BY_OUTPUT: Final[dict[str, Any]] = {"score_from": "output_or_exit_status"}


_BY_NAME: Final = re.compile(r"[\w-][\w.-]*")
_ENDINGS: Final = (".ts", ".js", ".mts", ".mjs")


def discovered(found: Translation, grader: dict[str, Any], place: Path) -> Parts | None:
    """Return the script of `.agentv/assertions` that an unknown type names; None without one.

    AgentV starts it with bun, and passes no configuration to it.
    """
    kind = str(grader.get("type", ""))
    if not _BY_NAME.fullmatch(kind):
        return None
    names = (f".agentv/assertions/{kind}{ending}" for ending in _ENDINGS)
    path = next(filter(None, map(found.place, names)), None)
    if path is None:
        return None
    for key in ("negate", "transform"):
        if grader.get(key):
            found.refuse((*place, key), f"`{key}` of a script has no counterpart")
    for key in grader.keys() - {*OPTIONS, "negate", "transform"}:
        found.skip((*place, key), f"AgentV does not pass `{key}` to a script that it finds by name")
    if found.of_scripts:
        found.refuse(place, "a script that is found by its name is not in the container")
    script = {"script": ["bun", "run", path], "cwd": "/", **_BY_OUTPUT}
    return Parts(evaluators=(named({"metric": kind, **grader}, "code_judge", **script),))


def prompted(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    """Return a grader with its own prompt as an `llm_judge`, which gives a score.

    A text without variables is not a prompt there: it is what the prompt of AgentV asks about. In a
    file it shows its judge nothing, and AgentV skips the test: here the answer comes after it.
    """
    found.refuse_keys(grader, (*OPTIONS, "prompt"), place)
    prompt = grader["prompt"]
    if isinstance(prompt, dict) and "command" in prompt:
        found.refuse_keys(prompt, ("command", "config"), (*place, "prompt"))
        options = {"config": prompt["config"]} if "config" in prompt else {}
        written: Any = {"script": prompt["command"], **options}
    elif not isinstance(prompt, str):
        found.refuse((*place, "prompt"), "a prompt that is neither text nor command is not known")
        return Parts()
    elif not prompt.startswith("file://") and "{{" not in prompt:
        return Parts(criteria=({"expected_outcome": prompt, "required": False},))
    else:
        written = _with_answer(found, prompt.removeprefix("file://"), (*place, "prompt"))
    return Parts(evaluators=(named(grader, "llm_judge", prompt=written),))


_QUESTION_AND_ANSWER: Final = "\n\nThe question:\n{{ input }}\n\nThe answer:\n{{ output }}\n"


def _with_answer(found: Translation, name: str, place: Path) -> str:
    """Return the name of a prompt file, or its text with the answer if it has no variables."""
    text = None if "{{" in name else found.read(name)
    if text is None or "{{" in text or not text.strip():
        return name
    message = f"AgentV skips this test: {name} does not show the answer; here it comes at the end"
    found.skip(place, message)
    return f"{text.rstrip()}{_QUESTION_AND_ANSWER}"


_LIMITS: Final = {
    "latency": {"threshold": "threshold"},
    "cost": {"budget": "budget"},
    "token_usage": {each: each for each in ("max_total", "max_input", "max_output")},
}


def _limit(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    kind = str(grader["type"]).replace("-", "_")
    keys = _LIMITS[kind]
    found.refuse_keys(grader, (*OPTIONS, *keys), place)
    options = {ours: grader[key] for key, ours in keys.items() if key in grader}
    return Parts(evaluators=(named(grader, kind, **options),))


_METRICS: Final = {
    "max_tokens": ("token_usage", "max_total"),
    "max_cost_usd": ("cost", "budget"),
    "max_duration_ms": ("latency", "threshold"),
}


def _metrics(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    """Return several limits, which count alike."""
    found.refuse_keys(grader, (*OPTIONS, "max_tool_calls", *_METRICS), place)
    calls = grader.get("max_tool_calls")
    names = [key for key in _METRICS if key in grader]
    share = 1 / (len(names) + (calls is not None) or 1)
    limits = (
        named(grader, _METRICS[key][0], weight=share, **{_METRICS[key][1]: grader[key]})
        for key in names
    )
    criterion = {"max_calls": calls, "weight": share, "required": False}
    return Parts((criterion,) if calls is not None else (), tuple(limits))


def _accuracy(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    found.refuse_keys(grader, (*OPTIONS, "fields", "aggregation"), place)
    options = {key: grader[key] for key in ("fields", "aggregation") if key in grader}
    return Parts(evaluators=(named(grader, "field_accuracy", **options),))


EVALUATORS: Final = {
    **dict.fromkeys(("latency", "cost", "token-usage"), _limit),
    **dict.fromkeys(("script", "code-grader", "code-judge"), _script),
    **dict.fromkeys(CALLS, called),
    "execution-metrics": _metrics,
    "field-accuracy": _accuracy,
    "tool-trajectory": trajectory,
}
"""By type; `_` is read as `-`."""
