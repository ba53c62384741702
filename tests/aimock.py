"""A model server of another project: `@copilotkit/aimock`, scripted reply by reply."""

import json
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from rubric_ci.values.targets import Endpoint

COMMAND = Path(__file__).parent / "npm/node_modules/@copilotkit/aimock/dist/cli.js"

Reply = dict[str, Any]
"""A fixture of the server without its `match`."""


def says(text: str, **more: Any) -> Reply:
    """Answer with a text; `finishReason` and the like in `more`."""
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {"response": {"content": text, "usage": usage, **more}}


def fails(status: int, message: str = "scripted") -> Reply:
    """Answer with an HTTP error."""
    return {"response": {"error": {"message": message, "type": "scripted"}, "status": status}}


def breaks(**chaos: float) -> Reply:
    """Break the reply: `malformedRate=1`, `disconnectRate=1`."""
    return {**says("{}"), "chaos": chaos}


@dataclass(frozen=True, slots=True)
class Aimock:
    """The running server."""

    url: str

    def script(self, *replies: Reply) -> None:
        """Reset the server, then give these replies in this order, the last one for ever."""
        self._post("reset", {})
        fixtures = [
            {**reply, "match": {"sequenceIndex": n}} for n, reply in enumerate(replies[:-1])
        ]
        self._post("fixtures", {"fixtures": [*fixtures, {**replies[-1], "match": {}}]})

    def answer(self, replies: Mapping[str, Reply]) -> None:
        """Reset the server, then give each request the first reply whose text it contains."""
        self.load([{**reply, "match": {"userMessage": text}} for text, reply in replies.items()])

    def load(self, fixtures: list[Reply]) -> None:
        """Reset the server, then give each request the first of these that fits."""
        self._post("reset", {})
        self._post("fixtures", {"fixtures": fixtures})

    def requests(self) -> list[dict[str, Any]]:
        """Return the bodies of all requests since the script began, as OpenAI spells them."""
        with urllib.request.urlopen(f"{self.url}/__aimock/journal", timeout=60) as reply:
            return [entry["body"] for entry in json.load(reply)]

    def endpoint(self, wire: str, **options: Any) -> Endpoint:
        """Return a model behind this server: openai, anthropic or gemini."""
        model, path = {
            "openai": ("openai/gpt-6-luna", "/v1"),
            "anthropic": ("anthropic/claude-sonnet-5-5", ""),
            "gemini": ("gemini/gemini-3.8-flash", "/v1beta"),
        }[wire]
        timeout = options.pop("timeout_seconds", 60.0)
        keys = {"api_base": self.url + path, "api_key": "none"}
        return Endpoint(model=model, options={**keys, **options}, timeout_seconds=timeout)

    def _post(self, path: str, body: dict[str, Any]) -> None:
        request = urllib.request.Request(
            f"{self.url}/__aimock/{path}", json.dumps(body).encode(), method="POST"
        )
        with urllib.request.urlopen(request, timeout=60):
            pass


def missing() -> str:
    """Say why the server cannot be started here; empty: it can."""
    if shutil.which("node") is None:
        return "Node is not installed: the tests that grade over HTTP need it"
    return "" if COMMAND.exists() else "aimock is not installed: run `npm ci --prefix tests/npm`"


@contextmanager
def running(folder: Path, host: str = "127.0.0.1") -> Iterator[Aimock]:
    """Start a server on a free port, and stop it."""
    fixtures, log = folder / "fixtures.json", folder / "log"
    fixtures.write_text(json.dumps({"fixtures": [{**says("unscripted"), "match": {}}]}))
    command = ["node", str(COMMAND), "-p", "0", "-h", host, "-f", str(fixtures), "--strict"]
    # Not a pipe: no process would read it, and a full one stops the server.
    with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as server:
        try:
            yield Aimock(_address(log))
        finally:
            server.kill()


def _address(log: Path) -> str:
    deadline = monotonic() + 60
    while monotonic() < deadline:
        _, listens, rest = log.read_text().partition("listening on ")
        if listens and "\n" in rest:
            return rest.split()[0]
        sleep(0.02)
    raise AssertionError(f"aimock does not listen: {log.read_text()}")
