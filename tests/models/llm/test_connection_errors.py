"""Real failures of connections: one exact text for each, whichever library sends the request."""

import asyncio
import datetime
import ipaddress
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.parts.litellm.litellm_client import load_litellm
from rubric_ci.values.targets import Endpoint
from tests.aimock import Aimock
from tests.cases import build_call

Handle = Callable[[socket.socket], None]

TIMEOUT = 0.7
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def says(content: bytes) -> Handle:
    def handle(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(content)

    return handle


def reset(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def hang(connection: socket.socket) -> None:
    connection.recv(65536)
    sleep(2 * TIMEOUT)


@contextmanager
def listening(handle: Handle, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve one connection at a time on a free port, closing each after it was handled."""

    def serve() -> None:
        with suppress(OSError):  # the listener is closed at the end of the test
            while True:
                plain, _ = listener.accept()
                threading.Thread(target=one, args=(plain,), daemon=True).start()

    def one(plain: socket.socket) -> None:
        with suppress(OSError), plain:
            connection = context.wrap_socket(plain, server_side=True) if context else plain
            with connection:
                handle(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


@pytest.fixture(scope="module")
def self_signed(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    host = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(host, critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM
    secret = key.private_bytes(
        form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path: Path = tmp_path_factory.mktemp("tls") / "self-signed.pem"
    path.write_bytes(secret + certificate.public_bytes(form))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def ask(wire: str, url: str) -> RequestError:
    name, _, by_litellm = wire.partition("-")
    options = {"n": 1} if by_litellm else {}
    endpoint: Endpoint = Aimock(url).endpoint(name, timeout_seconds=TIMEOUT, **options)
    with pytest.raises(RequestError) as raised:
        asyncio.run(request(build_call(endpoint=endpoint)))
    return raised.value


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Import what litellm imports at its first request, which would be within the timeout."""
    load_litellm()
    with listening(says(HEAD)) as port:
        for wire in WIRES:
            for _ in range(2):
                ask(wire, f"http://127.0.0.1:{port}")


WIRES = ("openai", "openai-litellm", "anthropic", "gemini")
CLOSED = "the server closed the connection without a reply"
CUT = "the connection ended within the reply"
FAULTS: dict[str, tuple[Handle, str]] = {
    "reset": (reset, "the connection failed: Connection reset by peer"),
    "no reply": (says(b""), CLOSED),
    "timeout": (hang, "no reply within 0.7 s"),
    "cut": (says(HEAD + b'Content-Length: 900\r\n\r\n{"id":'), CUT),
    "cut chunks": (says(HEAD + b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n'), CUT),
    "not HTTP": (says(b"hello\r\n\r\n"), "the reply is not HTTP; check `api_base`"),
    "not gzip": (
        says(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"),
        "the reply cannot be decompressed",
    ),
}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("handle", "text"), FAULTS.values(), ids=FAULTS)
def test_a_fault_after_the_request_was_sent(handle: Handle, text: str, wire: str) -> None:
    with listening(handle) as port:
        error = ask(wire, f"http://127.0.0.1:{port}")
    assert str(error) == text
    assert (error.retryable, error.billed, error.scope) == (True, True, "server")


NO_URL = "`api_base` is not a URL; write it as `https://host/v1`"
NO_CONNECTION = {
    "refused": ("http://127.0.0.1:9", "cannot connect to 127.0.0.1:9: Connection refused", True),
    "DNS": (
        "http://no-such-host.invalid",
        "cannot connect: DNS does not know the host no-such-host.invalid; check `api_base`",
        True,
    ),
    "no URL": ("nonsense", NO_URL, False),
    "other scheme": ("ftp://127.0.0.1", NO_URL, False),
}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("url", "text", "retryable"), NO_CONNECTION.values(), ids=NO_CONNECTION)
def test_no_connection(url: str, text: str, retryable: bool, wire: str) -> None:
    error = ask(wire, url)
    assert str(error) == text
    scope = "host" if retryable else "account"
    assert (error.retryable, error.billed, error.scope) == (retryable, False, scope)


@pytest.mark.parametrize("wire", WIRES)
def test_an_untrusted_certificate(self_signed: ssl.SSLContext, wire: str) -> None:
    with listening(says(b""), self_signed) as port:
        error = ask(wire, f"https://127.0.0.1:{port}")
    assert str(error) == (
        f"cannot connect to 127.0.0.1:{port}: the TLS certificate is not trusted (self-signed "
        "certificate); check `api_base`, or set SSL_CERT_FILE to the certificate of the issuer"
    )
    assert (error.retryable, error.billed, error.scope) == (False, False, "account")


@pytest.mark.parametrize("wire", WIRES)
def test_https_where_the_server_speaks_http(wire: str) -> None:
    with listening(says(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as port:
        error = ask(wire, f"https://127.0.0.1:{port}")
    assert str(error) == (
        f"cannot connect to 127.0.0.1:{port}: the TLS handshake failed (wrong version number); "
        "check `http` or `https` in `api_base`"
    )
    assert (error.retryable, error.billed, error.scope) == (True, False, "host")
