"""Real git servers on this machine: git's daemon, and its HTTP backend."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.checkout import ENVIRONMENT
from tests.http_server import QuietHandler, free_port, serving

READY: Final = "Ready to rumble"


@contextmanager
def daemon(folder: Path) -> Iterator[str]:
    """Serve the repositories of a folder by git's own protocol."""
    port = free_port()
    options = ("--verbose", "--export-all", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}")
    command = ["git", "daemon", *options, f"--base-path={folder}", str(folder)]
    with subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        next(line for line in server.stderr if READY in line)
        try:
            yield f"git://127.0.0.1:{port}"
        finally:
            server.terminate()


@contextmanager
def http(folder: Path, asked_for: list[str] | None = None) -> Iterator[str]:
    """Serve the repositories of a folder as GitHub does, and keep the paths that were asked for."""

    class Backend(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """Let git answer."""
            self.do_GET()

        def do_GET(self) -> None:
            """Let git answer."""
            path, _, query = self.path.partition("?")
            if asked_for is not None:
                asked_for.append(path)
            sent = self.body()
            asked = {
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(sent)),
            }
            command = ["git", "http-backend"]
            environment = {**ENVIRONMENT, **asked}
            done = subprocess.run(
                command, env=environment, input=sent, capture_output=True, check=True
            )
            head, _, body = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
            self.send_response(int(headers.pop("Status", "200").split()[0]))
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    with serving(Backend) as server:
        yield server.url
