"""AgentV's graders that are evaluators of their own: scripts, prompts, limits and tool calls."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from rubric_ci.dialects.translation import Translation
from rubric_ci.yaml_text.problems import Path

OPTIONS: Final = ("type", "name", "metric", "id", "weight", "required", "min_score", "description")
"""Options of every grader; `min_score` is the limit of `required`."""


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


class Parts(NamedTuple):
    """What a grader becomes: criteria, evaluators, or neither."""

    criteria: tuple[dict[str, Any], ...] = ()
    evaluators: tuple[dict[str, Any], ...] = ()


def check_of(found: Translation, grader: dict[str, Any], kind: str, place: Path) -> dict[str, Any]:
    """Return a check without a judge as a criterion."""
    found.refuse_keys(grader, (*OPTIONS, "value", "negate", "flags"), place)
    key = CHECKS[kind]
    value = True if key == "is_json" else grader.get("value")
    criterion: dict[str, Any] = {key: value, "required": grader.get("required") is True}
    flags = str(grader.get("flags", ""))
    if set(flags) - {"i", "g", "u"}:
        found.refuse((*place, "flags"), f"the flags `{flags}` have no counterpart")
    if kind.startswith("icontains") or "i" in flags:
        criterion["ignore_case"] = True
    if grader.get("negate") is True:
        criterion["not"] = True
    if not isinstance(grader.get("required", False), bool):
        found.refuse((*place, "required"), "a minimum score of a grader has no counterpart")
    described = grader.get("description")
    if isinstance(described, str):
        criterion["expected_outcome"] = described
    return criterion


def evaluator_of(found: Translation, grader: dict[str, Any], kind: str, place: Path) -> Parts:
    """Return a grader of the table as its parts, each with a weight as if the grader had 1."""
    if grader.get("required") not in (None, False) and kind not in _CALLS:
        found.refuse((*place, "required"), "only a check or one criterion can be required")
    return EVALUATORS[kind](found, grader, place)


def _named(grader: dict[str, Any], kind: str, **options: Any) -> dict[str, Any]:
    name = str(grader.get("name") or grader.get("metric") or kind.replace("_", "-"))
    return {"name": name, "type": kind, **options}


def _script(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    """Return a script as a `code_judge`; keys of its own are its configuration."""
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
    return Parts(evaluators=(_named(grader, "code_judge", script=command, **options),))


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
    for key in ("negate", "transform", "required"):
        if grader.get(key):
            found.refuse((*place, key), f"`{key}` of a script has no counterpart")
    for key in grader.keys() - {*OPTIONS, "negate", "transform"}:
        found.skip((*place, key), f"AgentV does not pass `{key}` to a script that it finds by name")
    script = {"script": ["bun", "run", path], "cwd": "/"}
    return Parts(evaluators=(_named({"metric": kind, **grader}, "code_judge", **script),))


def prompted(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    """Return a grader with a prompt of its own as an `llm_judge`, which gives a score.

    A text without variables is no prompt there: it is what the prompt of AgentV asks about. In a
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
    return Parts(evaluators=(_named(grader, "llm_judge", prompt=written),))


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
    return Parts(evaluators=(_named(grader, kind, **options),))


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
        _named(grader, _METRICS[key][0], weight=share, **{_METRICS[key][1]: grader[key]})
        for key in names
    )
    criterion = {"max_calls": calls, "weight": share, "required": False}
    return Parts((criterion,) if calls is not None else (), tuple(limits))


def _accuracy(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    found.refuse_keys(grader, (*OPTIONS, "fields", "aggregation"), place)
    options = {key: grader[key] for key in ("fields", "aggregation") if key in grader}
    return Parts(evaluators=(_named(grader, "field_accuracy", **options),))


def _trajectory(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    """Return `tool-trajectory` of 2.7 to 4, whose arguments are compared exactly by default."""
    known = ("mode", "minimums", "expected", "args_match")
    found.refuse_keys(grader, (*OPTIONS, *known), place)
    expected = grader.get("expected")
    loose = grader.get("args_match") == "superset"
    for index, call in enumerate(expected if isinstance(expected, list) else ()):
        if not isinstance(call, dict) or (call.get("args", "any") != "any" and not loose):
            message = "arguments are compared as `args_match: superset` only"
            found.refuse((*place, "expected", index), message)
    if grader.get("mode") != "any_order" and not expected:
        found.refuse(place, "without `expected` there is nothing to compare")
    options = {key: grader[key] for key in known[:3] if key in grader}
    return Parts(evaluators=(_named(grader, "tool_trajectory", **options),))


def _called(found: Translation, grader: dict[str, Any], place: Path) -> Parts:
    """Return a `trajectory:*` of version 5 as a check of the calls."""
    found.refuse_keys(grader, (*OPTIONS, "value", "negate"), place)
    kind, value = str(grader["type"]), grader.get("value")
    negated = kind.startswith("not-") is not (grader.get("negate") is True)
    key = kind.removeprefix("not-")
    if key.endswith("tool-used") and isinstance(value, dict) and not negated:
        counted = _counted(grader, value)
        if counted:
            return counted
    written = _CALL_CHECKS[key](value)
    if not written:
        found.refuse((*place, "value"), f"this value of `{kind}` has no counterpart")
        return Parts()
    if negated is not written.pop("not", False):
        written["not"] = True
    criterion = {**written, "ignore_case": True, "required": grader.get("required") is True}
    return Parts(criteria=(criterion,))


def _counted(grader: dict[str, Any], value: Mapping[str, Any]) -> Parts | None:
    """Return a least number of calls, which is no check of its own here; None without one."""
    name, least = value.get("name"), value.get("min", 1)
    plain = isinstance(name, str) and not {"*", "?"} & set(name)
    if not plain or value.keys() - {"name", "min"} or least in (0, 1) or grader.get("required"):
        return None
    return Parts(
        evaluators=(_named(grader, "tool_trajectory", mode="any_order", minimums={name: least}),)
    )


def _used(value: Any) -> dict[str, Any] | None:
    """Return that a tool was called, also with an error, as `never_called` inverted."""
    name = value.get("name", value.get("pattern")) if isinstance(value, dict) else value
    least = value.get("min", 1) if isinstance(value, dict) else 1
    if isinstance(value, dict) and value.keys() - {"name", "pattern", "min"}:
        return None
    if isinstance(name, list) and len(name) == 1:
        name = name[0]
    return {"never_called": name, "not": True} if isinstance(name, str) and least == 1 else None


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
    "trajectory:tool-used": _used,
    "trajectory:tool-sequence": _in_sequence,
    "trajectory:tool-args-match": _with_arguments,
}
_CALLS: Final = frozenset((*_CALL_CHECKS, *(f"not-{kind}" for kind in _CALL_CHECKS)))

EVALUATORS: Final = {
    **dict.fromkeys(("latency", "cost", "token-usage"), _limit),
    **dict.fromkeys(("script", "code-grader", "code-judge"), _script),
    **dict.fromkeys(_CALLS, _called),
    "execution-metrics": _metrics,
    "field-accuracy": _accuracy,
    "tool-trajectory": _trajectory,
}
"""By type; `_` is read as `-`."""
