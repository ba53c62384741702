"""promptfoo's own code: checks and transforms that the shims run, and templates in their texts."""

import json
import re
from collections.abc import Mapping
from posixpath import join
from typing import Any, Final, NamedTuple

from rubric_ci.files.yaml_text.translation import ReadText, Translation
from rubric_ci.parts.bring.dialects.nunjucks import NotSame, filled_in
from rubric_ci.values.problems import Path

_SHIM: Final = "promptfoo_shim."
LANGUAGES: Final = {
    "javascript": (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"),
    "python": (".py",),
}
SHIMS: Final = {"javascript": f"{_SHIM}mjs", "python": f"{_SHIM}py"}
COMMANDS: Final = {"javascript": "node", "python": "python3"}
VARIABLES: Final = ".vars.json"
"""The end of the name of the file with the variables of each case, for programs."""

PROMPT: Final = "__prompt"
"""The variable with the prompt of a case whose input is another text."""

KEYS: Final = ("type", "value", "metric", "weight", "description", "transform")
"""The keys of each assertion."""

DECIDING: Final = ("contextTransform", "config", "threshold", "assert")
"""The keys that decide about a verdict in some of them."""

_FUNCTION: Final = re.compile(r":\w+$")


class Setting(NamedTuple):
    """Values that the assertions of a test share."""

    variables: Mapping[str, Any]
    base: str = "."  # the folder of promptfoo's file, from the folder of the eval file
    limit: float | None = None
    transforms: tuple[str, ...] = ()  # of the provider and of the test
    read: ReadText = lambda _: None
    judge: tuple[Any, Path] = (None, ())  # of the test


def transform_of(found: Translation, written: Any, place: Path, base: str) -> list[str]:
    """Return a transform as the shims take it; none, and a report, without a counterpart."""
    if not written:
        return []
    if not isinstance(written, str):
        found.refuse(place, "a `transform` is a text")
        return []
    name = written.removeprefix("file://")
    if name == written:
        return [written]
    if language_of(name) is None:
        found.refuse(place, f"`{name}` is not a file of JavaScript, TypeScript or Python")
        return []
    return [f"file://{join(base, name)}"]


def language_of(name: str) -> str | None:
    """Return the language of a file, which may name a function; None: another one."""
    file = _FUNCTION.sub("", name)
    return next((each for each, ends in LANGUAGES.items() if file.endswith(ends)), None)


def check_of(
    found: Translation, assertion: dict[str, Any], kind: str, place: Path, setting: Setting
) -> dict[str, Any] | None:
    """Return a check by code for the shim; a file is named from the folder of the eval file."""
    plain = kind.removeprefix("not-")
    value = assertion.get("value")
    found.skip_keys(assertion, (*KEYS, "threshold", "config"), DECIDING, place)
    if not isinstance(value, str):
        found.refuse((*place, "value"), f"`{kind}` has no text of code")
        return None
    text = " ".join(value.split())
    if value.startswith("file://"):
        text = value.removeprefix("file://")
        if language_of(text) != plain:
            found.refuse((*place, "value"), f"`{text}` is not a file that {COMMANDS[plain]} runs")
            return None
        value = f"file://{join(setting.base, text)}"
    else:
        filled = rendered(found, value, (*place, "value"), setting)
        if filled is None:
            return None
        value = filled
    options: dict[str, Any] = {
        key: assertion[key] for key in ("threshold", "config", "weight") if key in assertion
    }
    if transforms := transforms_of(found, assertion, place, setting):
        options["transform"] = transforms
    name = str(assertion.get("metric") or text[:80])
    return {"name": name, "value": value, **options, **({"not": True} if kind != plain else {})}


def rendered(found: Translation, value: Any, place: Path, setting: Setting) -> Any:
    """Return a value with its templates filled in, as promptfoo does; None, and a report: not."""
    try:
        if isinstance(value, list):
            return [filled_in(e, setting.variables) if isinstance(e, str) else e for e in value]
        return filled_in(value, setting.variables) if isinstance(value, str) else value
    except NotSame as error:
        found.refuse(place, f"the template is not filled in as in promptfoo: {error}")
        return None


def as_argument(value: Any) -> str:
    """Return a value as JSON, in which a brace cannot begin a placeholder of a command."""
    return json.dumps(value, ensure_ascii=False, default=str).replace("{", r"\u007b")


def transforms_of(found: Translation, owner: Any, place: Path, setting: Setting) -> list[str]:
    """Return the transforms of an answer before an assertion, the provider's first."""
    written = owner.get("transform") if isinstance(owner, dict) else None
    own = transform_of(found, written, (*place, "transform"), setting.base)
    return [*setting.transforms, *own]


def script_of(
    found: Translation, language: str, checks: list[dict[str, Any]], setting: Setting
) -> dict[str, Any]:
    """Return the checks of a language as one evaluator."""
    found.shims.add(SHIMS[language])
    if any("transform" in each for each in checks):
        found.shims.update(SHIMS.values())  # a shim asks the other one for its language
    return {
        "name": language,
        "type": "code_judge",
        "script": [COMMANDS[language], SHIMS[language]],
        "weight": sum(each.get("weight", 1) for each in checks),
        "config": {"checks": checks, "vars": dict(setting.variables)},
    }
