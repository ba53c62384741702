"""GitHub Copilot: `copilot --output-format json`, and the events file of a session."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.models.agents.program import (
    NO_FILES,
    Agent,
    Files,
    Start,
    as_text,
    events,
    failure,
    finish_of,
    integer,
    mapping,
    milliseconds,
    option,
)
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.json_value import parsed
from rubric_ci.values.trace import Step, Trace

_USAGE: Final = "usage.json"
_SERVERS: Final = "mcp.json"
_TELEMETRY: Final = "telemetry.jsonl"
_START: Final = (
    *("copilot", "--output-format", "json", "--no-ask-user"),
    *("--usage-output-file", f"{{home}}/{_USAGE}"),
)
_ALONE: Final = ("--no-custom-instructions", "--disable-builtin-mcps", "--no-auto-update")
_HOME: Final = {
    "COPILOT_HOME": "{home}",
    "COPILOT_OTEL_FILE_EXPORTER_PATH": f"{{home}}/{_TELEMETRY}",
}


def _judge(model: str) -> Start:
    argv = (*_START, *_ALONE, "--available-tools=none", *option("--model", model))
    return Start(argv=argv, environment=_HOME)


def _work(agent: AgentProgram, session: str | None = None, /) -> Start:
    tools, servers = agent.tools, agent.mcp_servers
    argv = (
        *(*_START, *(_ALONE[1:] if agent.project_files else _ALONE), "--allow-all-tools"),
        *(() if tools is None else (f"--available-tools={','.join(tools) or 'none'}",)),
        *(("--additional-mcp-config", f"@{{home}}/{_SERVERS}") if servers else ()),
        *(*option("--model", agent.model), *option("--reasoning-effort", agent.effort)),
        *((f"--resume={session}",) if session else ()),
        *agent.args,
    )
    asks = {"COPILOT_PROVIDER_BASE_URL": agent.base_url} if agent.base_url else {}
    files = {_SERVERS: json.dumps({"mcpServers": servers})} if servers else {}
    return Start(argv=argv, environment={**_HOME, **asks}, files=files)


def read_output(stdout: str, stderr: str, files: Files = NO_FILES, /) -> Trace:
    """Read the messages after the last tool; its files have the tokens, and why a reply ended."""
    said = list(events(stdout))
    model, ended, session = "", False, ""
    tokens = _tokens(mapping(parsed(files.get(_USAGE, ""))))
    for event in said:
        data, kind = mapping(event.get("data")), event.get("type")
        if kind == "session.error":
            status = integer(data.get("statusCode")) or None
            raise failure(f"{data.get('errorType', '')}: {data.get('message', '')}", status)
        if kind == "assistant.message":
            model = str(data.get("model") or model)
        if kind == "result":
            ended, session = event.get("exitCode") == 0, str(event.get("sessionId", ""))
        if kind == "session.shutdown":
            ended, tokens = True, _tokens(data)
    if not ended:
        raise failure(stderr or stdout)
    return Trace(
        answer=_answer(said),
        steps=tuple(_steps(said)),
        finish=finish_of(files.get(_TELEMETRY, "")),
        model=model,
        session=session,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
    )


def _answer(said: list[Mapping[str, Any]]) -> str:
    """Return the text after the last tool.

    NOTE: a reply that reached the limit of tokens is continued, and only its pieces are printed;
    the message has the last part.
    """
    before, pieces, whole = "", "", ""
    for event in said:
        data = mapping(event.get("data"))
        match event.get("type"):
            case "assistant.message_delta":
                pieces += str(data.get("deltaContent", ""))
            case "assistant.turn_end":
                before, pieces = before + pieces, ""
            case "assistant.message":
                whole, pieces = before + str(data.get("content") or ""), ""
            case "tool.execution_start" | "tool.execution_complete":
                before, pieces, whole = "", "", ""
    return whole


def _steps(said: list[Mapping[str, Any]]) -> Iterator[Step]:
    done = {
        str(mapping(event.get("data")).get("toolCallId")): event
        for event in said
        if event.get("type") == "tool.execution_complete"
    }
    for event in said:
        if event.get("type") != "tool.execution_start":
            continue
        data = mapping(event.get("data"))
        end = done.get(str(data.get("toolCallId")), {})
        result = mapping(end.get("data"))
        error = mapping(result.get("error"))
        failed = result.get("success") is not True
        status = integer(mapping(result.get("shellExecution")).get("exitCode"))
        reason = str(error.get("message") or error.get("code") or "no result") if failed else ""
        yield Step(
            tool=str(data.get("toolName", "")),
            arguments=data.get("arguments"),
            result=as_text(mapping(result.get("result")).get("content")),
            error=reason or (f"exit status {status}" if status else ""),
            duration_ms=milliseconds(event.get("timestamp"), end.get("timestamp")),
        )


def _tokens(data: Mapping[str, Any]) -> tuple[int, int]:
    used = [mapping(mapping(m).get("usage")) for m in mapping(data.get("modelMetrics")).values()]
    return (
        sum(integer(each.get("inputTokens")) for each in used),
        sum(integer(each.get("outputTokens")) for each in used),
    )


def _turns(printed: bytes) -> int:
    """Return the turns before the one that began last."""
    return printed.count(b'"type":"assistant.turn_start"') - 1


def _is_output(said: Mapping[str, object]) -> bool:
    return said.get("type") == "result" and "sessionId" in said and "exitCode" in said


AGENT: Final = Agent(
    judge=_judge,
    work=_work,
    refuses={"max_cost_usd": "it counts credits; write `args: [--max-ai-credits=N]`"},
    tools={
        "shell": ("bash", "powershell"),
        "edit": ("edit", "create", "apply_patch", "str_replace_editor"),
        "read": ("view",),
        "web": ("web_fetch", "web_search"),
        "": (
            *("ask_user", "fetch_copilot_cli_documentation", "glob", "grep", "list_agents"),
            *("list_bash", "read_agent", "read_bash", "report_intent", "rg", "session_store_sql"),
            *("show_file", "skill", "sql", "stop_bash", "store_memory", "task", "update_todo"),
            *("write_agent", "write_bash"),
        ),
    },
    server_tools="{}-",
    planted=(
        *("**/AGENTS.md", ".github/copilot-instructions.md", ".github/instructions/**"),
        *(".github/hooks/**", ".github/agents/**", ".github/skills/**", ".agents/**"),
        *(".mcp.json", ".vscode/mcp.json"),
    ),
    host="https://api.githubcopilot.com",
    turns=_turns,
    resumes=True,
    adds_up=("input_tokens", "output_tokens"),
    read=read_output,
    steps=lambda stdout: _steps(list(events(stdout))),
    keeps=(_USAGE, _TELEMETRY),
    is_output=_is_output,
)
