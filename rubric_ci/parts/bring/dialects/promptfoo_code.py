"""promptfoo's own code: checks and transforms that the shims run, and templates in their texts."""

import re
from collections.abc import Mapping
from posixpath import join
from typing import Any, Final, NamedTuple

from rubric_ci.parts.bring.dialects.nunjucks import NotSame, filled_in
from rubric_ci.parts.bring.translation import Translation
from rubric_ci.values.problems import Path

_SHIM: Final = "promptfoo_shim."
LANGUAGES: Final = {
    "javascript": (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"),
    "python": (".py",),
}
SHIMS: Final = {"javascript": f"{_SHIM}mjs", "python": f"{_SHIM}py"}
COMMANDS: Final = {"javascript": "node", "python": "python3"}
PROMPT_WORD: Final = "file:{PROMPT_FILE}"
"""How a shim gets a prompt: an argument of a program holds at most 128 KiB."""

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
    variables: Mapping[str, Any]
    limit: float | None = None
    transforms: tuple[str, ...] = ()  # of the provider and of the test
    judge: tuple[Any, Path] = (None, ())  # of the test


_NOT_KEPT: Final = "is not there when the check runs here"
_PARTS: Final = (
    re.compile(r"\b(\w+)(?=\s*\??\.\s*(\w+(?:\??\.\w+)?))"),
    re.compile(r"""\b(\w+)(?=(?:\?\.)?\[\s*["'](\w+)["']\s*\])"""),
    re.compile(r"""\b(\w+)(?=\.get\(\s*["'](\w+)["'])"""),
)
"""How code reads a part of a value: the names of the value and of the part."""
_SECOND: Final = (
    re.compile(r"\(\s*\w+\s*,\s*(\w+)\s*\)\s*(?:=>|\{)"),
    re.compile(r"def\s+\w+\(\s*\w+(?:\s*:[^,()]*)?,\s*(\w+)"),
)
"""How code names its second parameter."""
_TAKEN_APART: Final = (
    re.compile(r"\(\s*\w+\s*,\s*\{([^{}]*)\}"),
    re.compile(r"\{([^{}]*)\}\s*=\s*\w*[cC]ontext\b"),
)


def unfilled(code: str) -> str:
    """Return a part of `context` that code reads and the shims do not have; "": there is none."""
    holders = {"context", *(match[1] for each in _SECOND for match in each.finditer(code))}
    read = [match[2] for part in _PARTS for match in part.finditer(code) if match[1] in holders]
    for each in (match[1] for part in _TAKEN_APART for match in part.finditer(code)):
        read += [re.split(r"[:=]", name)[0].strip(" .") for name in each.split(",")]
    names = (re.split(r"\W+", each) for each in read if each and each not in ("get", "keys"))
    own = (parts for parts in names if parts[0] in _NOT_HELD and parts[:2] != ["test", "vars"])
    return next(map(".".join, own), "")


_NOT_HELD: Final = frozenset(
    ("providerResponse", "metadata", "provider", "test", "logProbs", "trace")
)


def transform_of(found: Translation, written: Any, place: Path) -> list[str]:
    """Return a transform as the shims take it; none, and a report, without a counterpart."""
    if not written:
        return []
    if not isinstance(written, str):
        found.refuse(place, "a `transform` is a text")
        return []
    name = written.removeprefix("file://")
    code = written if name == written else found.beside.read(_FUNCTION.sub("", name)) or ""
    if part := unfilled(code):
        found.refuse(place, f"`context.{part}` of promptfoo {_NOT_KEPT}")
        return []
    if name == written:
        return [written]
    if language_of(name) is None:
        found.refuse(place, f"`{name}` is not a file of JavaScript, TypeScript or Python")
        return []
    return [f"file://{join(found.beside.base, name)}"]


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
        code = found.beside.read(_FUNCTION.sub("", text)) or ""
        value = f"file://{join(found.beside.base, text)}"
    else:
        filled = rendered(found, value, (*place, "value"), setting)
        if filled is None:
            return None
        value = code = filled
    if part := unfilled(code):
        found.refuse((*place, "value"), f"`context.{part}` of promptfoo {_NOT_KEPT}")
        return None
    own = ("threshold", "config", "weight")
    options = {key: assertion[key] for key in own if key in assertion}
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
        found.refuse(place, f"the template is not filled in: {error}")
        return None


_READ_BY_SHELLS: Final = re.compile(r'["$`\\%!{~\0-\x1f]')


def as_argument(text: str) -> str:
    """Return a text for a shim, where `~22` is `"`: nothing is left for a shell to read."""
    return _READ_BY_SHELLS.sub(lambda sign: f"~{ord(sign[0]):02x}", text)


def transforms_of(found: Translation, owner: Any, place: Path, setting: Setting) -> list[str]:
    """Return the transforms of an answer before an assertion, the provider's first."""
    written = owner.get("transform") if isinstance(owner, dict) else None
    own = transform_of(found, written, (*place, "transform"))
    return [*setting.transforms, *own]


def script_of(
    found: Translation, language: str, checks: list[dict[str, Any]], setting: Setting
) -> dict[str, Any]:
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
