"""AgentV's tables and lines of tests: a row or a line as a test of a suite."""

import re
from collections.abc import Mapping
from typing import Any, Final

from rubric_ci.files.yaml_text.csv_cases import Row
from rubric_ci.parts.bring.dialects.agentv import translate
from rubric_ci.parts.bring.dialects.agentv_graders import GRADERS
from rubric_ci.parts.bring.translation import Beside, Translation
from rubric_ci.values.problems import Path

_EXPECTED: Final = re.compile(
    r"(not-)?([a-z][a-z0-9-]*+)(?:\((\d++(?:\.\d++)?)\))?(?::(.*))?", re.DOTALL
)
_LISTS: Final = ("contains-any", "contains-all", "icontains-any", "icontains-all")
_LIMITS: Final = {"latency": "threshold", "cost": "budget"}
_TYPES: Final = frozenset(
    (
        *(*_LISTS, *_LIMITS, "contains", "icontains", "starts-with", "ends-with", "regex"),
        *("is-json", "equals"),
    )
)
_JUDGED: Final = ("grade:", "llm-rubric:")
_CODE: Final = ("javascript:", "fn:", "eval:")
_COMMA: Final = re.compile(r"(?<!\\),")
_NUMBER: Final = re.compile(r"\d+(\.\d+)?")
_JOINED: Final = ("id", "__prefix", "__suffix", "__metric")
"""Columns that are part of the value of others."""


def of_row(row: Mapping[str, str], number: int) -> Row:
    """Return a row of a table as a test; columns without a meaning are variables."""
    test: dict[str, Any] = {"id": row.get("id", "").strip() or f"row-{number}"}
    columns: dict[Path, str] = {("id",): "id"}
    graders: list[dict[str, Any]] = []
    for column, text in row.items():
        if column in _JOINED or (column.startswith("__") and not text.strip()):
            continue
        if column.startswith("__expected"):
            columns["assert", len(graders)] = column
            graders.append(_grader(text.strip()))
        else:
            path = _value(test, column, text)
            columns[path] = column
    if "input" in test:
        test["input"] = f"{row.get('__prefix', '')}{test['input']}{row.get('__suffix', '')}"
    if graders:
        test["assert"] = _named(graders, row.get("__metric", ""))
    return Row(test, columns)


def _value(test: dict[str, Any], column: str, text: str) -> Path:
    if column == "input":
        test["input"] = text
        return ("input",)
    if column == "__description":
        test["criteria"] = text
        return ("criteria",)
    if column == "__threshold":
        test["threshold"] = float(text) if _NUMBER.fullmatch(text.strip()) else text
        return ("threshold",)
    if column.startswith("__metadata:"):
        name = column.removeprefix("__metadata:")
        parts = [part.strip().replace("\\,", ",") for part in _COMMA.split(text)]
        value: Any = list(filter(None, parts)) if name.endswith("[]") else text
        test.setdefault("metadata", {})[name.removesuffix("[]")] = value
        return ("metadata",)
    if column.startswith(("__provider", "__config:")):
        test[column] = text  # which is reported: it has no counterpart
        return (column,)
    return _variable(test, column, text)


def _variable(test: dict[str, Any], column: str, text: str) -> Path:
    """Add the value of a variable; a column in the place of another is reported as unknown."""
    steps = column.split(".") if column.startswith("vars.") else ["vars", column]
    *owners, name = path = tuple(step.strip() for step in steps)
    owner: Any = test
    for step in owners:
        owner = owner.setdefault(step, {}) if isinstance(owner, dict) else None
    if not isinstance(owner, dict) or name in owner:
        test[column] = text
        return (column,)
    owner[name] = text
    return path


def _grader(text: str) -> dict[str, Any]:
    """Return a cell as a grader: `type(0.8):value`, a known prefix, or an equal text."""
    if prefix := next(filter(text.startswith, _JUDGED), ""):
        return {"type": "llm-grader", "rubrics": [{"outcome": text.removeprefix(prefix).strip()}]}
    if prefix := next(filter(text.startswith, _CODE), ""):
        return {"type": prefix.removesuffix(":")}
    if text.startswith("python:"):
        return {"type": "script", "command": ["uv", "run", "python", text[7:].strip()]}
    if text.startswith("file://"):
        return {"type": text}
    written = _EXPECTED.fullmatch(text)
    if written is None or (written[2] not in _TYPES and not (written[3] or written[4])):
        return {"type": "equals", "value": text}
    inverted, kind, limit, value = written.groups()
    grader: dict[str, Any] = {"type": kind, **({"negate": True} if inverted else {})}
    if kind in _LISTS:
        grader["value"] = [item.strip() for item in value.split(",")] if value else []
    elif value is not None:
        grader["value"] = value.strip()
    return grader | ({_LIMITS.get(kind, "min_score"): float(limit)} if limit else {})


def _named(graders: list[dict[str, Any]], metric: str) -> list[dict[str, Any]]:
    names = [metric] if len(graders) == 1 else [f"{metric}-{n + 1}" for n in range(len(graders))]
    return [
        {**grader, "name": name} if metric else grader
        for grader, name in zip(graders, names, strict=True)
    ]


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
