"""promptfoo's providers as targets, and the model that judges as `judge_target`."""

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from posixpath import join
from typing import Any, Final

from rubric_ci.files.dialects.promptfoo_checks import Placed
from rubric_ci.files.dialects.promptfoo_code import (
    COMMANDS,
    SHIMS,
    language_of,
    transform_of,
)
from rubric_ci.files.dialects.promptfoo_models import IDLE, is_model, model_of, settings_of
from rubric_ci.files.dialects.translation import Beside, Translation
from rubric_ci.model.problems import Path

VARIABLES: Final = ".vars.json"
"""The end of the name of the file with the variables of each case, for programs."""

_OWN: Final = ("id", "label", "config", "transform")
_DECIDING: Final = ("prompts", "env", "inputs", "modelName")
_FUNCTION: Final = re.compile(r":\w+$")
_NO_COUNTERPART: Final = (
    "this provider has no counterpart; define a target of the name `default`: {}"
)


def add_targets(found: Translation, data: Mapping[str, Any], beside: Beside) -> tuple[str, ...]:
    """Add the targets; return the transforms of answers that the checks have to apply."""
    key = "providers" if "providers" in data else "targets"
    written = data.get(key) or []
    items = written if isinstance(written, list) else [written]
    left: dict[Path, tuple[str, ...]] = {}
    for index, item in enumerate(items):
        where: Path = (key, index) if isinstance(written, list) else (key,)
        options, place = _options(item, where)
        transforms = transform_of(
            found, options.get("transform"), (*place, "transform"), beside.base
        )
        target = _target(found, options, place, beside, transforms)
        if target is None:
            continue
        found.targets.append({"name": _name(found, options), **target})
        shim = any(each in target.get("command_template", "") for each in SHIMS.values())
        left[place] = () if shim else tuple(transforms)
    names = [target["name"] for target in found.targets]
    if names:
        several = len(names) > 1
        found.put(("targets" if several else "target",), names if several else names[0], (key,))
    return _of_checks(found, left)


def runs_programs(targets: Sequence[Mapping[str, Any]]) -> bool | None:
    """Return True if all targets are programs, False if none is, None if some are."""
    programs = {target.get("provider") == "cli" for target in targets} or {False}
    return programs.pop() if len(programs) == 1 else None


def add_options(found: Translation, options: Sequence[Mapping[str, Placed]]) -> None:
    """Add the settings of requests that every test has to the models."""
    shared = dict(options[0]) if options else {}
    for placed in (each for of_test in options for each in of_test.items()):
        key, (value, place) = placed
        if any(other.get(key, (None, ()))[0] != value for other in options):
            shared.pop(key, None)
            found.refuse(place, f"`{key}` of some tests has no counterpart: a target has one")
    for key, (value, place) in shared.items():
        models = [target for target in found.targets if "model" in target]
        for target in models:
            target.update(settings_of(found, {key: value}, place[:-1], ""))
        if not models:
            found.skip(place, f"`{key}` is for models, and there is none")


def add_judge(found: Translation) -> None:
    """Take the judge of the configuration, if it names one model for all judges."""
    judges = list(found.judges.items())
    if len(judges) > 1:
        for _, place in judges[1:]:
            message = "a run has one judge: of several, this one has no counterpart"
            found.refuse(place, message)
    for written, place in judges[:1]:
        options, where = _options(json.loads(written), place)
        model = model_of(found, options, where) if is_model(options) else None
        if model is None or not found.targets:
            command = "`judge` in rubric-ci.yaml names it, a program as `{command: [...]}`"
            found.refuse(place, f"this judge has no counterpart: {command}")
            continue
        name = next((t["name"] for t in found.targets if _same(t, model)), "")
        for target in found.targets:
            target["judge_target"] = name or "judge"
        if not name:
            found.targets.append({"name": "judge", **model})


def _same(target: Mapping[str, Any], model: Mapping[str, Any]) -> bool:
    return {k: v for k, v in target.items() if k not in ("name", "judge_target")} == model


def _options(item: Any, place: Path) -> tuple[dict[str, Any], Path]:
    """Return a provider as a mapping with `id`, also one written as `{id: settings}`."""
    if not isinstance(item, dict):
        return {"id": item}, place
    if "id" not in item and len(item) == 1:
        [(name, settings)] = item.items()
        if isinstance(settings, dict):
            return {"id": name, **settings}, (*place, name)
    return item, place


def _name(found: Translation, options: Mapping[str, Any]) -> str:
    """Return the name of a target; of two of one name the second has a number."""
    name = str(options.get("label") or options["id"])
    taken = {target["name"] for target in found.targets}
    numbers = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(each for each in numbers if each not in taken)


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
    found: Translation,
    options: dict[str, Any],
    place: Path,
    beside: Beside,
    transforms: list[str],
) -> dict[str, Any] | None:
    """Return the settings of a provider; None, and a report, without a counterpart."""
    name = str(options.get("id", ""))
    found.skip_keys(options, (*_OWN, *IDLE), _DECIDING, place)
    if name == "echo":
        found.shims.add(SHIMS["python"])
        return _command(f"{COMMANDS['python']} {SHIMS['python']} --echo")
    if name.startswith("exec:"):
        command = name.removeprefix("exec:").strip()
        return _command(command) if _needs_no_vars(found, command, place, beside) else None
    if (program := _program(found, options, place, beside, transforms)) is not None:
        return program
    if name.startswith(("http:", "https:")) or name in ("http", "https"):
        return _service(found, options, place)
    if is_model(options):
        return model_of(found, options, place)
    found.refuse(place, _NO_COUNTERPART.format(_stub(name)))
    return None


def _stub(name: str) -> str:
    """Return the line of a targets file to complete."""
    agents = {"anthropic:claude-agent-sdk": "claude-code", "openai:codex": "codex"}
    for start, agent in agents.items():
        if name.startswith(start):
            return f"`- {{name: default, provider: {agent}}}` in rubric-ci.yaml"
    return "`- {name: default, provider: cli, command_template: 'PROGRAM {PROMPT}'}`"


def _program(
    found: Translation,
    options: Mapping[str, Any],
    place: Path,
    beside: Beside,
    transforms: list[str],
) -> dict[str, Any] | None:
    """Return a file of JavaScript or Python as a command that runs the shim; None: it is none."""
    name = str(options.get("id", ""))
    file = re.sub(r"^(?:file://|python:)", "", name)
    language = language_of(file)
    if file == name or language is None:
        return None
    found.shims.update(SHIMS.values() if transforms else (SHIMS[language],))
    config = options.get("config")
    if "{{" in json.dumps(config, default=str):
        found.refuse((*place, "config"), "a template in `config` of a program is not filled in")
    given = ["--config", _written(json.dumps(config, default=str))] if config else []
    variables = ["--vars", f"{beside.stem}{VARIABLES}"] if _reads_vars(file, beside) else []
    start = map(shlex.quote, (COMMANDS[language], SHIMS[language], *variables))
    rest = map(shlex.quote, (*given, join(beside.base, file)))
    words = (*start, *(["{EVAL_ID}"] if variables else []), *rest)
    return _command(" ".join(words), *(shlex.quote(_written(t)) for t in transforms))


def _reads_vars(file: str, beside: Beside) -> bool:
    """Return True for a program that reads the variables of a test, or passes its context on."""
    text = beside.read(_FUNCTION.sub("", file)) or ""
    return bool(re.search(r"\bvars\b", text)) or len(re.findall(r"\bcontext\b", text)) > 1


def _written(value: Any) -> str:
    """Return a value as JSON, in which a brace cannot begin a placeholder of a command."""
    return json.dumps(value, ensure_ascii=False, default=str).replace("{", r"\u007b")


def _needs_no_vars(found: Translation, command: str, place: Path, beside: Beside) -> bool:
    """Report a command that reads the variables of a test, which it does not get here."""
    files = [_FUNCTION.sub("", word) for word in command.split()]
    texts = (beside.read(file) for file in files if language_of(file))
    if any(text and re.search(r"\bvars\b", text) for text in texts):
        found.refuse(place, f"`{command}` reads `vars`, which a command does not get here")
        return False
    return True


def _service(found: Translation, options: Mapping[str, Any], place: Path) -> dict[str, Any] | None:
    """Return an HTTP service; the body's prompt is the input of the case."""
    given = options.get("config") or {}
    config = given if isinstance(given, dict) else {}
    name = str(options["id"])
    at: Path = (*place, "config")
    url = config.get("url", name if "://" in name else "")
    readers = ("transformResponse", "responseParser")
    known = ("url", "method", "headers", "body", *readers, "timeout", "maxRetries")
    for key in config:
        if key not in known:
            found.refuse((*at, key), f"`{key}` of a service has no counterpart")
    target: dict[str, Any] = {"provider": "http", "url": _environment(url)}
    for key in ("method", "headers"):
        if key in config:
            target[key] = _mapped(config[key], _environment)
    if "body" in config:
        target["body"] = _mapped(config["body"], _input)
    reader = next((key for key in readers if key in config), "")
    answer = _answer(config[reader]) if reader else ""
    if answer is None:
        message = "code that reads a reply has no counterpart: `answer` is the path of a value"
        found.refuse((*at, reader), message)
    elif answer:
        target["answer"] = answer
    if "{{" in json.dumps([target["url"], target.get("headers")]).replace("${{", ""):
        found.refuse(at, "templates in `url` and `headers` have no counterpart")
    return target


def _mapped(value: Any, function: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(each, function) for key, each in value.items()}
    if isinstance(value, list):
        return [_mapped(each, function) for each in value]
    return function(value) if isinstance(value, str) else value


def _environment(text: str) -> str:
    return re.sub(r"\{\{\s*env\.(\w+)\s*\}\}", r"${{ \1 }}", text)


def _input(text: str) -> str:
    return re.sub(r"\{\{\s*prompt\s*\}\}", "{{ input }}", text)


def _answer(code: Any) -> str | None:
    """Return the path of a value in a reply: `json.choices[0].text`; None: it is other code."""
    if not isinstance(code, str) or not re.fullmatch(r"\s*json(?:\??\.\w+|\[\d+\])+\s*", code):
        return None
    steps: list[str] = re.findall(r"\w+", code)
    return "".join(f"/{step}" for step in steps[1:])


def _command(command: str, *rest: str) -> dict[str, Any]:
    words = " ".join((command, "{PROMPT}", *rest))
    return {"provider": "cli", "command_template": words, "cwd": "."}
