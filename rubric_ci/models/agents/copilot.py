"""GitHub Copilot: `copilot --output-format json`, and the events file of a session."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.model.trace import Step, Trace
from rubric_ci.models.agents.agent import (
    Agent,
    Start,
    as_text,
    events,
    failure,
    integer,
    mapping,
    milliseconds,
    option,
)

_START: Final = ("copilot", "--output-format", "json", "--no-ask-user")
_ALONE: Final = ("--no-custom-instructions", "--disable-builtin-mcps", "--no-auto-update")
_HOME: Final = {"COPILOT_HOME": "{home}"}


def _judge(model: str) -> Start:
    argv = (*_START, *_ALONE, "--available-tools=none", *option("--model", model))
    return Start(argv=argv, environment=_HOME)


def _work(model: str, tools: tuple[str, ...] | None, project_files: bool) -> Start:
    available = () if tools is None else (f"--available-tools={','.join(tools) or 'none'}",)
    alone = _ALONE[1:] if project_files else _ALONE
    argv = (*_START, *alone, "--allow-all-tools", *available, *option("--model", model))
    return Start(argv=argv, environment=_HOME)


def read(stdout: str, stderr: str) -> Trace:
    """Read the last message before the result."""
    text, model, ended, tokens = "", "", False, (0, 0)
    said = list(events(stdout))
    for event in said:
        data, kind = mapping(event.get("data")), event.get("type")
        if kind == "session.error":
            status = integer(data.get("statusCode")) or None
            raise failure(f"{data.get('errorType', '')}: {data.get('message', '')}", status)
        if kind == "assistant.message" and data.get("content"):
            text, model = str(data["content"]), str(data.get("model") or model)
        if kind == "result":
            ended = event.get("exitCode") == 0
        if kind == "session.shutdown":
            ended, tokens = True, _tokens(data)
    if not ended:
        raise failure(stderr or stdout)
    return Trace(
        answer=text,
        steps=tuple(_steps(said)),
        model=model,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
    )


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
        yield Step(
            tool=str(data.get("toolName", "")),
            arguments=data.get("arguments"),
            result=as_text(mapping(result.get("result")).get("content")),
            error=str(error.get("message") or error.get("code") or "no result") if failed else "",
            duration_ms=milliseconds(event.get("timestamp"), end.get("timestamp")),
        )


def _tokens(data: Mapping[str, Any]) -> tuple[int, int]:
    used = [mapping(mapping(m).get("usage")) for m in mapping(data.get("modelMetrics")).values()]
    return (
        sum(integer(each.get("inputTokens")) for each in used),
        sum(integer(each.get("outputTokens")) for each in used),
    )


def _is_output(said: Mapping[str, object]) -> bool:
    return said.get("type") == "result" and "sessionId" in said and "exitCode" in said


AGENT: Final = Agent(
    judge=_judge,
    work=_work,
    planted=(
        *("**/AGENTS.md", ".github/copilot-instructions.md", ".github/instructions/**"),
        *(".github/hooks/**", ".github/agents/**", ".github/skills/**", ".agents/**"),
        *(".mcp.json", ".vscode/mcp.json"),
    ),
    host="https://api.githubcopilot.com",
    read=read,
    steps=lambda stdout: _steps(list(events(stdout))),
    is_output=_is_output,
)
