"""Environment variables in the configuration: `${{ NAME }}`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rubric_ci.errors import MissingVariable

_VARIABLE = re.compile(r"\$\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


def substitute(value: Any, environment: Mapping[str, str]) -> Any:
    """Return the value with every `${{ NAME }}` replaced, also inside lists, mappings and strings.

    Raises MissingVariable for a variable that is unset or empty.
    """
    match value:
        case str():
            return _VARIABLE.sub(lambda found: _look_up(found[1], environment), value)
        case list() | tuple():
            return type(value)(substitute(item, environment) for item in value)
        case Mapping():
            return {key: substitute(item, environment) for key, item in value.items()}
        case _:
            return value


def names(value: Any) -> Iterator[str]:
    """Yield the variables that a value refers to."""
    match value:
        case str():
            yield from _VARIABLE.findall(value)
        case list() | tuple():
            for item in value:
                yield from names(item)
        case Mapping():
            for item in value.values():
                yield from names(item)


def _look_up(name: str, environment: Mapping[str, str]) -> str:
    value = environment.get(name, "")
    if value == "":
        raise MissingVariable(
            f"the environment variable {name} is not set",
            f"set it, or remove `${{{{ {name} }}}}` from the configuration",
        )
    return value
