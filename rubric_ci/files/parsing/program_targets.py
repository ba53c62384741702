"""Checked targets that start a program: commands, agents and runners of other tools."""

from dataclasses import replace
from typing import Any, Final

from rubric_ci.files.validation.config_summary import KINDS, STARTED, is_of_agentv
from rubric_ci.values.agent_names_and_credentials import AGENT_CONCURRENCY, AGENT_TIMEOUT
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.prompt_and_skill import Skill
from rubric_ci.values.targets import CliTarget, RunnerTarget
from rubric_ci.values.workspace_settings import Workspace
from rubric_ci.values.written_keys import read_keys

PROGRAMS: Final = ("cli", "runner", *STARTED)


def program_target(
    data: dict[str, Any], file: str, skill: Skill | None
) -> CliTarget | RunnerTarget:
    name = data["provider"].lower()
    if name == "runner":
        return read_keys(RunnerTarget, data, "" if is_of_agentv(file) else file)
    target = _command(data, file) if name == "cli" else _agent(data, name, file)
    if skill is None:
        return target
    own = target.depends_on
    depends_on = None if own is None else (*own, f"{skill.path}/**")
    return replace(target, skill=skill, depends_on=depends_on)


def _command(data: dict[str, Any], file: str) -> CliTarget:
    """Return a command; its folders count from the file, or from each eval file."""
    agentv, within = is_of_agentv(file), "workspace" in data
    target = read_keys(CliTarget, data, "" if agentv else file, cwd_from_eval_folder=agentv)
    work = read_keys(Workspace, data["workspace"], file) if within else None
    return replace(target, workspace=work, cwd=data.get("cwd", ".") if within else target.cwd)


def _agent(data: dict[str, Any], name: str, file: str) -> CliTarget:
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
