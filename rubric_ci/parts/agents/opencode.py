"""opencode: `opencode run --format json`, a stream of its parts; a cost of 0 is an unknown one."""

import json
from collections.abc import Iterable, Iterator, Mapping
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
    mapping,
    number,
    option,
)
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.json_value import JSON
from rubric_ci.values.trace import Finish, Step, Trace

_RUN: Final = (
    *("opencode", "run", "--format", "json", "--pure"),
    *("--print-logs", "--log-level", "ERROR"),  # while it repeats a request, it prints nothing else
)
_ALONE: Final = {"OPENCODE_DISABLE_PROJECT_CONFIG": "1"}
_KEY: Final = "{env:OPENCODE_API_KEY}"


def _judge(model: str) -> Start:
    settings = json.dumps({"permission": {"*": "deny"}})
    return Start(
        argv=(*_RUN, *option("-m", model)),
        environment={**_ALONE, "OPENCODE_CONFIG_CONTENT": settings},
    )


def _work(agent: AgentProgram, _session: str | None = None, /) -> Start:
    return Start(
        argv=(
            *(*_RUN, "--auto", *option("-m", agent.model), *option("--variant", agent.effort)),
            *agent.args,
        ),
        environment={
            **({} if agent.project_files else _ALONE),
            "OPENCODE_CONFIG_CONTENT": json.dumps(dict(_settings(agent))),
        },
    )


def _settings(agent: AgentProgram) -> Iterator[tuple[str, JSON]]:
    if agent.tools is not None:
        yield "permission", {"*": "deny", **dict.fromkeys(agent.tools, "allow")}
    if agent.base_url:
        provider, _, model = agent.model.partition("/")
        own = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": agent.base_url, "apiKey": _KEY},
            "models": {model: _variant(agent.effort)},
        }
        yield "provider", {provider: own}
    if agent.mcp_servers:
        yield "mcp", {name: _server(of) for name, of in agent.mcp_servers.items()}


def _variant(effort: str) -> JSON:
    """Return the settings of a model that opencode does not know: it would ignore the effort."""
    return {"variants": {effort: {"reasoningEffort": effort}}} if effort else {}


def _server(of: Mapping[str, Any]) -> JSON:
    if "url" in of:
        return {"type": "remote", "url": of["url"], "headers": of.get("headers", {})}
    command = [of.get("command"), *of.get("args", ())]
    return {"type": "local", "command": command, "environment": of.get("env", {})}


def read_output(stdout: str, stderr: str, _: Files = NO_FILES, /) -> Trace:
    """Read the text after the last tool, and why the last step ended."""
    said = [(str(e.get("type")), mapping(e.get("part")), e) for e in events(stdout)]
    errors = [mapping(event.get("error")) for kind, _, event in said if kind == "error"]
    if errors:
        raise _failed(errors[-1])
    ends = [part for kind, part, _ in said if kind == "step_finish"]
    if not ends:
        raise failure(stderr or stdout)
    finishes: Mapping[JSON, Finish] = {"length": "length", "content-filter": "refusal"}
    tokens = [mapping(part.get("tokens")) for part in ends]
    return Trace(
        answer=_answer(said),
        steps=tuple(_steps(stdout)),
        finish=finishes.get(ends[-1].get("reason"), "stop"),
        input_tokens=sum(map(_input, tokens)),
        output_tokens=sum(_sum(each, ("output", "reasoning")) for each in tokens),
        cost_usd=sum(number(part.get("cost")) or 0 for part in ends) or None,
    )


def _input(tokens: Mapping[str, Any]) -> int:
    """Return the tokens of a prompt: its `input` is without what the server had in its cache."""
    return integer(tokens.get("input")) + _sum(mapping(tokens.get("cache")), ("read", "write"))


def _sum(tokens: Mapping[str, Any], names: Iterable[str]) -> int:
    return sum(integer(tokens.get(name)) for name in names)


def _failed(error: Mapping[str, Any]) -> Exception:
    error_data = mapping(error.get("data"))
    return failure(
        str(error_data.get("message") or error.get("name")), integer(error_data.get("statusCode"))
    )


def _answer(said: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]) -> str:
    texts: list[str] = []
    for kind, part, _ in said:
        if kind == "tool_use":
            texts.clear()
        if kind == "text":
            texts.append(str(part.get("text", "")))
    return "\n".join(texts)


def _steps(stdout: str) -> Iterator[Step]:
    for event in events(stdout):
        if event.get("type") != "tool_use":
            continue
        part = mapping(event.get("part"))
        state = mapping(part.get("state"))
        status = integer(mapping(state.get("metadata")).get("exit"))
        failed = state.get("status") != "completed"
        reason = str(state.get("error") or "no result") if failed else ""
        if part.get("tool") == "invalid":  # what it runs for a call that it cannot make
            given = mapping(state.get("input")).get("error")
            reason = str(given or as_text(state.get("output")) or "invalid call")
        yield Step(
            tool=str(part.get("tool", "")),
            arguments=state.get("input"),
            result=as_text(state.get("output")),
            error=reason or (f"exit status {status}" if status else ""),
            duration_ms=duration_ms(mapping(state.get("time")), "start", "end"),
        )


def _turns(printed: bytes) -> int:
    """Return the steps that ended with calls: its own limit only asks the model for a summary."""
    return printed.count(b'"reason":"tool-calls"')


def _is_output(said: Mapping[str, object]) -> bool:
    return said.get("type") in {"step_start", "step_finish"} and "sessionID" in said


AGENT: Final = Agent(
    judge=_judge,
    work=_work,
    refuses={"max_cost_usd": NO_COST},
    tools={
        "shell": ("bash",),
        "edit": ("edit", "write", "multiedit", "patch", "apply_patch"),
        "read": ("read",),
        "web": ("webfetch", "websearch"),
        "": (
            *("batch", "codesearch", "glob", "grep", "invalid", "list", "lsp", "question"),
            *("skill", "task", "todoread", "todowrite"),
        ),
    },
    server_tools="{}_",
    planted=(
        *("**/AGENTS.md", "**/CLAUDE.md", ".opencode/**", "opencode.json", "opencode.jsonc"),
        *(".claude/**", ".agents/**", "**/.env"),
    ),
    host="",
    read=read_output,
    steps=_steps,
    turns=_turns,
    is_output=_is_output,
)
