"""Qwen Code: `qwen -o stream-json`, whose stream is Claude Code's without a cost."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rubric_ci.models.agents.program import (
    NO_COST,
    NO_FILES,
    Agent,
    Files,
    Start,
    events,
    finish_of,
    integer,
    mapping,
    option,
)
from rubric_ci.parts.agents import claude_code
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.json_value import JSON
from rubric_ci.values.trace import Trace

_RUN: Final = ("qwen", "-o", "stream-json", "--auth-type", "openai")
_SERVERS: Final = "mcp.json"
_TELEMETRY: Final = "telemetry.json"
_SETTINGS: Final = {
    ".qwen/settings.json": json.dumps(
        {
            # It would ask its model once more after each answer.
            "memory": {"enableManagedAutoMemory": False, "enableAutoSkill": False},
            "telemetry": {
                "enabled": True,
                "target": "local",
                "outfile": f"{{home}}/{_TELEMETRY}",
                "logPrompts": False,
            },
        }
    )
}


def _judge(model: str) -> Start:
    return Start(argv=(*_RUN, "--core-tools", "none", *option("-m", model)), files=_SETTINGS)


def _work(agent: AgentProgram, _session: str | None = None, /) -> Start:
    tools = () if agent.tools is None else agent.tools or ("none",)
    servers = {name: _server(mapping(of)) for name, of in agent.mcp_servers.items()}
    return Start(
        argv=(
            *(*_RUN, "--approval-mode", "yolo", *option("-m", agent.model)),
            *(word for name in tools for word in ("--core-tools", name)),
            *option("--max-session-turns", agent.max_turns),
            *option("--openai-base-url", agent.base_url),
            *(("--mcp-config", f"{{home}}/{_SERVERS}") if servers else ()),
            *agent.args,
        ),
        files={**_SETTINGS, **({_SERVERS: json.dumps({"mcpServers": servers})} if servers else {})},
    )


def _server(of: Mapping[str, JSON]) -> JSON:
    """Return a server with `httpUrl` for a URL: its `url` is one of server-sent events."""
    if "url" not in of or of.get("type") == "sse":
        return {**of}
    return {"httpUrl": of["url"], **{key: value for key, value in of.items() if key != "url"}}


def read_output(stdout: str, stderr: str, files: Files = NO_FILES, /) -> Trace:
    """Read the stream; its telemetry has why the last reply ended.

    Its input tokens contain those that the server had in its cache, unlike Claude Code's.
    """
    trace = claude_code.read_output(stdout, stderr)
    ends = [event for event in events(stdout) if event.get("type") == "result"]
    used = mapping(ends[-1].get("usage")) if ends else {}
    return replace(
        trace,
        finish=finish_of(files.get(_TELEMETRY, "")),
        input_tokens=integer(used.get("input_tokens")) if ends else trace.input_tokens,
    )


def _is_output(said: Mapping[str, object]) -> bool:
    return said.get("type") == "system" and "qwen_code_version" in said


AGENT: Final = Agent(
    judge=_judge,
    work=_work,
    refuses={
        "max_cost_usd": NO_COST,
        "effort": "it has no such option; set it in the settings of its server",
    },
    tools={
        "shell": ("run_shell_command",),
        "edit": ("edit", "write_file", "notebook_edit"),
        "read": ("read_file", "read_many_files"),
        "web": ("web_fetch", "web_search"),
        "": (
            *("agent", "ask_user_question", "cron_create", "cron_delete", "cron_list"),
            *("enter_worktree", "exit_plan_mode", "exit_worktree", "get_goal", "glob"),
            *("grep_search", "list_agents", "list_directory", "loop_wakeup", "monitor"),
            *("read_mcp_resource", "record_artifact", "report_findings", "send_message", "skill"),
            *("task_stop", "todo_write", "tool_call", "tool_search", "update_goal", "zoom_image"),
        ),
    },
    planted=("**/QWEN.md", "**/AGENTS.md", ".qwen/**", ".agents/**", "**/.env", ".mcp.json"),
    host="",
    read=read_output,
    keeps=(_TELEMETRY,),
    steps=claude_code.AGENT.steps,
    is_output=_is_output,
)
