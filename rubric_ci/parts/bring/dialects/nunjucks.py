"""Templates of promptfoo, which are nunjucks: variables, also below another one.

Variables are known at an import, so they are filled in then. Any other template is refused with its
text, and never left in a text: promptfoo would fill it in.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

_MOST: Final = 1_000_000  # characters of a text
_PLAIN: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_VARIABLE: Final = re.compile(
    r"\{\{\s*+([A-Za-z_]\w*+)((?:\.[A-Za-z_]\w*+|\[(?:\d++|'[^'{}]*+'|\"[^\"{}]*+\")\])*+)\s*+\}\}"
)
_STEP: Final = re.compile(r"\.(\w++)|\[(\d++)\]|\[['\"]([^'\"]*+)['\"]\]")
_OPEN: Final = re.compile(r"(?m)\{%[^%]*$|\{\{[^}]*$|\{#[^#]*$")
_TEMPLATE: Final = re.compile(r"\{[{%#][^{}]{0,80}+[{}]{0,2}")
_PASSES: Final = 5  # in which promptfoo fills variables in variables


class NotSame(Exception):
    """A template that promptfoo fills in and an import does not; with the reason."""


def is_template(text: str) -> bool:
    return any(sign in text for sign in ("{{", "{%", "{#"))


def filled_in(text: str, variables: Mapping[str, Any]) -> str:
    """Return a text with its variables; raises NotSame for another template."""
    if other := _TEMPLATE.search(_VARIABLE.sub("", text)):
        raise NotSame(f"`{other[0]}` is not a variable; write out what it makes")
    if any(match[1] == "env" for match in _VARIABLE.finditer(text)):
        raise NotSame("variables of the environment are not imported")
    made = _VARIABLE.sub(lambda match: js_text(_value_of(match, variables)), text)
    if len(made) > _MOST:
        raise NotSame(f"the text has more than {_MOST:,} characters")
    return made


def filled_in_prompt(text: str, variables: Mapping[str, Any]) -> str:
    """Return the text of a prompt; one with an open brace is not a template there."""
    return text if _OPEN.search(text) else filled_in(text, variables)


def resolved(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables with those in them filled in by their plain names, as checks get them."""
    found = {
        key: re.sub(r"\n\Z", "", each) if isinstance(each, str) else each
        for key, each in variables.items()
    }
    for _ in range(_PASSES):
        changed = False
        for key, each in found.items():
            match = _PLAIN.search(each) if isinstance(each, str) else None
            if match and match[1] in found:
                text = each.replace(match[0], js_text(found[match[1]], null="null"), 1)
                found[key], changed = text, True
                if len(text) > _MOST:
                    raise NotSame(f"the variable `{key}` has more than {_MOST:,} characters")
        if not changed:
            break
    return found


def prompt_values(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return resolved variables as a prompt gets them, with those below others filled in."""
    return {
        key: filled_in_prompt(each, variables)
        if isinstance(each, str) and _is_known(each, variables)
        else each
        for key, each in variables.items()
    }


def _is_known(text: str, variables: Mapping[str, Any]) -> bool:
    roots = [match[1] for match in _VARIABLE.finditer(text)]
    return all(root == "env" or root in variables for root in roots)


def _value_of(match: re.Match[str], variables: Mapping[str, Any]) -> Any:
    """Return the value of a variable, as JavaScript looks it up; None: there is none."""
    found: Any = variables.get(match[1])
    for name, position, quoted in _STEP.findall(match[2]):
        key = int(position) if position else name or quoted
        if isinstance(found, list) and isinstance(key, int) and key < len(found):
            found = found[key]
        elif isinstance(found, dict):
            found = found.get(key)
        else:
            found = len(found) if key == "length" and isinstance(found, str | list) else None
    return found


def js_text(value: Any, null: str = "") -> str:
    """Return a value as JavaScript writes it in a text."""
    match value:
        case None:
            return null
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case list():
            return ",".join(js_text(each) for each in value)
        case dict():
            return "[object Object]"
        case _:
            return str(value)
