"""The documented output of each command-line tool, for a reply of `ok`."""

import json
from typing import Any, Final

import yaml

CLAUDE: Final[dict[str, Any]] = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "api_error_status": None,
    "result": "ok",
    "stop_reason": "end_turn",
    "session_id": "s",
    "num_turns": 1,
    "duration_ms": 90,
    "total_cost_usd": 0.001,
    "usage": {
        "input_tokens": 9,
        "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": 2,
        "output_tokens": 3,
    },
    "modelUsage": {
        "claude-haiku-5-5": {"inputTokens": 90, "outputTokens": 1, "costUSD": 0.0001},
        "claude-sonnet-5-5": {"inputTokens": 16, "outputTokens": 3, "costUSD": 0.0009},
    },
    "permission_denials": [],
}
CODEX: Final[tuple[dict[str, Any], ...]] = (
    {"type": "thread.started", "thread_id": "t"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": "ok"}},
    {
        "type": "turn.completed",
        "usage": {
            "input_tokens": 9,
            "cached_input_tokens": 0,
            "output_tokens": 3,
            "reasoning_output_tokens": 0,
        },
    },
)
COPILOT: Final[tuple[dict[str, Any], ...]] = (
    {"type": "assistant.message", "data": {"content": "ok", "model": "gpt-6", "toolRequests": []}},
    {"type": "result", "sessionId": "s", "exitCode": 0, "usage": {"premiumRequests": 1}},
)
GEMINI: Final[dict[str, Any]] = {
    "session_id": "s",
    "response": "ok",
    "stats": {
        "models": {"gemini-3.8-flash": {"tokens": {"prompt": 9, "candidates": 3, "total": 12}}}
    },
}


def span(name: str, *, took: int = 5, code: int = 0, **facts: Any) -> dict[str, Any]:
    def value(fact: Any) -> dict[str, Any]:
        return {"intValue": str(fact)} if isinstance(fact, int) else {"stringValue": fact}

    named = {"operation.name": name, **{k.replace("__", "."): v for k, v in facts.items()}}
    return {
        "startTimeUnixNano": "1000000",
        "endTimeUnixNano": str(1_000_000 + took * 1_000_000),
        "attributes": [{"key": f"gen_ai.{k}", "value": value(v)} for k, v in named.items()],
        "status": {"code": code},
    }


MESSAGES = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "ok"}]}])
SPANS = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        span("invoke_agent", took=90),
                        span("chat", usage__input_tokens=9, usage__output_tokens=3),
                        span(
                            "execute_tool",
                            tool__name="ls",
                            tool__call__arguments='{"path": "."}',
                            tool__call__result="a.py",
                        ),
                        span("execute_tool", tool__name="rm", code=2),
                        span("chat", request__model="m", output__messages=MESSAGES),
                    ]
                }
            ]
        }
    ]
}
ATIF = {
    "schema_version": "ATIF-v1.7",
    "agent": {"name": "x", "version": "1", "model_name": "m"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "hi"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "tool_calls": [
                {"tool_call_id": "c", "function_name": "ls", "arguments": {}},
                {"tool_call_id": "d", "function_name": "rm", "arguments": {}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c", "content": "a.py"},
                    {"source_call_id": "d", "content": "", "extra": {"error": "denied"}},
                ]
            },
            "metrics": {"prompt_tokens": 9, "completion_tokens": 3},
        },
        {"step_id": 3, "source": "agent", "message": "ok"},
    ],
    "final_metrics": {"total_cost_usd": 0.001},
}


KNOWN: Final[dict[str, tuple[dict[str, Any], ...]]] = {
    "CLAUDE": (CLAUDE,),
    "CODEX BEGINS": CODEX[:2],
    "CODEX ENDS": CODEX[2:],
    "CODEX TURN ENDS": CODEX[3:],
    "COPILOT": COPILOT,
    "COPILOT SAYS": COPILOT[:1],
    "COPILOT RESULT": COPILOT[1:],
    "GEMINI": (GEMINI,),
    "ATIF": (ATIF,),
    "SPANS": (SPANS,),
}


def output(text: str) -> tuple[str, str, str]:
    """Return the program of a table's row, and what it prints on both streams.

    After the program each line is an event, as YAML, or the name of known ones and what differs; a
    text on a stream begins with its name.
    """
    agent, *told = text.replace("\n    ", " ").splitlines()
    events: list[dict[str, Any]] = []
    streams: dict[str, list[str]] = {"stdout": [], "stderr": []}
    for line in told:
        name, brace, rest = line.partition("{")
        stream, _, words = line.partition(" ")
        if stream in streams:
            streams[stream].append(words)
        else:
            given = yaml.safe_load(brace + rest) or {}
            events += [{**each, **given} for each in KNOWN.get(name.strip(), ({},))]
    if events:
        # A program that prints one object prints no line of a log before it.
        streams["stdout"].append(json.dumps(events[0]) if len(events) == 1 else lines(*events))
    return agent, "\n".join(streams["stdout"]), "\n".join(streams["stderr"])


def lines(*events: dict[str, Any]) -> str:
    """Return events as JSON Lines, with a line of a log before them."""
    return "\n".join(["starting", *(json.dumps(event) for event in events)]) + "\n"


def printed(cli: str, text: str) -> str:
    """Return the output of a tool whose model replied with a text."""
    match cli:
        case "claude":
            return json.dumps({**CLAUDE, "result": text})
        case "codex":
            said = {"type": "item.completed", "item": {"type": "agent_message", "text": text}}
            return lines(*CODEX[:2], said, CODEX[-1])
        case "copilot":
            data = {**COPILOT[0]["data"], "content": text}
            return lines({**COPILOT[0], "data": data}, COPILOT[1])
        case _:
            return json.dumps({**GEMINI, "response": text})
