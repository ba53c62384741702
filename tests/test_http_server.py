"""The servers of tests end, even if a client goes away."""

import socket
import threading
from collections.abc import Callable
from urllib.request import urlopen

import pytest

from tests.http_server import QuietHandler, Server, serving


class Handler(QuietHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/broken":
            raise LookupError("broken handler")
        self.respond(200)


def connect(server: Server, sent: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", server.server_port), timeout=60)
    client.sendall(sent)
    return client


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ids=["nothing", "half-a-request", "keep-alive"],
)
def test_a_client_that_stays_is_disconnected(sent: bytes) -> None:
    with serving(Handler) as server:
        client = connect(server, sent)
        with urlopen(server.url, timeout=60) as reply:  # so the first client is accepted
            assert reply.status == 200
    while client.recv(65536):  # ends: the server has closed its side
        pass
    client.close()


def test_a_client_that_went_away_before_it_was_accepted_blocks_nothing() -> None:
    server = Server(Handler)  # nothing to accept, which is what such a client leaves
    assert _returns(server._handle_request_noblock)  # type: ignore[attr-defined] # private
    server.server_close()


def test_what_a_handler_raises_fails_the_test() -> None:
    with pytest.raises(LookupError, match="broken handler"):
        _request_the_broken_page()


def _request_the_broken_page() -> None:
    with serving(Handler) as server:
        client = connect(server, b"GET /broken HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(1) == b""


def _returns(action: Callable[[], object]) -> bool:
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(10)
    return not thread.is_alive()
