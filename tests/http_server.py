"""HTTP servers of tests: a free port each, and an end that waits for no client."""

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any

ACCEPT_SECONDS = 0.5

Handler = Callable[..., Any]
"""A class of request handlers, or what makes one."""


class Server(ThreadingHTTPServer):
    """Closes the connections that clients keep open, and keeps what a handler raised.

    NOTE: a client that goes away between `select` and `accept` leaves nothing to accept (accept(2),
    NOTES). A listening socket without a timeout blocks then, and `shutdown` waits for it.
    """

    request_queue_size = 64

    def __init__(self, handler: Handler) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.socket.settimeout(ACCEPT_SECONDS)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.errors: list[BaseException] = []
        self._connections: set[socket.socket] = set()

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self._connections):
            with suppress(OSError):  # closed by its handler meanwhile
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_: object) -> None:
        error = sys.exc_info()[1]
        if error and not isinstance(error, OSError):  # a client that is gone is no error
            self.errors.append(error)


class QuietHandler(BaseHTTPRequestHandler):
    """Prints nothing."""

    def body(self) -> bytes:
        """Return the body of the request."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def respond(
        self, status: int, content: bytes = b"", headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class JsonHandler(QuietHandler):
    """Reads and sends JSON."""

    def received(self) -> Any:
        return json.loads(self.body())

    def send_json(self, status: int, body: Any) -> None:
        self.send(status, json.dumps(body).encode())

    def send(self, status: int, content: bytes) -> None:
        """Send a text that is called JSON."""
        self.respond(status, content, {"Content-Type": "application/json"})


@contextmanager
def serving(handler: Handler) -> Iterator[Server]:
    """Serve until the block ends; raise what a handler raised."""
    server = Server(handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
    if server.errors:
        raise server.errors[0]


def free_port() -> int:
    """Return a port that was free a moment ago, for servers that need one named."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port
