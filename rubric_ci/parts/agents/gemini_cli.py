"""Gemini CLI: `gemini -o json` and `-o stream-json`; its errors are on stderr, after logs."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.models.agents.program import (
    NO_COST,
    NO_FILES,
    Agent,
    Files,
    Start,
    as_text,
    events,
    failure,
    finish_of,
    integer,
    items,
    last_object,
    mapping,
    milliseconds,
    number,
    option,
)
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.json_value import JSON, parsed
from rubric_ci.values.trace import Step, Trace

_SETTINGS: Final = ".gemini/settings.json"
_TELEMETRY: Final = "telemetry.json"
_TOLD: Final = {
    "GEMINI_TELEMETRY_ENABLED": "true",
    "GEMINI_TELEMETRY_TARGET": "local",
    "GEMINI_TELEMETRY_LOG_PROMPTS": "false",
    "GEMINI_TELEMETRY_OUTFILE": f"{{home}}/{_TELEMETRY}",
}
_SESSIONS: Final = ".gemini/tmp/*/chats/*.jsonl"
_EXIT: Final = re.compile(r"\nExit Code: (\d+)(?=\n|$)")
_ONLY_STATUS: Final = re.compile(r"Command exited with code: (\d+)")
_WRITTEN: Final = ("candidates", "thoughts")
_LOGIN: Final = {"security": {"auth": {"selectedType": "gemini-api-key"}}}


def _judge(model: str) -> Start:
    settings = {**_LOGIN, "tools": {"core": ["none"]}}
    return Start(
        argv=("gemini", "-o", "json", "--skip-trust", *option("-m", model)),
        environment=_TOLD,
        files={_SETTINGS: json.dumps(settings)},
    )


def _work(agent: AgentProgram, _session: str | None = None, /) -> Start:
    """Return the start; settings of the project are left out of its folder, or used."""
    return Start(
        argv=(
            *("gemini", "-o", "stream-json", "--skip-trust", "--approval-mode", "yolo"),
            *(*option("-m", agent.model), *agent.args),
        ),
        environment={
            **_TOLD,
            **({"GOOGLE_GEMINI_BASE_URL": agent.base_url} if agent.base_url else {}),
        },
        files={_SETTINGS: json.dumps({**_LOGIN, **dict(_chosen(agent))})},
    )


def _chosen(agent: AgentProgram) -> Iterator[tuple[str, JSON]]:
    if agent.tools is not None:
        yield "tools", {"core": list(agent.tools) or ["none"]}
    if agent.max_turns is not None:
        yield "model", {"maxSessionTurns": agent.max_turns}
    if agent.mcp_servers:
        yield "mcpServers", dict(agent.mcp_servers)


def read_output(stdout: str, stderr: str, files: Files = NO_FILES, /) -> Trace:
    """Read the object or the stream; its telemetry has why the last reply ended."""
    if not stdout.strip():
        raise _error(mapping(parsed(last_object(stderr))), stderr)
    said = list(events(stdout))
    if not said:
        raise failure(stdout.strip())
    if any(event.get("type") in {"init", "result"} for event in said):
        return _stream(said, files)
    text = said[0].get("response")
    if said[0].get("error") or not isinstance(text, str):
        raise failure(str(mapping(said[0].get("error")).get("message") or stdout))
    models = mapping(mapping(said[0].get("stats")).get("models"))
    tokens = [mapping(mapping(of).get("tokens")) for of in models.values()]
    return Trace(
        answer=text,
        finish=finish_of(files.get(_TELEMETRY, "")),
        input_tokens=sum(integer(of.get("prompt")) for of in tokens),
        output_tokens=sum(integer(of.get(name)) for of in tokens for name in _WRITTEN),
        model=next(iter(models)) if len(models) == 1 else "",
    )


def _error(said: Mapping[str, Any], text: str) -> Exception:
    error = mapping(said.get("error"))
    code = integer(error.get("code"))
    return failure(str(error.get("message") or text), code if code >= 400 else None)


def _stream(said: list[Mapping[str, Any]], files: Files) -> Trace:
    end = next((event for event in said if event.get("type") == "result"), {})
    errors = [str(event.get("message")) for event in said if event.get("type") == "error"]
    if end.get("status") != "success":
        raise _error(end, errors[-1] if errors else "the stream has no result")
    answer, stats = _answer(said), mapping(end.get("stats"))
    if not answer.strip() and errors:  # such as "Loop detected, stopping execution"
        raise _error({}, errors[-1])
    return Trace(
        answer=answer,
        steps=tuple(_steps(said, _statuses(files))),
        finish=finish_of(files.get(_TELEMETRY, "")),
        input_tokens=integer(stats.get("input_tokens")),
        output_tokens=max(integer(stats.get("output_tokens")), _written(stats)),
        duration_ms=number(stats.get("duration_ms")),
        model=next((str(e["model"]) for e in said if e.get("type") == "init" and "model" in e), ""),
    )


def _written(stats: Mapping[str, Any]) -> int:
    """Return the tokens of replies with their thoughts, which `output_tokens` leaves out."""
    return integer(stats.get("total_tokens")) - integer(stats.get("input_tokens"))


def _answer(said: list[Mapping[str, Any]]) -> str:
    """Return the text after the last tool; it comes in pieces."""
    pieces: list[str] = []
    for event in said:
        if event.get("type") in {"tool_use", "tool_result"}:
            pieces.clear()
        if event.get("type") == "message" and event.get("role") == "assistant":
            pieces.append(str(event.get("content", "")))
    return "".join(pieces)


def _statuses(files: Files) -> Mapping[str, str]:
    """Return the exit statuses of commands by their ids: a session file has them in the result."""
    sessions = (text for path, text in files.items() if path.endswith(".jsonl"))
    calls = (
        mapping(call)
        for text in sessions
        for event in events(text)
        for call in items(event.get("toolCalls"))
    )
    return {str(call.get("id")): _status(call.get("result")) for call in calls}


def _status(result: JSON) -> str:
    """Return the exit status in the result of a command; "" if it has none, or 0."""
    result_data = mapping(mapping(items(result)[:1] and items(result)[0]).get("functionResponse"))
    found = _EXIT.findall(as_text(mapping(result_data.get("response")).get("output")))
    return found[-1].lstrip("0") if found else ""


def _steps(said: list[Mapping[str, Any]], statuses: Mapping[str, str]) -> Iterator[Step]:
    done = {str(e.get("tool_id")): e for e in said if e.get("type") == "tool_result"}
    for event in said:
        if event.get("type") == "tool_use":
            of = str(event.get("tool_id"))
            end = done.get(of, {})
            result, error = _outcome(end, statuses.get(of, ""))
            yield Step(
                tool=str(event.get("tool_name", "")),
                arguments=event.get("parameters"),
                result=result,
                error=error,
                duration_ms=milliseconds(event.get("timestamp"), end.get("timestamp")),
            )


def _outcome(end: Mapping[str, Any], status: str) -> tuple[str, str]:
    """Return the result and the error of a call; a command that failed is a success to it."""
    output = as_text(end.get("output"))
    if end.get("status") != "success":
        said = str(mapping(end.get("error")).get("message") or output or "no result")
        return "", said
    alone = _ONLY_STATUS.fullmatch(output.strip())
    status = status or (alone[1] if alone else "")
    return output, f"exit status {status}" if status else ""


def _is_output(said: Mapping[str, object]) -> bool:
    if {"session_id", "response", "stats"} <= said.keys():
        return True
    return said.get("type") == "init" and "session_id" in said and "model" in said


AGENT: Final = Agent(
    judge=_judge,
    work=_work,
    refuses={
        "max_cost_usd": NO_COST,
        "effort": "it has no such option; set the thinking of a model alias in its settings",
    },
    tools={
        "shell": ("run_shell_command",),
        "edit": ("replace", "write_file"),
        "read": ("read_file", "read_many_files"),
        "web": ("web_fetch", "google_web_search"),
        "": (
            *("activate_skill", "ask_user", "codebase_investigator", "enter_plan_mode"),
            *("exit_plan_mode", "glob", "grep_search", "invoke_agent", "list_background_processes"),
            *("list_directory", "read_background_output", "save_memory", "search_file_content"),
            *("update_topic", "write_todos"),
        ),
    },
    server_tools="mcp_{}_",
    planted=("**/GEMINI.md", ".gemini/**", ".agents/**", "**/.env"),
    host="https://generativelanguage.googleapis.com",
    read=read_output,
    steps=lambda stdout: _steps(list(events(stdout)), {}),
    keeps=(_TELEMETRY, _SESSIONS),
    is_output=_is_output,
)
