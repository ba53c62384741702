"""Toxiproxy, a TCP proxy that breaks connections on purpose; `make toxiproxy` builds it."""

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from tests.http_server import free_port

COMMAND: Final = Path(__file__).parents[1] / ".tools/toxiproxy"

Toxic = Mapping[str, Any]
"""What it does to a stream: `type`, `stream` (upstream or downstream), `attributes`."""


@dataclass(frozen=True, slots=True)
class Toxiproxy:
    """The running server with one proxy, which listens on `url`."""

    url: str
    api: str

    def set_toxic(self, toxic: Toxic | None, *, enabled: bool = True) -> None:
        """Break connections in this way only; None: in none."""
        self._send("POST", "reset")
        self._send("POST", "proxies/server", {"enabled": enabled})
        if toxic:
            self._send("POST", "proxies/server/toxics", {"name": "toxic", "toxicity": 1, **toxic})

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> None:
        data = json.dumps(body or {}).encode()
        request = urllib.request.Request(f"{self.api}/{path}", data, method=method)
        with urllib.request.urlopen(request, timeout=60):
            pass


def missing() -> str:
    """Return why it cannot be started here; empty: it can."""
    return "" if COMMAND.exists() else "toxiproxy is not built: run `make toxiproxy` (needs Go)"


@contextmanager
def running(upstream: str) -> Iterator[Toxiproxy]:
    """Start it in front of a server, and stop it."""
    port, api = free_port(), free_port()
    command = [str(COMMAND), "-host", "127.0.0.1", "-port", str(api)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet) as server:
        try:
            found = Toxiproxy(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{api}")
            _wait(found)
            address = upstream.removeprefix("http://")
            entry = {"name": "server", "listen": f"127.0.0.1:{port}", "upstream": address}
            found._send("POST", "proxies", entry)
            yield found
        finally:
            server.kill()


def _wait(server: Toxiproxy) -> None:
    deadline = monotonic() + 60
    while monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{server.api}/version", timeout=60).close()
        except urllib.error.URLError:
            sleep(0.05)
        else:
            return
    raise AssertionError("toxiproxy does not start")
