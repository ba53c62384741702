"""`rubric-ci run` with a judge or a model that does not reply: requests, targets and reasons."""

import json
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.http_server import serving
from tests.sample_project import Project

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX shell lines"),
]

CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {{model: openai/gpt-4.1-mini, api_base: "{url}/v1", api_key: sk-live}}
targets:
  - {{name: default, provider: cli, command_template: "echo {{EVAL_ID}} >> {log}; echo hello"}}
  - {{name: model, model: openai/gpt-4.1, api_base: "{url}/v1", api_key: sk-live}}
  - {{name: kept, provider: mock, response: hello}}
"""
CASES = [f"case-{number}" for number in range(1, 13)]
EVALS = "evalcases:\n" + "".join(
    f"  - {{id: {name}, input: Greet {name}, rubrics: [Greets]}}\n" for name in CASES
)
GOOD = {"c1": {"evidence": "hello", "reasoning": "It greets.", "satisfied": True}}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The status and the body of every reply, and of every entry of a model."""

    status: int = 200
    body: Mapping[str, Any] = field(default_factory=dict)
    listed: int = 404


@dataclass
class Judge:
    """A server and what it was sent."""

    url: str = ""
    requests: int = 0
    looked_up: int = 0


def error(message: str, code: str = "") -> dict[str, Any]:
    return {"error": {"message": message, "type": code or "error", "code": code or None}}


def good() -> dict[str, Any]:
    message = {"role": "assistant", "content": json.dumps(GOOD)}
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@contextmanager
def judge_with(reply: Reply) -> Iterator[Judge]:
    judge = Judge()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            judge.looked_up += 1
            self._send(reply.listed, {} if reply.listed == 200 else reply.body)

        def do_POST(self) -> None:
            judge.requests += 1
            self.rfile.read(int(self.headers["Content-Length"]))
            self._send(reply.status, reply.body)

        def _send(self, status: int, body: Mapping[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with serving(Handler) as server:
        judge.url = server.url
        yield judge


def build(root: Path, url: str) -> Project:
    project = Project(root)
    project.write("rubric-ci.yaml", CONFIG.format(url=url, log=root / "started"))
    project.write("evals/a.eval.yaml", EVALS)
    return project


def started(root: Path) -> int:
    log = root / "started"
    return len(log.read_text().splitlines()) if log.exists() else 0


def reasons(project: Project) -> set[str]:
    cases = project.report()["cases"]
    assert {case["outcome"] for case in cases} == {"errored"}
    return {case["reason"] for case in cases}


KEY = error("Incorrect API key provided", "invalid_api_key")
MODEL = error("The model `gpt-4.1-mini` does not exist", "model_not_found")
QUOTA = error("You have used up your plan.", "insufficient_quota")


def test_a_key_that_the_server_refuses_starts_no_target(tmp_path: Path) -> None:
    with judge_with(Reply(status=401, body=KEY, listed=401)) as judge:
        project = build(tmp_path, judge.url)
        done = project.run()
        assert (done.returncode, judge.looked_up, judge.requests) == (3, 1, 0)
    assert started(tmp_path) == 0
    assert reasons(project) == {
        "rubric: openai/gpt-4.1-mini: HTTP 401: Incorrect API key provided (1 request)"
    }
    assert "12 cases: rubric: openai/gpt-4.1-mini: HTTP 401" in done.stdout
    assert done.stdout.count("Incorrect API key provided") == 1


def test_a_host_that_is_not_there_starts_no_target(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    project = build(tmp_path, f"http://127.0.0.1:{port}")
    assert project.run().returncode == 3
    assert started(tmp_path) == 0
    [reason] = reasons(project)
    assert reason.startswith(f"rubric: openai/gpt-4.1-mini: cannot connect to 127.0.0.1:{port}: ")
    assert reason.endswith("(5 requests)")


@pytest.mark.parametrize("listed", [200, 403, 404, 500])
def test_a_server_that_does_not_list_the_model_is_asked(listed: int, tmp_path: Path) -> None:
    with judge_with(Reply(body=good(), listed=listed)) as judge:
        project = build(tmp_path, judge.url)
        done = project.run()
        assert (done.returncode, judge.looked_up, judge.requests) == (0, 1, 12), done.stderr
    assert started(tmp_path) == 12
    assert project.report()["totals"]["calls"] == 12


@pytest.mark.parametrize(
    ("reply", "requests", "reason"),
    [
        pytest.param(
            Reply(status=401, body=KEY),
            1,
            "HTTP 401: Incorrect API key provided (1 request)",
            id="key",
        ),
        pytest.param(
            Reply(status=404, body=MODEL),
            1,
            "HTTP 404: The model `gpt-4.1-mini` does not exist (1 request)",
            id="model",
        ),
        pytest.param(
            Reply(status=429, body=QUOTA),
            1,
            "HTTP 429: You have used up your plan.; the quota is used up (1 request)",
            id="quota",
        ),
        pytest.param(
            Reply(status=200, body=QUOTA),
            1,
            "the reply is an error: You have used up your plan.; the quota is used up (1 request)",
            id="quota-with-status-200",
        ),
        pytest.param(
            Reply(status=403, body=error("no access")),
            1,
            "HTTP 403: no access (1 request)",
            id="403",
        ),
    ],
)
def test_a_refused_account_is_asked_once(
    reply: Reply, requests: int, reason: str, tmp_path: Path
) -> None:
    with judge_with(reply) as judge:
        project = build(tmp_path, judge.url)
        done = project.run("--target", "kept")
        assert (done.returncode, judge.requests) == (3, requests)
    assert reasons(project) == {f"rubric: openai/gpt-4.1-mini: {reason}"}
    assert project.report()["totals"]["calls"] == requests


def test_a_model_target_that_is_refused_is_asked_once(tmp_path: Path) -> None:
    with judge_with(Reply(status=401, body=KEY)) as judge:
        project = build(tmp_path, judge.url)
        assert project.run("--target", "model").returncode == 3
        assert judge.requests == 1
    assert reasons(project) == {"openai/gpt-4.1: HTTP 401: Incorrect API key provided (1 request)"}


def test_a_request_that_is_refused_for_itself_stops_no_other(tmp_path: Path) -> None:
    with judge_with(Reply(status=400, body=error("too long"))) as judge:
        project = build(tmp_path, judge.url)
        assert project.run("--target", "kept").returncode == 3
        assert judge.requests == 12
    assert reasons(project) == {"rubric: openai/gpt-4.1-mini: HTTP 400: too long (1 request)"}
