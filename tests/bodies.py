"""An HTTP server that answers every POST with the bytes it was given, well-formed or not."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.http_server import QuietHandler, serving


def chat(text: str, model: str = "m", tokens: tuple[int, int] = (10, 2)) -> dict[str, Any]:
    """Return the completion of a chat by OpenAI's format."""
    message = {"role": "assistant", "content": text}
    given, made = tokens
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A reply, byte by byte."""

    content: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    waits: bool = False  # nothing is sent before the client is gone


@dataclass
class Bodies:
    """Gives its replies in order, the last one for ever."""

    url: str
    replies: list[Body]
    requests: list[bytes] = field(default_factory=list)  # their bodies
    paths: list[str] = field(default_factory=list)

    def next(self, request: bytes) -> Body:
        self.requests.append(request)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def answering(*replies: Body) -> Iterator[Bodies]:
    """Serve these replies on a free port."""

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            bodies.paths.append(self.path)
            body = bodies.next(self.body())
            if body.waits:
                self.rfile.read(1)
                return
            self.send_response(body.status)
            for name, value in body.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body.content)))
            self.end_headers()
            self.wfile.write(body.content)

    with serving(Handler) as server:
        bodies = Bodies(server.url, list(replies))
        yield bodies
