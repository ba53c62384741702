"""Claude Code: `claude -p`, its envelope, its stream and its session files.

A failure has `is_error` with the subtype `success`, and may exit with status 0.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.models.agents.program import (
    NO_FILES,
    Agent,
    AgentFailed,
    Files,
    Start,
    as_text,
    events,
    failure,
    integer,
    is_refusal,
    items,
    mapping,
    milliseconds,
    number,
    option,
)
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.json_value import JSON
from rubric_ci.values.trace import Finish, Step, Trace

SYSTEM: Final = "You mark answers against criteria. Reply with one JSON object and use no tool."
_PRINT: Final = ("claude", "-p", "--output-format", "stream-json", "--verbose")
_CAP: Final = "--max-budget-usd"
_SERVERS: Final = "mcp.json"
_READ: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_ALONE: Final = ("--strict-mcp-config", "--setting-sources", "", "--disable-slash-commands")


def _judge(model: str) -> Start:
    return Start(
        argv=(
            *(*_PRINT, "--restricted", *_ALONE[:3]),
            *("--tools", "", "--disable-slash-commands"),
            *("--no-session-persistence", "--system-prompt", SYSTEM, *option("--model", model)),
        )
    )


def _work(agent: AgentProgram, session: str | None = None, /) -> Start:
    chosen = ["Bash"] if agent.tools is None else list(agent.tools)
    own = () if agent.tools is None else ("--tools", ",".join(chosen))
    servers = agent.mcp_servers
    allowed = ",".join([*chosen, *(f"mcp__{name}" for name in servers)])
    return Start(
        argv=(
            *_PRINT,
            *(() if agent.project_files else _ALONE),
            *(("--mcp-config", f"{{home}}/{_SERVERS}") if servers else ()),
            *(("--no-session-persistence",) if session is None else option("--resume", session)),
            *("--permission-mode", "acceptEdits", *own),
            *(*option("--allowedTools", allowed), *option("--model", agent.model)),
            *(*option("--max-turns", agent.max_turns), *option("--effort", agent.effort)),
            *(*option(_CAP, agent.max_cost_usd), *agent.args),
        ),
        environment={"ANTHROPIC_BASE_URL": agent.base_url} if agent.base_url else {},
        files={_SERVERS: json.dumps({"mcpServers": _typed(servers)})} if servers else {},
    )


def _typed(servers: Mapping[str, JSON]) -> JSON:
    """Return servers with a type where they have a URL: it would leave them out without a word."""
    return {
        name: {"type": "http", **of} if "url" in (of := mapping(given)) else of
        for name, given in servers.items()
    }


def read_output(stdout: str, stderr: str, _: Files = NO_FILES, /) -> Trace:
    """Read the envelope, the stream or a session file."""
    said = list(events(stdout))
    steps = tuple(_steps(said))
    ends = [event for event in said if event.get("type") == "result"]
    if not ends and any("sessionId" in event for event in said):
        return _session(said, steps)
    if not ends:
        raise _without_result(said, stderr) if said else failure(stdout.strip() or stderr)
    trace = _result(ends[-1], steps)
    if not steps and not trace.output_tokens and is_refusal(trace.answer):
        raise failure(trace.answer)
    return trace


def _without_result(said: list[Mapping[str, Any]], stderr: str) -> AgentFailed:
    """Return the error of a stream that has no result: its last retry, else the end of stderr."""
    retries = [event for event in said if event.get("subtype") == "api_retry"]
    if not retries:
        last = stderr.strip().splitlines()[-1:]
        return failure(": ".join(("the stream has no result", *last)))
    status = integer(retries[-1].get("error_status"))
    tried = f"status {status}, {len(retries) + 1} requests"
    return failure(f"{retries[-1].get('error', 'no reply')} ({tried})", status or None)


def _is_refused(printed: bytes) -> bool:
    """Return True after two requests without a valid credential; it would send nine more."""
    return printed.count(b'"error_status":401') >= 2


def _result(said: Mapping[str, Any], steps: tuple[Step, ...]) -> Trace:
    text, status = said.get("result"), integer(said.get("api_error_status"))
    errors = "; ".join(map(str, items(said.get("errors"))))
    if said.get("is_error") or said.get("subtype") != "success" or not isinstance(text, str):
        spent = number(said.get("total_cost_usd"))
        told = mapping(said.get("error")).get("message")
        raise failure(errors or str(text or told or said.get("subtype")), status or None, spent)
    stop, used = said.get("stop_reason"), mapping(said.get("usage"))
    ends: Mapping[JSON, Finish] = {"refusal": "refusal", "max_tokens": "length"}
    return Trace(
        answer=text,
        steps=steps,
        finish=ends.get(stop, "stop"),
        input_tokens=_read_tokens(used),
        output_tokens=integer(used.get("output_tokens")),
        cost_usd=number(said.get("total_cost_usd")),
        duration_ms=number(said.get("duration_ms")),
        model=_main_model(mapping(said.get("modelUsage"))),
        session=str(said.get("session_id") or ""),
    )


def _read_tokens(used: Mapping[str, Any]) -> int:
    return sum(integer(used.get(name)) for name in _READ)


def _session(said: list[Mapping[str, Any]], steps: tuple[Step, ...]) -> Trace:
    """Return the contents of a session file: no cost, and the usage of each message."""
    messages = [mapping(e.get("message")) for e in said if e.get("type") == "assistant"]
    by_id = {str(m.get("id", n)): mapping(m.get("usage")) for n, m in enumerate(messages)}
    texts = [as_text([p for p in _parts(m) if p.get("type") == "text"] or None) for m in messages]
    times = [e["timestamp"] for e in said if isinstance(e.get("timestamp"), str)]
    return Trace(
        answer=next((text for text in reversed(texts) if text), ""),
        steps=steps,
        input_tokens=sum(map(_read_tokens, by_id.values())),
        output_tokens=sum(integer(used.get("output_tokens")) for used in by_id.values()),
        duration_ms=milliseconds(times[0], times[-1]) if times else None,
        model=next((str(m["model"]) for m in messages if m.get("model")), ""),
    )


def _steps(said: list[Mapping[str, Any]]) -> Iterator[Step]:
    done = {
        str(part.get("tool_use_id")): (part, event.get("timestamp"))
        for event in said
        if event.get("type") == "user"
        for part in _parts(mapping(event.get("message")))
        if part.get("type") == "tool_result"
    }
    for event in said:
        if event.get("type") != "assistant":
            continue
        for part in _parts(mapping(event.get("message"))):
            if part.get("type") == "tool_use":
                result, ended = done.get(str(part.get("id")), ({"is_error": True}, None))
                text = as_text(result.get("content"))
                failed = bool(result.get("is_error"))
                yield Step(
                    tool=str(part.get("name", "")),
                    arguments=part.get("input"),
                    result="" if failed else text,
                    error=(text or "no result") if failed else "",
                    duration_ms=milliseconds(event.get("timestamp"), ended),
                )


def _parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [mapping(part) for part in items(message.get("content"))]


def _main_model(usage: Mapping[str, Any]) -> str:
    """Return the model that wrote most; small ones summarize and title."""
    return max(
        usage, key=lambda name: integer(mapping(usage[name]).get("outputTokens")), default=""
    )


def _is_output(said: Mapping[str, object]) -> bool:
    match said:
        case {"type": "result", "subtype": str(), "session_id": _}:
            return True
        case {"type": "system", "subtype": "init", "session_id": _}:
            return True
    return False


AGENT: Final = Agent(
    judge=_judge,
    work=_work,
    tools={
        "shell": ("Bash", "PowerShell"),
        "edit": ("Edit", "Write", "MultiEdit", "NotebookEdit"),
        "read": ("Read",),
        "web": ("WebFetch", "WebSearch"),
        "": (
            *("Agent", "AskUserQuestion", "BashOutput", "CronCreate", "CronDelete", "CronList"),
            *("DesignSync", "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree"),
            *("Glob", "Grep", "KillShell", "ListAgents", "ListMcpResourcesTool", "LSP", "Monitor"),
            *("ReadMcpResourceTool", "ReportFindings", "ScheduleWakeup", "SendMessage", "Skill"),
            *("StructuredOutput", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput"),
            *("TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch", "Workflow"),
        ),
    },
    planted=("**/CLAUDE.md", "**/CLAUDE.local.md", "**/.claude/**", ".mcp.json"),
    host="https://api.anthropic.com",
    cap=_CAP,
    read=read_output,
    steps=lambda stdout: _steps(list(events(stdout))),
    gives_up=_is_refused,
    resumes=True,
    adds_up=("cost_usd",),
    is_output=_is_output,
)
