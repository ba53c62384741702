"""The documented output of each command-line tool, for a reply of `ok`."""

import json
from typing import Any, Final

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
