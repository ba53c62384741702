"""Answers, replies and responses without end, and servers that trickle."""

import asyncio
import gzip
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from rubric_ci.errors import CannotAnswer
from rubric_ci.files.validation.agentv import guideline_problems
from rubric_ci.github.rest_api import MAX_BODY, ApiError, Server, connected, own_login
from rubric_ci.grading import targets
from rubric_ci.grading.targets import command
from rubric_ci.models.llm import http_guard
from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.parts.litellm import batch_http
from rubric_ci.parts.litellm.batch import send_batch
from rubric_ci.parts.litellm.batch_http import BatchServer
from rubric_ci.parts.litellm.litellm_client import loaded_litellm
from rubric_ci.system.backoff import Backoff
from rubric_ci.values.llm_calls import ModelCall
from rubric_ci.values.references import Found
from rubric_ci.values.targets import MockTarget
from tests.cases import build_call, build_case, build_context
from tests.http_server import QuietHandler, serving

MIB = 2**20
GZIP = zlib.MAX_WBITS | 16
DEFLATE = zlib.MAX_WBITS


@cache
def packed(size: int, container: int = GZIP) -> bytes:
    """Return this many blanks, compressed; memory never holds all of them."""
    packer = zlib.compressobj(1, wbits=container)
    pieces = [packer.compress(b" " * min(MIB, size - at)) for at in range(0, size, MIB)]
    return b"".join([*pieces, packer.flush()])


class Hostile(QuietHandler):
    ended = threading.Event()

    def do_GET(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not self.ended.wait(0.05):
            self.wfile.write(b"X-More: more\r\n")

    def do_POST(self) -> None:
        self.body()
        if self.path.startswith("/big"):
            self.send(b" " * 2**20 for _ in range(100))
        else:
            self.send([packed(32 * MIB)], encoding="gzip")

    def send(self, chunks: Iterable[bytes], encoding: str = "identity") -> None:
        self.send_response(200)
        self.send_header("Content-Encoding", encoding)
        self.end_headers()
        with suppress(OSError):  # the client has read enough
            for chunk in chunks:
                self.wfile.write(chunk)


@pytest.fixture
def address() -> Iterator[str]:
    Hostile.ended.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    Hostile.ended.set()
    server.shutdown()
    server.server_close()


def call_at(url: str, model: str = "openai/gpt-6.1-sol") -> ModelCall:
    return build_call(model, options={"api_base": url, "api_key": "k"})


LARGE = "the response has more than 8 MiB"


@pytest.mark.parametrize("path", ["/big", "/packed"])
@pytest.mark.parametrize(
    "model",
    [
        *("openai/gpt-6.1-sol", "together_ai/llama"),
        *("anthropic/claude-sonnet-5-5", "gemini/gemini-3.8-flash"),
    ],
)
def test_a_reply_without_end(address: str, model: str, path: str) -> None:
    with pytest.raises(RequestError) as caught:
        asyncio.run(request(call_at(address + path, model)))
    assert (str(caught.value), caught.value.retryable) == (LARGE, False)
    assert caught.value.billed


BROKEN = "broken reply: 'utf-8' codec can't decode byte 0x8b in position 1: invalid start byte"
NOT_OFFERED = "the response has the encoding `{}`, which is not offered"
BOMBS: dict[
    str, tuple[Callable[[], bytes], str, str]
] = {  # what unpacks to 64 MiB, and what is said of it by aiohttp and by httpx
    "gzip": (lambda: packed(64 * MIB), LARGE, LARGE),
    "deflate": (lambda: packed(64 * MIB, DEFLATE), LARGE, NOT_OFFERED),
    "gzip, gzip": (lambda: gzip.compress(packed(64 * MIB)), BROKEN, NOT_OFFERED),
    # aiohttp can read these only with packages of their own, or as of Python 3.14, piece by piece
    "br": (lambda: b"\x1b", "", NOT_OFFERED),
    "zstd": (lambda: b"\x28\xb5\x2f\xfd", "", NOT_OFFERED),
}


@pytest.mark.parametrize("model", ["openai/gpt-6.1-sol", "mistral/mistral-small-latest"])
@pytest.mark.parametrize("encoding", BOMBS)
def test_a_reply_that_unpacks_to_more(model: str, encoding: str) -> None:
    made, by_aiohttp, by_httpx = BOMBS[encoding]
    content = made()
    offered = []

    class Bomb(QuietHandler):
        def do_POST(self) -> None:
            self.body()
            offered.append(self.headers["Accept-Encoding"])
            self.respond(200, content, {"Content-Encoding": encoding})

    async def ask(url: str) -> str:
        await loaded_litellm("openai/m")
        call = call_at(url, model)
        with suppress(RequestError):
            await request(call)  # imports what litellm needs for this model
        tracemalloc.start()
        try:
            await request(call)
        except RequestError as error:
            return str(error)
        return "no error"

    with serving(Bomb) as server:
        said = asyncio.run(ask(server.url))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expected = by_aiohttp if model.startswith("openai/") else by_httpx
    assert said == (expected.format(encoding) or said)
    assert said != "no error"
    assert peak < 4 * http_guard.MAX_BODY
    assert set(offered) == {http_guard.OFFERED}


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (http_guard.MAX_BODY + 1, ""),
        (2 * http_guard.MAX_BODY + 1, "the response has more than 16 MiB"),
    ],
    ids=["more than of one reply", "more than of a batch"],
)
def test_the_replies_of_a_batch(size: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of 256 MiB is lowered here: to unpack so much takes a second."""
    assert http_guard.MAX_FILE == 256 * MIB
    monkeypatch.setattr(batch_http, "MAX_FILE", 2 * http_guard.MAX_BODY)

    class Stored(QuietHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(packed(size))

    async def read() -> str:
        reader = BatchServer(call_at(server.url).endpoint, Backoff(attempts=1))
        try:
            return str(len(await reader.read("file-1")))
        except RequestError as error:
            return str(error)

    with serving(Stored) as server:
        assert asyncio.run(read()) == (said or str(size))


def test_a_response_of_github() -> None:
    class Endless(QuietHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(packed(MAX_BODY + 1))

    with serving(Endless) as address:
        server = Server(api_url=address.url, token="t", sleep=lambda _: None)
        with pytest.raises(ApiError) as caught, connected(server, "the user") as client:
            own_login(client)
    assert str(caught.value) == f"the response of {address.url} has more than 64 MiB"


def test_a_health_check_does_not_wait_for_a_server_that_trickles(address: str) -> None:
    said = asyncio.run(command.probe(f"{address}/trickle", 0.5))
    assert said == f"{address}/trickle does not respond: timed out"


def test_an_answer_is_refused_and_not_cut(tmp_path: Path) -> None:
    target = MockTarget(name="m", response="a" * 1_000_001)
    with pytest.raises(CannotAnswer) as caught:
        asyncio.run(targets.answer(build_case(), target, build_context(tmp_path)))
    assert str(caught.value) == (
        "the answer of the target `m` has 1,000,001 characters; at most 1,000,000 are graded"
    )


@pytest.mark.parametrize(
    "pattern", ["{a,b}" * 40, "{a,b}" * 5_000, f"{{{',' * 2_000}}}", "{" * 100_000 + "," * 100_000]
)
def test_braces_that_stand_for_more_globs_than_fit(pattern: str) -> None:
    text = f"guideline_patterns: ['{pattern}']\n"
    found = [str(each.message) for each in guideline_problems(lambda name: Found(name, text))]
    too_many = ["a pattern of .agentv/config.yaml stands for more than 1,000 globs"]
    assert found == ([] if pattern.startswith("{{") else too_many)


@pytest.mark.parametrize("reply", [b"hello", b"[]", b"{}", b'{"id": 1}', b"<html>", b""])
def test_a_batch_whose_server_speaks_another_language(reply: bytes) -> None:
    class Wrong(QuietHandler):
        def do_POST(self) -> None:
            self.body()
            self.respond(200, reply)

    with serving(Wrong) as server:
        backoff = Backoff(attempts=1)
        sent = send_batch([call_at(server.url)], notify=print, poll=0.01, backoff=backoff)
        (outcome,) = asyncio.run(sent)
    assert isinstance(outcome, RequestError)
    assert str(outcome).startswith("batch: broken reply: ")
