"""Checked targets that start a program: commands, agents and runners of other tools."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from posixpath import dirname, join, normpath
from typing import Any, Final

from rubric_ci.files.validation.agentv import snake_cased
from rubric_ci.files.validation.config_summary import STARTED, is_of_agentv
from rubric_ci.values.agent_names_and_credentials import AGENT_CONCURRENCY, AGENT_TIMEOUT
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.config import CliTarget, RunnerTarget
from rubric_ci.values.prompt_and_skill import Skill
from rubric_ci.values.workspace_settings import GitSource, Hook, Hooks, Workspace
from rubric_ci.values.written_keys import read

PROGRAMS: Final = ("cli", "runner", *STARTED)


def program_target(
    data: dict[str, Any], shared: dict[str, Any], file: str, skill: Skill | None
) -> CliTarget | RunnerTarget:
    """Return a target whose provider is one of `PROGRAMS`."""
    name = data["provider"].lower()
    if name == "runner":
        return _runner(data, file)
    target = _command(data, file) if name == "cli" else _agent(data, name, shared, file)
    return _with_skill(target, skill) if skill else target


def _with_skill(target: CliTarget, skill: Skill) -> CliTarget:
    """Return a command with a skill; its answers depend on the folder of the skill."""
    own = target.depends_on
    depends_on = None if own is None else (*own, f"{skill.path}/**")
    return replace(target, skill=skill, depends_on=depends_on)


def _command(data: dict[str, Any], file: str) -> CliTarget:
    """Return a command; its folders count from the file, or from each eval file."""
    return read(
        CliTarget,
        data,
        workspace=workspace(data["workspace"], file) if "workspace" in data else None,
        cwd=data.get("cwd", ".") if "workspace" in data else _folder(file, data.get("cwd", ".")),
        cwd_from_eval_folder=is_of_agentv(file),
        healthcheck=_healthcheck(data.get("healthcheck"), file),
    )


def _agent(data: dict[str, Any], name: str, shared: dict[str, Any], file: str) -> CliTarget:
    """Return an agent; its answers depend on the files that are copied for it."""
    own = workspace(data.get("workspace", {}), file)
    target = CliTarget(
        **shared,
        agent=read(AgentProgram, data, name=name),
        workspace=own,
        timeout_seconds=float(data.get("timeout_seconds", AGENT_TIMEOUT)),
        cost_per_run=data.get("cost_per_run"),
        env=tuple(data.get("env", ())),
        concurrency=data.get("concurrency", AGENT_CONCURRENCY),
        cache=data.get("cache", True),
    )
    written = "depends_on" in data
    depends_on = tuple(data["depends_on"]) if written else target.assumed_dependencies
    return replace(target, depends_on=depends_on)


def workspace(data: dict[str, Any], file: str) -> Workspace:
    """Return the workspace of a target, a suite or a case."""
    setup, sandbox = data.get("setup", ""), data.get("sandbox", ())
    image = sandbox["container"] if isinstance(sandbox, dict) else ""
    return read(
        Workspace,
        data,
        copy=from_root(file, data["copy"]) if "copy" in data else "",
        git=_git(data["git"], file) if "git" in data else None,
        repos=tuple(_git(each, file) for each in data.get("repos", ())),
        setup=setup if isinstance(setup, str) else tuple(setup),
        hooks=Hooks(**{name: _hook(hook, file) for name, hook in _known(data.get("hooks", {}))}),
        sandbox=() if image else tuple(sandbox),
        container=image,
    )


def _known(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values, except the reader's own ones."""
    return ((key, value) for key, value in data.items() if not key.startswith("x-"))


def _hook(data: Mapping[str, Any], file: str) -> Hook:
    return read(Hook, data, cwd=from_root(file, data.get("cwd", ".")))


def _git(data: Mapping[str, Any], file: str) -> GitSource:
    path = from_root(file, data["path"]) if "path" in data else ""
    into = normpath(data["into"]) if "into" in data else ""
    return read(GitSource, data, path=path, into=into)


def _runner(data: Mapping[str, Any], file: str) -> RunnerTarget:
    return read(RunnerTarget, data, cwd=_folder(file, data.get("cwd", ".")))


def _healthcheck(written: dict[str, Any] | None, file: str) -> dict[str, Any] | None:
    if written is None:
        return None
    check = snake_cased(written)
    return {**check, "cwd": _folder(file, check["cwd"])} if "cwd" in check else check


def _folder(file: str, folder: str) -> str:
    """Resolve a folder relative to the file, unless the eval file or a variable decides it."""
    if is_of_agentv(file) or folder.startswith("${{"):
        return folder
    return from_root(file, folder)


def from_root(file: str, path: str) -> str:
    """Resolve a path relative to the file."""
    return normpath(join(dirname(file), path))
