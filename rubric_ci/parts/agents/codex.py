"""Codex: `codex exec --json`, its events and its rollout files.

It reports no cost, no model and no times; a rollout file has times.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rubric_ci.models.agents.program import (
    NO_COST,
    NO_FILES,
    Agent,
    Files,
    Start,
    as_text,
    duration_ms,
    events,
    failure,
    integer,
    items,
    mapping,
    option,
)
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.json_value import JSON
from rubric_ci.values.trace import Step, Trace

_EXEC: Final = ("codex", "exec", "--json", "--skip-git-repo-check")
_ALONE: Final = ("--ignore-user-config", "--ignore-rules", "-c", "project_doc_max_bytes=0")
_NO_SEARCH: Final = ("-c", 'web_search="disabled"')
# Without it every command makes `.git` in the shared temporary folder while it runs.
_OWN_TMP: Final = ("-c", "sandbox_workspace_write.exclude_slash_tmp=true")
_HOME: Final = {"CODEX_HOME": "{home}"}
_SERVER_KEYS: Final = {"headers": "http_headers"}
_KINDS: Final = {"item_started": "item.started", "item_completed": "item.completed"}
_NO_WORK: Final = frozenset({"agent_message", "reasoning", "todo_list", "error"})


# `view_image` reads files of the host in Codex's own process, outside of the sandbox; scripts of
# the code mode call it and `apply_patch`. A version that does not know a name refuses to start.
_NO_TOOLS: Final = ("shell_tool", "apps", "plugins", "view_image", "code_mode_host")


def _judge(model: str) -> Start:
    off = (word for feature in _NO_TOOLS for word in ("--disable", feature))
    argv = (
        *(*_EXEC, "--ephemeral", "-s", "read-only", *_ALONE, *_NO_SEARCH),
        *(*off, *option("-m", model), "-"),
    )
    return Start(argv=argv, environment=_HOME)


def _work(agent: AgentProgram, session: str | None = None, /) -> Start:
    """Return the start; its tools cannot be chosen, so a list of them only turns writing off."""
    tools = agent.tools
    mode = "workspace-write" if tools is None or "apply_patch" in tools else "read-only"
    alone = _ALONE[:2] if agent.project_files else _ALONE
    argv = (
        *(*_EXEC, *(("--ephemeral",) if session is None else ()), "-s", mode),
        *(*alone, *_NO_SEARCH, *_OWN_TMP, *option("-m", agent.model)),
        *(word for setting in _settings(agent) for word in ("-c", setting)),
        *(*agent.args, *option("resume", session), "-"),
    )
    return Start(argv=argv, environment=_HOME)


def _writable(folders: Sequence[str]) -> tuple[str, ...]:
    return "-c", f"sandbox_workspace_write.writable_roots={json.dumps([*folders])}"


def _settings(agent: AgentProgram) -> Iterator[str]:
    """Yield its settings in TOML; JSON's strings and lists are TOML's."""
    if agent.effort:
        yield f"model_reasoning_effort={json.dumps(agent.effort)}"
    if agent.base_url:
        server = {"name": "own", "base_url": agent.base_url, "env_key": "CODEX_API_KEY"}
        yield 'model_provider="own"'
        yield f"model_providers.own={_toml({**server, 'wire_api': 'responses'})}"
    # One table: a quoted name in the path of a setting keeps its quotes.
    if servers := {name: _server(of) for name, of in agent.mcp_servers.items()}:
        yield f"mcp_servers={_toml(servers)}"


def _server(of: JSON) -> JSON:
    settings = {_SERVER_KEYS.get(key, key): value for key, value in mapping(of).items()}
    return {**settings, "default_tools_approval_mode": "approve"}


def _toml(value: JSON) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    pairs = (f"{json.dumps(key)}={_toml(each)}" for key, each in value.items() if key != "type")
    return "{" + ", ".join(pairs) + "}"


def read_output(stdout: str, stderr: str, _: Files = NO_FILES, /) -> Trace:
    """Read the last message of a turn that was completed; one before a tool is a preamble."""
    text, used, steps, session = "", None, tuple(_steps(stdout)), ""
    for event in _unwrapped(stdout):
        item, kind = mapping(event.get("item")), event.get("type")
        session = str(event.get("thread_id") or session)
        if kind == "turn.failed":
            raise failure(str(mapping(event.get("error")).get("message", "")))
        if kind == "item.completed" and item.get("type") == "agent_message":
            text = str(item.get("text", ""))
        elif kind in {"item.started", "item.completed"} and item.get("type") not in _NO_WORK:
            text = ""
        if kind in {"turn.completed", "task_complete"}:
            used = mapping(event.get("usage"))
            text = text if steps else str(event.get("last_agent_message") or text)
    if used is None:
        raise failure(stderr or stdout)
    return Trace(
        answer=text,
        steps=steps,
        session=session,
        input_tokens=integer(used.get("input_tokens")),
        output_tokens=integer(used.get("output_tokens")),
    )


def _steps(stdout: str) -> Iterator[Step]:
    """Yield the steps; one that the turn left behind, such as a command that runs on, is open."""
    said = [(event.get("type"), mapping(event.get("item")), event) for event in _unwrapped(stdout)]
    done = {item.get("id") for kind, item, _ in said if kind == "item.completed"}
    for kind, item, event in said:
        if kind == "item.completed":
            yield from _step(item, event)
        elif kind == "item.started" and item.get("id") not in done:
            yield from (replace(step, error="no result") for step in _step(item, event))


def _unwrapped(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield events; in a rollout file an event is the payload of its line."""
    for event in events(text):
        payload = mapping(event.get("payload"))
        kind = str(payload.get("type", ""))
        yield {**payload, "type": _KINDS.get(kind, kind)} if payload else event


def _step(item: Mapping[str, Any], event: Mapping[str, Any]) -> Iterator[Step]:
    times = "started_at_ms", "completed_at_ms"
    took = duration_ms(item, *times) or duration_ms(event, *times)
    match item:
        case {"type": "command_execution", "command": command}:
            output, status = as_text(item.get("aggregated_output")), item.get("exit_code")
            failed = item.get("status") in {"failed", "declined"} or status not in {0, None}
            yield Step(
                tool="shell",
                arguments={"command": command},
                result=output,
                error=f"exit status {status}" if failed else "",
                duration_ms=took,
            )
        case {"type": "file_change"}:
            failed = item.get("status") == "failed"
            yield Step(
                tool="apply_patch",
                arguments={"changes": items(item.get("changes"))},
                error="the patch failed" if failed else "",
                duration_ms=took,
            )
        case {"type": "mcp_tool_call"}:
            error = item.get("error")
            yield Step(
                tool=f"mcp__{item.get('server', '')}__{item.get('tool', '')}",
                arguments=item.get("arguments"),
                result=as_text(item.get("result")),
                error=as_text(mapping(error).get("message", error)),
                duration_ms=took,
            )
        case {"type": "web_search"}:
            yield Step(tool="web_search", arguments={"query": item.get("query")}, duration_ms=took)


def _is_output(said: Mapping[str, object]) -> bool:
    return said.get("type") == "thread.started" and "thread_id" in said


AGENT: Final = Agent(
    judge=_judge,
    work=_work,
    refuses={
        "max_turns": "it has no limit of turns; set `timeout_seconds`",
        "max_cost_usd": NO_COST,
    },
    tools={"shell": ("shell",), "edit": ("apply_patch",), "web": ("web_search",)},
    planted=("**/AGENTS.md", "**/AGENTS.override.md", ".codex/**", ".agents/**"),
    host="https://api.openai.com",
    writes=_writable,
    restarts=True,
    resumes=True,
    adds_up=("input_tokens", "output_tokens"),
    read=read_output,
    steps=_steps,
    is_output=_is_output,
)
