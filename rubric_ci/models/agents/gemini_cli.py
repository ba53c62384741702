"""Gemini CLI: `gemini -o json` and `-o stream-json`; its errors are on stderr, after logs."""

import json
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
    last_object,
    mapping,
    milliseconds,
    number,
    option,
    parsed,
)

_SETTINGS: Final = ".gemini/settings.json"
_LOGIN: Final = {"security": {"auth": {"selectedType": "gemini-api-key"}}}


def _judge(model: str) -> Start:
    settings = {**_LOGIN, "tools": {"core": ["none"]}}
    return Start(
        argv=("gemini", "-o", "json", "--skip-trust", *option("-m", model)),
        files={_SETTINGS: json.dumps(settings)},
    )


def _work(model: str, tools: tuple[str, ...] | None, project_files: bool) -> Start:
    """Return the start; what the project has is left out of its folder, or used."""
    del project_files
    chosen = {} if tools is None else {"tools": {"core": list(tools) or ["none"]}}
    return Start(
        argv=(
            *("gemini", "-o", "stream-json", "--skip-trust", "--approval-mode", "yolo"),
            *option("-m", model),
        ),
        files={_SETTINGS: json.dumps({**_LOGIN, **chosen})},
    )


def read(stdout: str, stderr: str) -> Trace:
    """Read the object or the stream."""
    if not stdout.strip():
        raise _error(mapping(parsed(last_object(stderr))), stderr)
    said = list(events(stdout))
    if not said:
        raise failure(stdout.strip())
    if any(event.get("type") in {"init", "result"} for event in said):
        return _stream(said)
    text = said[0].get("response")
    if said[0].get("error") or not isinstance(text, str):
        raise failure(str(mapping(said[0].get("error")).get("message") or stdout))
    models = mapping(mapping(said[0].get("stats")).get("models"))
    tokens = [mapping(mapping(of).get("tokens")) for of in models.values()]
    return Trace(
        answer=text,
        input_tokens=sum(integer(of.get("prompt")) for of in tokens),
        output_tokens=sum(integer(of.get("candidates")) for of in tokens),
        model=next(iter(models)) if len(models) == 1 else "",
    )


def _error(said: Mapping[str, Any], text: str) -> Exception:
    error = mapping(said.get("error"))
    code = integer(error.get("code"))
    return failure(str(error.get("message") or text), code if code >= 400 else None)


def _stream(said: list[Mapping[str, Any]]) -> Trace:
    end = next((event for event in said if event.get("type") == "result"), {})
    if end.get("status") != "success":
        raise _error(end, "the stream has no result")
    stats = mapping(end.get("stats"))
    return Trace(
        answer=_answer(said),
        steps=tuple(_steps(said)),
        input_tokens=integer(stats.get("input_tokens")),
        output_tokens=integer(stats.get("output_tokens")),
        duration_ms=number(stats.get("duration_ms")),
        model=next((str(e["model"]) for e in said if e.get("type") == "init" and "model" in e), ""),
    )


def _answer(said: list[Mapping[str, Any]]) -> str:
    """Return the text after the last tool; it comes in pieces."""
    pieces: list[str] = []
    for event in said:
        if event.get("type") in {"tool_use", "tool_result"}:
            pieces.clear()
        if event.get("type") == "message" and event.get("role") == "assistant":
            pieces.append(str(event.get("content", "")))
    return "".join(pieces)


def _steps(said: list[Mapping[str, Any]]) -> Iterator[Step]:
    done = {str(e.get("tool_id")): e for e in said if e.get("type") == "tool_result"}
    for event in said:
        if event.get("type") == "tool_use":
            end = done.get(str(event.get("tool_id")), {})
            failed = end.get("status") != "success"
            output = as_text(end.get("output"))
            error = str(mapping(end.get("error")).get("message") or output or "no result")
            yield Step(
                tool=str(event.get("tool_name", "")),
                arguments=event.get("parameters"),
                result="" if failed else output,
                error=error if failed else "",
                duration_ms=milliseconds(event.get("timestamp"), end.get("timestamp")),
            )


def _is_output(said: Mapping[str, object]) -> bool:
    if {"session_id", "response", "stats"} <= said.keys():
        return True
    return said.get("type") == "init" and "session_id" in said and "model" in said


AGENT: Final = Agent(
    judge=_judge,
    work=_work,
    planted=("**/GEMINI.md", ".gemini/**", ".agents/**", "**/.env"),
    host="https://generativelanguage.googleapis.com",
    read=read,
    steps=lambda stdout: _steps(list(events(stdout))),
    is_output=_is_output,
)
