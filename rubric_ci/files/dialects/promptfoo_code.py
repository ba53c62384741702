"""promptfoo's own code: checks, transforms and providers that the shims run."""

import json
import re
import shlex
from collections.abc import Mapping
from posixpath import join
from typing import Any, Final, NamedTuple

from rubric_ci.files.dialects.translation import Translation, filled
from rubric_ci.files.yaml_text.problems import Path

_SHIM: Final = "promptfoo_shim."
LANGUAGES: Final = {
    "javascript": (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"),
    "python": (".py",),
}
SHIMS: Final = {"javascript": f"{_SHIM}mjs", "python": f"{_SHIM}py"}
COMMANDS: Final = {"javascript": "node", "python": "python3"}
KEYS: Final = ("type", "value", "metric", "weight", "description", "transform")
"""The keys of each assertion."""

_FUNCTION: Final = re.compile(r":\w+$")
_MODELS: Final = re.compile(r"(openai|anthropic|mistral|groq|openrouter):(?:\w+:)?([\w./-]+)")
_PARAMETERS: Final = ("temperature", "max_tokens", "top_p", "seed")

TEMPLATE: Final = re.compile(r"\{[{%#](?:[^{}\n]{0,60}?(?:\}\}|[%#]\}))?")
"""A template in a text; of a long one, its start."""


class Setting(NamedTuple):
    """Values that the assertions of a test share."""

    variables: Mapping[str, Any]
    base: str = "."  # the folder of promptfoo's file, from the folder of the eval file
    limit: float | None = None
    transforms: tuple[str, ...] = ()  # of the provider and of the test


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
    if _language(name) is None:
        found.refuse(place, f"`{name}` is no file of JavaScript, TypeScript or Python")
        return []
    return [f"file://{join(base, name)}"]


def _language(name: str) -> str | None:
    """Return the language of a file, which may name a function; None: another one."""
    file = _FUNCTION.sub("", name)
    return next((each for each, ends in LANGUAGES.items() if file.endswith(ends)), None)


def check_of(
    found: Translation, assertion: dict[str, Any], kind: str, place: Path, setting: Setting
) -> dict[str, Any] | None:
    """Return a check by code for the shim; a file is named from the folder of the eval file."""
    plain = kind.removeprefix("not-")
    value = assertion.get("value")
    found.refuse_keys(assertion, (*KEYS, "threshold", "config"), place)
    if not isinstance(value, str):
        found.refuse((*place, "value"), f"`{kind}` has no text of code")
        return None
    text = " ".join(value.split())
    if value.startswith("file://"):
        text = value.removeprefix("file://")
        if _language(text) != plain:
            found.refuse((*place, "value"), f"`{text}` is no file that {COMMANDS[plain]} runs")
            return None
        value = f"file://{join(setting.base, text)}"
    else:
        value = rendered({"value": value}, setting.variables)["value"]
        if refuses_template(found, value, (*place, "value")):
            return None
    options: dict[str, Any] = {
        key: assertion[key] for key in ("threshold", "config", "weight") if key in assertion
    }
    if transforms := transforms_of(found, assertion, place, setting):
        options["transform"] = transforms
    name = str(assertion.get("metric") or text[:80])
    return {"name": name, "value": value, **options, **({"not": True} if kind != plain else {})}


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


def rendered(criterion: dict[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return a criterion with its variables; a text stays one, also where it is a number."""
    found: dict[str, Any] = filled(criterion, variables)
    numbers = {
        key: json.dumps(value)
        for key, value in found.items()
        if isinstance(criterion[key], str) and not isinstance(value, str)
    }
    return {**found, **numbers}


def refuses_template(found: Translation, value: Any, place: Path) -> bool:
    """Report a template that is left in a text or in the texts of a list, and return True.

    promptfoo renders it, so a check for the template itself could never fail or never hold.
    """
    texts = value if isinstance(value, list) else [value]
    matches = (TEMPLATE.search(each) for each in texts if isinstance(each, str))
    left = next(filter(None, matches), None)
    if left is not None:
        kinds = "no variable of the test, or not a plain one"
        found.refuse(place, f"`{left[0]}` is not replaced as in promptfoo: {kinds}")
    return left is not None


def add_targets(found: Translation, data: Mapping[str, Any], base: str) -> tuple[str, ...]:
    """Add the targets; return the transforms of answers that the checks have to apply."""
    key = "providers" if "providers" in data else "targets"
    written = data.get(key) or []
    items = written if isinstance(written, list) else [written]
    left: dict[Path, tuple[str, ...]] = {}
    for index, item in enumerate(items):
        where: Path = (key, index) if isinstance(written, list) else (key,)
        options = item if isinstance(item, dict) else {"id": item}
        transforms = transform_of(found, options.get("transform"), (*where, "transform"), base)
        target = _target(found, str(options.get("id", "")), base, transforms)
        if target is None:
            message = "this provider has no counterpart; define a target of the name `default`"
            found.refuse(where, message)
            continue
        found.refuse_keys(options, ("id", "label", "config", "transform"), where)
        config = options.get("config") or {}
        found.refuse_keys(config, _PARAMETERS if "model" in target else (), (*where, "config"))
        kept = {key: config[key] for key in _PARAMETERS if key in config and "model" in target}
        found.targets.append({"name": str(options.get("label") or options["id"]), **target, **kept})
        left[where] = () if _SHIM in target.get("command_template", "") else tuple(transforms)
    names = [target["name"] for target in found.targets]
    if names:
        several = len(names) > 1
        found.put(("targets" if several else "target",), names if several else names[0], (key,))
    return _of_checks(found, left)


def _of_checks(found: Translation, left: Mapping[Path, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the transforms that all providers have; checks do not know who answered."""
    if len({*left.values()}) == 1:
        return next(iter(left.values()))
    for place, transforms in left.items():
        if transforms:
            message = "the `transform` of one of several providers has no counterpart"
            found.refuse((*place, "transform"), message)
    return ()


def _target(
    found: Translation, name: str, base: str, transforms: list[str]
) -> dict[str, Any] | None:
    """Return the settings of a provider; None without a counterpart."""
    if model := _MODELS.fullmatch(name):
        return {"model": f"{model[1]}/{model[2]}"}
    if name.startswith("exec:"):
        return _command(name.removeprefix("exec:").strip())
    file = re.sub(r"^(?:file://|python:)", "", name)
    language = _language(file)
    if file == name or language is None:
        return None
    found.shims.update(SHIMS.values() if transforms else (SHIMS[language],))
    argv = (COMMANDS[language], SHIMS[language], join(base, file))
    # NOTE: a brace could begin a placeholder of the template.
    written = (json.dumps(each, ensure_ascii=False).replace("{", r"\u007b") for each in transforms)
    return _command(" ".join(map(shlex.quote, argv)), *map(shlex.quote, written))


def _command(command: str, *rest: str) -> dict[str, Any]:
    words = " ".join((command, "{PROMPT}", *rest))
    return {"provider": "cli", "command_template": words, "cwd": "."}
