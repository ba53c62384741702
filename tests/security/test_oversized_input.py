"""Answers, replies and responses without end, redirects, and servers that trickle."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rubric_ci import targets
from rubric_ci.errors import CannotAnswer, CannotJudge
from rubric_ci.judge.repair import ask_until_usable
from rubric_ci.llm import openai_http
from rubric_ci.llm.retry import RequestError
from rubric_ci.model.config import Endpoint, MockTarget
from rubric_ci.model.llm_calls import ChatMessage, ModelCall, ModelReply
from rubric_ci.targets import healthcheck
from tests.cases import build_case, build_context

pytestmark = pytest.mark.timeout(60)


class Hostile(BaseHTTPRequestHandler):
    ended = threading.Event()
    followed: list[str] = []  # noqa: RUF012 - the test looks at it

    def do_GET(self) -> None:
        if self.path.startswith("/trickle"):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not self.ended.wait(0.05):
                self.wfile.write(b"X-More: more\r\n")
        elif self.path.startswith("/elsewhere"):
            self.followed.append(self.headers.get("Authorization", ""))
            self.send_response(200)
        else:
            self.send_response(307)
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.startswith("/big"):
            return self.do_GET()
        self.send_response(200)
        self.end_headers()
        try:
            for _ in range(100):
                self.wfile.write(b" " * 2**20)
        except OSError:
            pass

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by the library
        pass


@pytest.fixture
def address() -> Iterator[str]:
    Hostile.ended.clear()
    Hostile.followed.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    Hostile.ended.set()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/redirect", "HTTP 307: redirects are not followed; check `api_base`"),
        ("/big", "the response has more than 8 MiB"),
    ],
)
def test_a_model_s_server(address: str, path: str, message: str) -> None:
    endpoint = Endpoint(model="openai/m", options={"api_base": address + path, "api_key": "k"})
    with pytest.raises(RequestError) as caught:
        asyncio.run(openai_http.post(endpoint, {"model": "m"}))
    assert (str(caught.value), caught.value.retryable) == (message, False)
    assert Hostile.followed == []


def test_a_health_check_follows_no_redirect(address: str) -> None:
    said = asyncio.run(healthcheck.probe(f"{address}/redirect", 10))
    redirected = "answers 307 Temporary Redirect; redirects are not followed"
    assert said == f"{address}/redirect {redirected}"
    assert Hostile.followed == []


def test_a_health_check_does_not_wait_for_a_server_that_trickles(address: str) -> None:
    said = asyncio.run(healthcheck.probe(f"{address}/trickle", 0.5))
    assert said == f"{address}/trickle does not answer: timed out"


def test_an_answer_is_refused_and_not_cut(tmp_path: Path) -> None:
    target = MockTarget(name="m", response="a" * 1_000_001)
    with pytest.raises(CannotAnswer) as caught:
        asyncio.run(targets.answer(build_case(), target, build_context(tmp_path)))
    assert str(caught.value) == (
        "the answer of the target `m` has 1,000,001 characters; at most 1,000,000 are graded"
    )


def test_a_reply_of_a_judge_is_refused_and_not_read() -> None:
    async def ask(_: ModelCall) -> ModelReply:
        return ModelReply(text="{" * 1_000_001)

    def read(_: str) -> str:
        raise AssertionError

    call = ModelCall(
        endpoint=Endpoint(model="m"),
        messages=(ChatMessage(role="user", content="?"),),
        key="k",
        about="a",
    )
    with pytest.raises(CannotJudge) as caught:
        asyncio.run(ask_until_usable(ask, call, read))
    said = "the reply of the judge has 1,000,001 characters; at most 1,000,000 are read"
    assert str(caught.value) == said
