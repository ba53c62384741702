"""A TCP server in front of another one that leaves its first connections hanging."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic, sleep
from urllib.parse import urlsplit


@dataclass
class Forwarder:
    """Counts the connections that get no reply."""

    url: str
    swallow: int
    held: list[socket.socket] = field(default_factory=list)  # open until the test ends

    def seen(self, wanted: int) -> int:
        """Return how many connections got no reply, after up to 60 s if fewer than wanted."""
        deadline = monotonic() + 60
        while len(self.held) < wanted and monotonic() < deadline:
            sleep(0.01)
        return len(self.held)


@contextmanager
def swallowing(first: int, target: str) -> Iterator[Forwarder]:
    """Accept and never answer the first connections; forward later ones to the target's URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        forwarder = Forwarder(f"http://127.0.0.1:{listener.getsockname()[1]}", first)
        threading.Thread(target=_serve, args=(listener, forwarder, target), daemon=True).start()
        yield forwarder


def _serve(listener: socket.socket, forwarder: Forwarder, target: str) -> None:
    to = urlsplit(target)
    with suppress(OSError):  # the listener is closed at the end of the test
        while True:
            client, _ = listener.accept()
            if len(forwarder.held) < forwarder.swallow:
                forwarder.held.append(client)  # never read: a client that resets ends no other
                continue
            server = socket.create_connection((str(to.hostname), to.port or 80))
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
