"""AgentV's graders that become one evaluator or check each: calls, scripts, prompts, limits."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from rubric_ci.evaluators.assertions.text import pattern_problem
from rubric_ci.parts.bring.translation import Translation, other_meaning
from rubric_ci.values.problems import Path

OPTIONS: Final = ("type", "name", "metric", "id", "weight", "required", "min_score", "description")
"""Options of every grader; `min_score` is the limit of `required`."""


class Parts(NamedTuple):
    """The translation of a grader: criteria, evaluators, or neither."""

    criteria: tuple[dict[str, Any], ...] = ()
    evaluators: tuple[dict[str, Any], ...] = ()


def named(grader: dict[str, Any], kind: str, **options: Any) -> dict[str, Any]:
    name = str(grader.get("name") or grader.get("metric") or kind.replace("_", "-"))
    return {"name": name, "type": kind, **options}


def trajectory(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    """Return `tool-trajectory` of 2.7 to 4, whose arguments are compared exactly by default."""
    known = ("mode", "minimums", "expected", "args_match")
    found.refuse_keys(grader, (*OPTIONS, *known), place)
    expected = grader.get("expected")
    if isinstance(expected, list):
        grader = {**grader, "expected": _expected(found, grader, (*place, "expected"))}
    if grader.get("mode") != "any_order" and not expected:
        found.refuse(place, "without `expected` there is nothing to compare")
    if grader.get("mode") == "exact":
        found.skip(
            (*place, "mode"), "AgentV ignores calls that `exact` does not list; here each is a miss"
        )
    options = {key: grader[key] for key in known[:3] if key in grader}
    return Parts(evaluators=(named(grader, "tool_trajectory", **options),))


_OF_CALL: Final = ("tool", "args", "max_duration_ms", "maxDurationMs")


def _expected(found: Translation, grader: Mapping[str, Any], place: Path) -> list[Any]:
    """Return the expected calls; how arguments are compared is a setting of each there."""
    calls: list[Any] = []
    for index, call in enumerate(grader["expected"]):
        where = (*place, index)
        written = call if isinstance(call, dict) else {}
        how = written.get("args_match", grader.get("args_match", "exact"))
        kept = {key: each for key, each in written.items() if key in _OF_CALL}
        for key in written.keys() - {*_OF_CALL, "args_match"}:
            found.skip((*where, key), f"AgentV ignores `{key}` of an expected call")
        if how == "ignore":
            kept["args"] = "any"
        compared = kept.get("args", "any") != "any"
        if compared and how == "exact":
            kept["args_match"] = how
        elif not written or (compared and how != "superset"):
            message = "arguments are compared as `exact`, `superset` or `ignore` only"
            found.refuse(where, message)
        calls.append(kept)
    return calls


def called(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    """Return a `trajectory:*` of version 5 as a check of the calls."""
    kind, value = str(grader["type"]).replace("_", "-"), grader.get("value")
    negated = kind.startswith("not-") is not (grader.get("negate") is True)
    if kind == "skill-trigger":  # of 2.7 to 4: the former name of `skill-used`
        found.refuse_keys(grader, (*OPTIONS, "skill", "should_trigger", "negate"), place)
        value, negated = grader.get("skill"), negated is not (grader.get("should_trigger") is False)
    else:
        found.refuse_keys(grader, (*OPTIONS, "value", "negate"), place)
    key = kind.removeprefix("not-")
    if key.endswith("tool-used") and isinstance(value, dict) and not negated:
        counted = _counted(grader, value)
        if counted:
            return counted
    written = _CALL_CHECKS[key](value)
    if not written or (isinstance(written.get("never_called"), list) and not negated):
        found.refuse((*place, "value"), f"this value of `{kind}` has no counterpart")
        return Parts()
    if negated is not written.pop("not", False):
        written["not"] = True
    if not key.startswith("skill"):
        written["ignore_case"] = True
    criterion = {**written, "required": grader.get("required") is True}
    return Parts(criteria=(criterion,))


def _counted(grader: dict[str, Any], value: Mapping[str, Any]) -> Parts | None:
    """Return a minimum number of calls, which is not a separate check here; None without one."""
    name, least = value.get("name"), value.get("min", 1)
    plain = isinstance(name, str) and not {"*", "?"} & set(name)
    if not plain or value.keys() - {"name", "min"} or least in (0, 1) or grader.get("required"):
        return None
    return Parts(
        evaluators=(named(grader, "tool_trajectory", mode="any_order", minimums={name: least}),)
    )


def _used(value: Any) -> dict[str, Any] | None:
    """Return that a tool was called, also with an error, as `never_called` inverted."""
    name = value.get("name", value.get("pattern")) if isinstance(value, dict) else value
    least = value.get("min", 1) if isinstance(value, dict) else 1
    if isinstance(value, dict) and value.keys() - {"name", "pattern", "min"}:
        return None
    names = name if isinstance(name, list) else [name]
    if not names or not all(isinstance(each, str) for each in names) or least != 1:
        return None
    return {"never_called": names[0] if len(names) == 1 else names, "not": True}


def _skill(value: Any) -> dict[str, Any] | None:
    """Return that a skill was used; a pattern is compared without regard to case there."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return None if {"*", "?"} & set(value) else {"skill_used": value}
    if not isinstance(value, dict) or value.keys() not in ({"name"}, {"pattern"}):
        return None
    (named,) = value.values()
    by_pattern = {"ignore_case": True} if "pattern" in value else {}
    return {"skill_used": named, **by_pattern} if isinstance(named, str) else None


def _in_sequence(value: Any) -> dict[str, Any] | None:
    steps = value.get("steps") if isinstance(value, dict) else value
    listed = steps if isinstance(steps, list) else []
    names = [each.get("name") if isinstance(each, dict) else each for each in listed]
    if not names or not all(isinstance(name, str) for name in names):
        return None
    exact = isinstance(value, dict) and value.get("mode") == "exact"
    return {"calls_exactly" if exact else "calls_in_order": names}


def _with_arguments(value: Any) -> dict[str, Any] | None:
    known = {"name", "args", "arguments", "mode"}
    if (
        not isinstance(value, dict)
        or value.keys() - known
        or not isinstance(value.get("name"), str)
    ):
        return None
    arguments = value.get("args", value.get("arguments"))
    schema = {"const": arguments} if value.get("mode") == "exact" else _partly(arguments)
    return {"called_with": {"name": value["name"], "arguments": schema}}


def _partly(expected: Any) -> dict[str, Any]:
    """Return the schema of data that has at least what is expected."""
    if isinstance(expected, dict):
        properties = {key: _partly(value) for key, value in expected.items()}
        return {"type": "object", "required": list(expected), "properties": properties}
    if isinstance(expected, list):
        items = [_partly(value) for value in expected]
        length = {"minItems": len(items), "maxItems": len(items)}
        return {"type": "array", "prefixItems": items, **length}
    return {"const": expected}


_CALL_CHECKS: Final = {
    "skill-used": _skill,
    "skill-trigger": _skill,
    "trajectory:tool-used": _used,
    "trajectory:tool-sequence": _in_sequence,
    "trajectory:tool-args-match": _with_arguments,
}
CALLS: Final = frozenset((*_CALL_CHECKS, *(f"not-{kind}" for kind in _CALL_CHECKS))) - {
    "not-skill-trigger"
}


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
    options |= {"cwd": grader["cwd"]} if "cwd" in grader else {}
    options |= _BY_OUTPUT
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
    path = next(filter(None, map(found.beside.place, names)), None)
    if path is None:
        return None
    for key in ("negate", "transform"):
        if grader.get(key):
            found.refuse((*place, key), f"`{key}` of a script has no counterpart")
    for key in grader.keys() - {*OPTIONS, "negate", "transform"}:
        found.skip((*place, key), f"AgentV does not pass `{key}` to a script that it finds by name")
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
    text = None if "{{" in name else found.beside.read(name)
    if text is None or "{{" in text or not text.strip():
        return name
    message = f"AgentV skips this test: {name} does not show the answer; here it comes at the end"
    found.skip(place, message)
    return f"{text.rstrip()}{_QUESTION_AND_ANSWER}"


_SAME_KEYS: Final = {
    "latency": ("threshold",),
    "cost": ("budget",),
    "token_usage": ("max_total", "max_input", "max_output"),
    "field_accuracy": ("fields", "aggregation"),
}
"""Graders with the same keys here, by their type."""


def _same(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    kind = str(grader["type"]).replace("-", "_")
    keys = _SAME_KEYS[kind]
    found.refuse_keys(grader, (*OPTIONS, *keys), place)
    options = {key: grader[key] for key in keys if key in grader}
    return Parts(evaluators=(named(grader, kind, **options),))


_METRICS: Final = {
    "max_tokens": ("token_usage", "max_total"),
    "max_cost_usd": ("cost", "budget"),
    "max_duration_ms": ("latency", "threshold"),
}


def _metrics(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
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


EVALUATORS: Final = {
    **{kind.replace("_", "-"): _same for kind in _SAME_KEYS},
    **dict.fromkeys(("script", "code-grader", "code-judge"), _script),
    **dict.fromkeys(CALLS, called),
    "execution-metrics": _metrics,
    "tool-trajectory": trajectory,
}
"""By type, in which `_` is read as `-`; each part has a weight as if the grader had 1."""
