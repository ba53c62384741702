"""The real agent programs, which `make agents` installs, and servers that follow a script."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests import aimock
from tests.aimock import Aimock, Reply
from tests.http_server import serving

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


@dataclass(frozen=True, slots=True)
class Recording:
    """A server in front of another one, and the bodies of the requests so far."""

    url: str
    bodies: list[str]


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


def tool(name: str, arguments: Mapping[str, Any]) -> Reply:
    """Return a reply that calls a tool."""
    called = {"name": name, "arguments": json.dumps(arguments)}
    return aimock.says("I will look.", toolCalls=[called])


def edits(agent: str) -> Reply:
    """Return a reply that writes `made.py`: three of the programs get a patch for it."""
    patch = "*** Begin Patch\n*** Add File: made.py\n+a = 1\n*** End Patch\n"
    match agent:
        case "codex":
            return calls(agent, f"apply_patch <<'EOF'\n{patch}EOF")
        case "copilot":
            return tool("apply_patch", {"input": patch})
        case "opencode":
            return tool("apply_patch", {"patchText": patch})
        case "claude-code":
            return tool("Write", {"file_path": "made.py", "content": "a = 1\n"})
    return tool("write_file", {"file_path": "made.py", "content": "a = 1\n"})


def script(server: Aimock, replies: Mapping[str, tuple[Reply, Reply]]) -> None:
    """Answer by what the prompt contains: before a tool was called, and after it."""
    fixtures = [
        {**reply, "match": {"userMessage": text, "hasToolResult": after}}
        for text, pair in replies.items()
        for after, reply in ((True, pair[1]), (False, pair[0]))
    ]
    server.load([*fixtures, {**aimock.says("\n"), "match": {}}])


class Recorder(BaseHTTPRequestHandler):
    """Hands requests on to another server, and keeps their bodies as they are."""

    protocol_version = "HTTP/1.1"
    OWN: Final = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}
    TOOL: Final = b'"name":"mcp__shop__price"'
    # aimock does not know the namespaces of tools in OpenAI's Responses format.
    IN_A_NAMESPACE: Final = b'"name":"price","namespace":"mcp__shop"'

    def __init__(self, url: str, bodies: list[str], *request: Any) -> None:
        self.to, self.bodies = url, bodies
        super().__init__(*request)

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """Hand on."""
        self._hand_on(None)

    def do_POST(self) -> None:
        """Hand on, and keep the body."""
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        self.bodies.append(sent.decode())
        self._hand_on(sent)

    def _hand_on(self, sent: bytes | None) -> None:
        headers = {name: of for name, of in self.headers.items() if name.lower() not in self.OWN}
        try:
            reply = urlopen(Request(self.to + self.path, sent, headers), timeout=60)
        except HTTPError as error:
            reply = error
        with reply:
            text = reply.read()
        if self.path.endswith("/responses"):
            text = text.replace(self.TOOL, self.IN_A_NAMESPACE)
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.headers.get("Content-Type", ""))
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@contextmanager
def recording(url: str) -> Iterator[Recording]:
    """Serve in front of another server, and keep what it is sent."""
    bodies: list[str] = []
    with serving(partial(Recorder, url, bodies)) as server:
        yield Recording(server.url, bodies)


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


class Busy(BaseHTTPRequestHandler):
    """Refuses so many requests as too many, then answers, in OpenAI's Responses format."""

    protocol_version = "HTTP/1.1"

    def __init__(self, refused: list[int], *request: Any) -> None:
        self.refused = refused
        super().__init__(*request)

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        """Refuse, or answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.refused[0]:
            self.refused[0] -= 1
            self.send_response(429)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        text = {"type": "output_text", "text": "Done.", "annotations": []}
        said = {"type": "message", "id": "m", "role": "assistant", "content": [text]}
        send_events(self, [{"type": "response.output_item.done", "item": said}], status="completed")


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
