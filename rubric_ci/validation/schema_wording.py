"""Names of values and places for messages."""

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


def value_name(path: Path) -> str:
    """Return the name of the value at a path."""
    if not path:
        return "an eval file"
    if isinstance(path[-1], str):
        return f"`{path[-1]}`"
    keys = [step for step in path if isinstance(step, str)]
    if keys and keys[-1] == "score_range":
        return "a bound of `score_range`"
    return f"an entry of `{keys[-1]}`" if keys else "an entry"


def owner_name(path: Path) -> str:
    """Return the name of the mapping at a path."""
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
    "messages": "the message",
    "input_messages": "the message",
    "input": "the message",
    "expected_messages": "the message",
    "expected_output": "the message",
    "content": "the part",
    "targets": "the target",
}


def one_of(keys: tuple[str, ...]) -> str:
    """Return keys as alternatives: "`a`", "`a` or `b`", "`a`, `b` or `c`"."""
    *others, last = (f"`{key}`" for key in keys)
    return f"{', '.join(others)} or {last}" if others else last


def shown(value: Any) -> str:
    """Return a value, or its type if it is long."""
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
