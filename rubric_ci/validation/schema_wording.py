"""What messages call the places and values of a file, and which rule a fault there breaks."""

from typing import Any, Final

from rubric_ci.yaml_text.problems import Path

KINDS: Final = {
    "string": "text",
    "number": "a number",
    "integer": "an integer",
    "boolean": "`true` or `false`",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}

_TEXT_KEYS = ("expected_outcome", "description", "criteria")


def rule_of(path: Path, fault: str, otherwise: str) -> str:  # noqa: PLR0911 - one line per rule
    """Name the rule of a fault: some places have rules of their own."""
    if path and path[-1] == "score_ranges" and fault in {"at least", "at most"}:
        return "score-range-coverage" if fault == "at least" else "score-range-overlap"
    if "score_ranges" in path:
        kind = {"type": "type", "bounds": "bounds", "key": "bounds"}.get(fault)
        if path[-1] == "score_range":
            kind = "type"
        elif path[-1] in _TEXT_KEYS or kind is None:
            kind = "text" if fault in {"required", "pattern", "type"} else None
        if isinstance(path[-1], str) and path[-2] == "score_ranges" and fault != "key":
            kind = "text"
        return f"score-range-{kind}" if kind else otherwise
    if path and path[-1] == "levels":
        return "levels-count" if fault == "at least" else "levels-type"
    if "levels" in path and (path[-1] == "level" or fault == "key"):
        return "levels-type"
    if "levels" in path and (path[-1] in _TEXT_KEYS or path[-2] == "levels"):
        return "levels-text"
    if "rubrics" in path and path[-1] == "expected_outcome":
        return "criterion-text"
    if len(path) > 2 and path[-1] == "type" and path[-3] == "evaluators":
        return "evaluator-type" if fault == "enum" else otherwise
    return otherwise


def value_name(path: Path) -> str:
    """Name the value at a path for a message."""
    if not path:
        return "an eval file"
    if isinstance(path[-1], str):
        return f"`{path[-1]}`"
    keys = [step for step in path if isinstance(step, str)]
    if keys and keys[-1] == "score_range":
        return "a bound of `score_range`"
    return f"an entry of `{keys[-1]}`" if keys else "an entry"


def owner_name(path: Path) -> str:
    """Name the mapping at a path for a message."""
    if not path:
        return "the file"
    if isinstance(path[-1], str):
        return f"`{path[-1]}`"
    keys = [step for step in path if isinstance(step, str)]
    return _OWNERS.get(keys[-1], f"an entry of `{keys[-1]}`") if keys else "an entry"


_OWNERS = {
    "evalcases": "the case",
    "rubrics": "the criterion",
    "score_ranges": "the range",
    "levels": "the level",
    "evaluators": "the evaluator",
    "input_messages": "the message",
    "input": "the message",
    "expected_messages": "the message",
    "expected_output": "the message",
    "content": "the part",
    "targets": "the target",
}


def shown(value: Any) -> str:
    """Show a value for a message."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"`{value}`"
        case str():
            return f"the text `{value}`" if len(value) < 40 else "a text"
        case list():
            return "a list"
        case _:
            return "a mapping"
