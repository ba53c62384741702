"""The real agent programs, which `make agents` installs, and servers that follow a script."""

import json
import os
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final

from tests import aimock
from tests.aimock import Aimock, Reply

BIN: Final = Path(__file__).parents[2] / ".tools/agents/node_modules/.bin"
MISSING: Final = "the agent programs are not here: make agents"
AGENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "claude-code": {"model": "claude-sonnet-5-5"},
    "codex": {"model": "gpt-6", "base_url": "/v1"},
    "copilot": {"model": "gpt-6", "base_url": "/v1", "env": ["COPILOT_OFFLINE"]},
    "gemini-cli": {"model": "gemini-3.8-flash"},
    "opencode": {"model": "own/gpt-6", "base_url": "/v1"},
    "qwen": {"model": "gpt-6", "base_url": "/v1"},
}
"""The settings of a target, the URL without its host."""

KEYS: Final = (
    *("ANTHROPIC_API_KEY", "CODEX_API_KEY", "COPILOT_PROVIDER_API_KEY", "GEMINI_API_KEY"),
    *("OPENAI_API_KEY", "OPENCODE_API_KEY"),
)
_SHELLS: Final = {
    "claude-code": ("Bash", "command"),
    "codex": ("exec_command", "cmd"),
    "copilot": ("bash", "command"),
    "opencode": ("bash", "command"),
}


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a run that starts them."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    keys = dict.fromkeys(KEYS, "key-of-a-scripted-server")
    return {"PATH": path, "HOME": str(home), "COPILOT_OFFLINE": "true", **keys}


def target(agent: str, url: str, **more: Any) -> dict[str, Any]:
    """Return a target that asks a scripted server."""
    settings = dict(AGENTS[agent])
    base = url + str(settings.get("base_url", ""))
    limits = {"timeout_seconds": 100, "concurrency": 2}
    return {"name": agent, "provider": agent, **settings, "base_url": base, **limits, **more}


def calls(agent: str, command: str, text: str = "I will look.") -> Reply:
    """Return a reply that runs a command."""
    tool, name = _SHELLS.get(agent, ("run_shell_command", "command"))
    given: dict[str, Any] = {name: command, **({} if agent == "codex" else {"description": "x"})}
    if agent == "qwen":
        given["is_background"] = False
    return aimock.says(text, toolCalls=[{"name": tool, "arguments": json.dumps(given)}])


def script(server: Aimock, replies: Mapping[str, tuple[Reply, Reply]]) -> None:
    """Answer by what the prompt contains: before a tool was called, and after it."""
    fixtures = [
        {**reply, "match": {"userMessage": text, "hasToolResult": after}}
        for text, pair in replies.items()
        for after, reply in ((True, pair[1]), (False, pair[0]))
    ]
    server.load([*fixtures, {**aimock.says("\n"), "match": {}}])


class Responses(BaseHTTPRequestHandler):
    """Ends of a reply in OpenAI's Responses format that aimock does not have."""

    protocol_version = "HTTP/1.1"
    ENDS: Final = {
        "limit": ("cut", "incomplete", {"incomplete_details": {"reason": "max_output_tokens"}}),
        "filter": ("", "incomplete", {"incomplete_details": {"reason": "content_filter"}}),
        "refusal": ("", "completed", {}),
    }

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        """Answer by the last message of the user."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = json.dumps(body["input"])
        text, status, more = next(
            end for name, end in self.ENDS.items() if f"end by {name}" in asked
        )
        events = []
        content = [{"type": "output_text", "text": text, "annotations": []}]
        if "end by refusal" in asked:
            content = [{"type": "refusal", "refusal": "I do not help with this."}]
        if text or "end by refusal" in asked:
            message = {"type": "message", "id": "m", "role": "assistant", "content": content}
            events.append({"type": "response.output_item.done", "item": message})
        send_events(self, events, status=status, **more)


def send_events(
    handler: BaseHTTPRequestHandler, events: list[dict[str, Any]], *, status: str, **more: Any
) -> None:
    """Send a reply in OpenAI's Responses format."""
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    ends = {"id": "r", "status": status, "usage": usage, **more}
    created = {"type": "response.created", "response": {"id": "r"}}
    whole = [created, *events, {"type": f"response.{status}", "response": ends}]
    sent = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in whole).encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Content-Length", str(len(sent)))
    handler.end_headers()
    handler.wfile.write(sent)
