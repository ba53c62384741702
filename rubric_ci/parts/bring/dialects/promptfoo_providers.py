"""promptfoo's providers as targets, and the model that judges as `judge_target`."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from posixpath import join
from typing import Any, Final

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring.dialects.promptfoo_assertion_types import as_key
from rubric_ci.parts.bring.dialects.promptfoo_code import (
    SHIMS,
    VARIABLES,
    as_argument,
    language_of,
    transform_of,
)
from rubric_ci.parts.bring.dialects.promptfoo_targets import (
    IDLE,
    Service,
    is_model,
    model_of,
    run_by_shim,
    service_of,
)
from rubric_ci.parts.bring.translation import Placed, Translation, placed
from rubric_ci.text.numbers import numbered
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.problems import Path

_OWN: Final = ("id", "label", "config", "transform")
_DECIDING: Final = ("env", "inputs", "modelName", "prompts")
_FUNCTION: Final = re.compile(r":\w+$")
_NO_COUNTERPART: Final = (
    "this provider has no counterpart; define a target of the name `default`: {}"
)


@dataclass(slots=True)
class Providers:
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of each, label and id
    services: dict[str, Service] = field(default_factory=dict)
    of_tests: dict[str, str] = field(default_factory=dict)  # targets, by their providers as JSON
    left: dict[Path, tuple[str, ...]] = field(default_factory=dict)  # transforms, by their places
    transforms: tuple[str, ...] = ()  # of answers, which the checks have to apply


def add_targets(found: Translation, data: Mapping[str, Any]) -> Providers:
    key = "providers" if "providers" in data else "targets"
    providers = Providers()
    for item, where in _listed(found, data.get(key) or [], key):
        _add(found, providers, item, where)
    names = [target["name"] for target in found.targets]
    if names:
        several = len(names) > 1
        found.put(("targets" if several else "target",), names if several else names[0], (key,))
    providers.transforms = _common_transforms(found, providers.left)
    return providers


def target_of_test(found: Translation, providers: Providers, written: Placed) -> str:
    """Return the target of the provider of a test, which is added; "": it has no counterpart."""
    item, place = written
    key = as_key(item)
    if key not in providers.of_tests:
        configured = dict(providers.names)
        name = _add(found, providers, item, place)
        providers.names = configured
        if name and (providers.transforms or any(providers.left.values())):
            found.refuse(place, "`provider` of a test next to a `transform` has no counterpart")
        providers.of_tests[key] = name
    return providers.of_tests[key]


def _listed(found: Translation, written: Any, key: str) -> Iterator[Placed]:
    """Yield the providers of a list, those in files of YAML and JSON included."""
    for item, where in placed(written, (key,), alone=True):
        name = item.removeprefix("file://") if isinstance(item, str) else ""
        text = found.beside.read(name) if name.endswith((".yaml", ".yml", ".json")) else None
        data = item if text is None else Document(name, text, core=True).data
        yield from ((each, where) for each in (data if isinstance(data, list) else [data]))


def _add(found: Translation, providers: Providers, item: Any, where: Path) -> str:
    """Add a target, and return its name; "": it has no counterpart."""
    options, place = _options(item, where)
    transforms = transform_of(found, options.get("transform"), (*place, "transform"))
    target = _target(found, options, place, transforms)
    if target is None:
        return ""
    name = _name(found, options)
    if isinstance(target, Service):
        providers.services[name], target = target, target.target
    found.targets.append({"name": name, **target})
    providers.names[name] = tuple(str(options[k]) for k in ("label", "id") if options.get(k))
    shim = any(each in target.get("command_template", "") for each in SHIMS.values())
    providers.left[place] = () if shim else tuple(transforms)
    return name


def ask_as_programs(found: Translation, services: Mapping[str, Service]) -> None:
    """Let the shim ask the services, as promptfoo does."""
    for index, target in enumerate(found.targets):
        if service := services.get(target["name"]):
            found.targets[index] = {"name": target["name"], **service.program}


def runs_programs(targets: Sequence[Mapping[str, Any]]) -> bool | None:
    """Return True if all targets are programs, False if none is, None if some are."""
    programs = {target.get("provider") in ("cli", "http") for target in targets} or {False}
    return programs.pop() if len(programs) == 1 else None


def add_judge(found: Translation, known: Mapping[str, tuple[str, ...]]) -> None:
    """Take the judge of the configuration, if it names one model for all judges."""
    judges = list(found.judges.items())
    if len(judges) > 1:
        for _, place in judges[1:]:
            message = "a run has one judge: of several, this one has no counterpart"
            found.refuse(place, message)
    for written, place in judges[:1]:
        name = next((name for name, names in known.items() if json.loads(written) in names), "")
        if name and any(t["name"] == name and "model" in t for t in found.targets):
            for target in found.targets:
                target["judge_target"] = name
            continue
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
    taken = (target["name"] for target in found.targets)
    return next(numbered([str(options.get("label") or options["id"])], taken))


def _common_transforms(found: Translation, left: Mapping[Path, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the transforms that all providers have; checks do not know who answered."""
    if len({*left.values()}) == 1:
        return next(iter(left.values()))
    for place, transforms in left.items():
        if transforms:
            message = "the `transform` of one of several providers has no counterpart"
            found.refuse((*place, "transform"), message)
    return ()


def _target(
    found: Translation, options: dict[str, Any], place: Path, transforms: list[str]
) -> dict[str, Any] | Service | None:
    """Return the settings of a provider; None, and a report, without a counterpart."""
    name = str(options.get("id", ""))
    found.skip_keys(options, (*_OWN, *IDLE), _DECIDING, place)
    if name == "echo":
        found.shims.add(SHIMS["python"])
        return run_by_shim("python", ["--echo"])
    if name.startswith("exec:"):
        return _executed(found, options, place)
    if (program := _program(found, options, place, transforms)) is not None:
        return program
    if name.startswith(("http:", "https:")) or name in ("http", "https"):
        return service_of(found, options, place, transforms)
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
    found: Translation, options: Mapping[str, Any], place: Path, transforms: list[str]
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
    given = ["--config", as_argument(json.dumps(config, default=str))] if config else []
    words = [*given, as_argument(join(found.beside.base, file))]
    variables = f"{found.beside.stem}{VARIABLES}" if _reads_vars(found, file) else ""
    return run_by_shim(language, words, transforms, variables)


def _reads_vars(found: Translation, file: str) -> bool:
    """Return True for a program that reads the variables of a test, or passes its context on."""
    text = found.beside.read(_FUNCTION.sub("", file)) or ""
    return bool(re.search(r"\bvars\b", text)) or len(re.findall(r"\bcontext\b", text)) > 1


def _executed(found: Translation, options: Mapping[str, Any], place: Path) -> dict[str, Any] | None:
    """Return a command; None, and a report, for one that reads more than the prompt."""
    beside, command = found.beside, str(options["id"]).removeprefix("exec:").strip()
    files = [_FUNCTION.sub("", word) for word in command.split()]
    texts = [beside.read(file) or "" for file in files if language_of(file)]
    if any(map(_READS_MORE.search, texts)):
        found.refuse(place, "a command that reads settings or variables of promptfoo gets none")
        return None
    line = f"{command} {{PROMPT}}"
    return {"provider": "cli", "command_template": line, "cwd": beside.base}


_READS_MORE: Final = re.compile(
    r"\bvars\b|argv\s*+\[\s*+[3-9]|argv\[2:\]|argv\.slice\(2\)|\*sys\.argv"
)
"""How a command reads its settings and the variables, which promptfoo adds to the prompt."""
