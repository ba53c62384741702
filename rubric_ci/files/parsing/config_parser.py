"""Checked configuration data to `Config` and targets: aliases become canonical names."""

from collections.abc import Mapping
from dataclasses import replace
from posixpath import basename, dirname
from typing import TYPE_CHECKING, Any, Final

from rubric_ci.files.validation.agentv import normalised_target, snake_cased
from rubric_ci.files.validation.config_summary import KINDS, STARTED, glob_from_root, is_of_agentv
from rubric_ci.files.validation.includes import criteria_by_id, shared_of
from rubric_ci.files.validation.reference_rules import SKILL_FILE
from rubric_ci.files.validation.rubric_files import SHARED
from rubric_ci.files.validation.target_rules import is_idle
from rubric_ci.files.yaml_text.source import Source
from rubric_ci.text.suggestions import ALIASES
from rubric_ci.values.agent_names_and_credentials import (
    AGENT_CONCURRENCY,
    AGENT_TIMEOUT,
    AGENTV_AGENTS,
    ALIAS,
    COMMAND_TIMEOUT,
    NOT_STARTED,
)
from rubric_ci.values.agent_program import (
    AgentProgram,
    HttpRequest,
    JudgeCommand,
    ServiceOptions,
    ServiceProgram,
)
from rubric_ci.values.config import Config, JudgeConfig
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.hosts import WorkloadIdentity
from rubric_ci.values.model_end_and_parameters import NAMES, ModelCall
from rubric_ci.values.references import Found, Lookup
from rubric_ci.values.scoring import DECIMALS, Thresholds
from rubric_ci.values.targets import (
    CliTarget,
    Endpoint,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    RunnerTarget,
    ServiceTarget,
    Target,
    UnsupportedTarget,
)
from rubric_ci.values.workspace_settings import PromptTemplate, Skill, Workspace
from rubric_ci.values.written_keys import declared, keys_of, read_keys

if TYPE_CHECKING:
    from rubric_ci.files.yaml_text.prompt_file import PromptFile


_AT_HAND: Final[Mapping[str, type[Target]]] = {"recorded": RecordedTarget, "mock": MockTarget}
"""The targets without a request."""
_OPTIONS: Final = {each: name for name, _, key in declared(ModelCall) for each in key.aliases}
_NOT_OPTIONS: Final = frozenset(
    (
        *(*keys_of(LlmTarget), *NAMES, "provider", "timeout_seconds", "prompt", "skill"),
        *("settings", "cost_per_run"),
    )
)
"""Keys of a target that is a model, besides those without effect."""


def read_config(document: Source, lookup: Lookup) -> Config:
    """Return the configuration; paths become relative to the repository root.

    `lookup` finds the prompt files of targets.
    """
    data = document.data
    return read_keys(
        Config,
        data,
        evals=tuple(glob_from_root(document.file, glob) for glob in data.get("evals", ())),
        judge=_judge(data["judge"]) if "judge" in data else None,
        targets={target.name: target for target in read_targets(document, lookup)},
        gate=_gate(data.get("gate", {})),
        shared_rubrics=criteria_by_id(shared_of(document, lookup)) if SHARED in data else {},
    )


def read_targets(document: Source, lookup: Lookup) -> tuple[Target, ...]:
    return tuple(
        _target(normalised_target(target), document.file, lookup)
        for target in document.data.get("targets", ())
    )


def _judge(data: Any) -> JudgeConfig:
    if isinstance(data, str):
        return JudgeConfig(endpoint=Endpoint(model=data))
    if several := data.get("panel"):
        return _panel(several, data)
    if "cli" in data or "command" in data:
        return read_keys(JudgeConfig, {"canary": True, **data}, endpoint=_command(data))
    endpoint = _endpoint(snake_cased(data))
    identity = _identity(data["auth"]) if "auth" in data else None
    return read_keys(JudgeConfig, data, endpoint=replace(endpoint, identity=identity))


def _identity(data: dict[str, Any]) -> WorkloadIdentity:
    oidc = data["oidc"]
    return read_keys(
        WorkloadIdentity, {**data, **oidc, "oidc": ""} if isinstance(oidc, dict) else data
    )


def _panel(several: list[Any], data: dict[str, Any]) -> JudgeConfig:
    """Return a panel; the canary is on if one of its judges is a command."""
    judges = [_judge(each) for each in several]
    first, *others = (judge.endpoint for judge in judges)
    canary = any(judge.canary for judge in judges)
    return read_keys(JudgeConfig, {"canary": canary, **data}, endpoint=first, others=tuple(others))


def _command(data: dict[str, Any]) -> Endpoint:
    """Return a command that judges, under its name in reports."""
    command = read_keys(JudgeCommand, data)
    own = f"command/{basename(command.argv[0])}" if command.argv else command.cli
    return Endpoint(
        model=f"{own}/{command.model}" if command.model else own,
        timeout_seconds=float(data.get("timeout_seconds", COMMAND_TIMEOUT)),
        command=command,
    )


def _gate(data: dict[str, Any]) -> GateConfig:
    written = read_keys(Thresholds, data.get("thresholds", {}))
    thresholds = Thresholds(
        passing=round(written.passing, DECIMALS), borderline=round(written.borderline, DECIMALS)
    )
    return read_keys(GateConfig, data, thresholds=thresholds)


def _target(data: dict[str, Any], file: str, lookup: Lookup) -> Target:
    match data.get("provider", "").lower():
        case provider if provider in PROGRAMS and not (
            provider in AGENTV_AGENTS and is_of_agentv(file)
        ):
            return program_target(data, file, _skill(data, lookup))
        case provider if provider in _AT_HAND:
            return read_keys(_AT_HAND[provider], data, file)
        case provider if provider in AGENTV_AGENTS:
            reason = f"see `rubric-ci validate {file}`" if provider == NOT_STARTED else ""
            alias = data.get(ALIAS, "") if is_of_agentv(file) else ""
            return read_keys(UnsupportedTarget, data, provider=provider, reason=reason, alias=alias)
        case "http":
            program = read_keys(ServiceProgram, data, file) if "start" in data else None
            return read_keys(ServiceTarget, data, endpoint=_connection(data), program=program)
        case _:
            prompt = _prompt(data, lookup)
            options = {**_prompt_options(prompt, data), **data}
            return read_keys(
                LlmTarget,
                data,
                endpoint=_endpoint(options),
                prompt=_template(prompt) if prompt else None,
                skill=_skill(data, lookup),
            )


def _skill(data: dict[str, Any], lookup: Lookup) -> Skill | None:
    if "skill" not in data:
        return None
    found = lookup(f"{data['skill']}/{SKILL_FILE}")
    if not isinstance(found, Found):
        raise TypeError(f"{data['skill']} was found by the checks: {found.reason}")
    return Skill(path=dirname(found.path), text=found.text)


def _prompt(data: dict[str, Any], lookup: Lookup) -> "PromptFile | None":
    if "prompt" not in data:
        return None
    from rubric_ci.files.yaml_text.prompt_file import open_prompt  # few targets have a prompt

    found = lookup(data["prompt"])
    if not isinstance(found, Found):
        raise TypeError(f"{data['prompt']} was found by the checks: {found.reason}")
    return open_prompt(found.path, found.text)


def _prompt_options(prompt: "PromptFile | None", data: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a prompt file, and its model unless the target has one."""
    if prompt is None:
        return {}
    named = prompt.model and not any(name in data for name in NAMES)
    return {**prompt.options, **({"model": prompt.model} if named else {})}


def _template(prompt: "PromptFile") -> PromptTemplate:
    takes_input = "input" in prompt.names
    messages: Any = prompt.messages
    return PromptTemplate(path=prompt.path, messages=messages, takes_input=takes_input)


def _endpoint(data: dict[str, Any]) -> Endpoint:
    """Return the model under its litellm name; unknown keys are options of the call."""
    provider = data.get("provider", "").lower()
    prefix = ALIASES.get(provider, provider)
    model, *others = NAMES
    names = (*others[:2], model, *others[2:]) if prefix == "azure" else NAMES
    name = next(data[key] for key in names if key in data)
    return Endpoint(
        model=f"{prefix}/{name}" if prefix and not name.startswith(f"{prefix}/") else name,
        options={
            _OPTIONS.get(key, key): value
            for key, value in {**data.get("settings", {}), **data}.items()
            if not (key in _NOT_OPTIONS or is_idle(key) or key.startswith("x-"))
        },
        timeout_seconds=float(data.get("timeout_seconds", 60.0)),
    )


def _connection(data: Mapping[str, Any]) -> Endpoint:
    """Return how the service is asked; before a reply its price is not known, and not reserved."""
    keys = {key.name or name: name for name, _, key in declared(ServiceOptions)}
    return Endpoint(
        model=f"http/{data['name']}",
        options={
            **{name: data[key] for key, name in keys.items() if key in data},
            **dict.fromkeys(("input_cost_per_token", "output_cost_per_token"), 0.0),
        },
        timeout_seconds=float(data.get("timeout_seconds", 60.0)),
        http=read_keys(HttpRequest, data),
    )


PROGRAMS: Final = ("cli", "runner", *STARTED)


def program_target(
    data: dict[str, Any], file: str, skill: Skill | None
) -> CliTarget | RunnerTarget:
    name = data["provider"].lower()
    if name == "runner":
        return read_keys(RunnerTarget, data, "" if is_of_agentv(file) else file)
    target = _command_target(data, file) if name == "cli" else _agent_target(data, name, file)
    if skill is None:
        return target
    own = target.depends_on
    depends_on = None if own is None else (*own, f"{skill.path}/**")
    return replace(target, skill=skill, depends_on=depends_on)


def _command_target(data: dict[str, Any], file: str) -> CliTarget:
    """Return a command; its folders count from the file, or from each eval file."""
    agentv, within = is_of_agentv(file), "workspace" in data
    target = read_keys(CliTarget, data, "" if agentv else file, cwd_from_eval_folder=agentv)
    work = read_keys(Workspace, data["workspace"], file) if within else None
    return replace(target, workspace=work, cwd=data.get("cwd", ".") if within else target.cwd)


def _agent_target(data: dict[str, Any], name: str, file: str) -> CliTarget:
    """Return an agent; its answers depend on the files that are copied for it."""
    own = {key: data[key] for key in (*KINDS[name].shared, "env") if key in data}
    target = read_keys(
        CliTarget,
        {"timeout_seconds": AGENT_TIMEOUT, "concurrency": AGENT_CONCURRENCY, **own},
        agent=read_keys(AgentProgram, data, name=name),
        workspace=read_keys(Workspace, data.get("workspace", {}), file),
    )
    written = "depends_on" in data
    return target if written else replace(target, depends_on=target.assumed_dependencies)
