"""Servers, answers and targets that do not end: `RUBRIC_CI_MAX_SECONDS` and SIGTERM still hold.

Each run has one case that is graded and one that would never end, and must end with a whole report;
where signals are the subject it is a real process.
"""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.http_server import serving
from tests.invoke import invoke
from tests.sample_project import Project, clean_environment

pytestmark = [
    pytest.mark.timeout(180),
    platforms.SIGNALS,
]

EVALS = """\
evalcases:
  - id: quick
    input: Say hello
    execution:
      target: recorded
      evaluators: [{name: polite, type: code_judge, score_from: exit_status, script: 'true'}]
  - id: slow
    input: Say hello
    rubrics: [Greets]
"""
JUDGE = '{{model: openai/gpt-6-luna, api_base: "{url}/v1", api_key: k, timeout_seconds: 600}}'
RECORDED = "{name: recorded, provider: recorded, answers: answers.jsonl}"
CONFIG = "judge: {judge}\ntargets:\n  - {recorded}\n  - {target}\n"
STUBBORN = (
    "{name: default, provider: cli, timeout_seconds: 600, command_template: "
    "'trap \"\" TERM INT; touch reached; while :; do sleep 1; done'}"
)
FLOOD = "< " * 500_000
LATER = "110"  # seconds that a request waits for before it is repeated


class Endless(BaseHTTPRequestHandler):
    """A server of one kind of attack, named by `attack`."""

    attack = ""
    ended = threading.Event()
    reached = threading.Event()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.reached.set()
        with suppress(OSError):  # the client is gone
            getattr(self, self.attack)()

    def do_GET(self) -> None:
        self.reached.set()
        with suppress(OSError):
            getattr(self, self.attack)()

    def silence(self) -> None:
        self.ended.wait()

    def listed(self) -> None:
        self.reply(b"{}")

    def headers_without_end(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not self.ended.wait(0.2):
            self.wfile.write(b"X-More: more\r\n")

    def trickle(self) -> None:
        self.reply(b"", length=10**6)
        while not self.ended.wait(0.2):
            self.wfile.write(b" ")

    def retry_later(self) -> None:
        self.reply(b"", status=429, after=LATER)

    def retry_in_an_hour(self) -> None:
        self.reply(b"", status=429, after="3600")

    def flood(self) -> None:
        message = {"role": "assistant", "content": FLOOD[:900_000]}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self.reply(json.dumps({"choices": [choice], "usage": usage}).encode())

    def reply(self, body: bytes, *, status: int = 200, after: str = "", length: int = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length or len(body)))
        if after:
            self.send_header("Retry-After", after)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def attacking(kind: str) -> Iterator[tuple[str, threading.Event]]:
    Endless.ended.clear()
    Endless.reached.clear()
    with serving(type("Handler", (Endless,), {"attack": kind})) as server:
        yield server.url, Endless.reached
        Endless.ended.set()


def project_at(folder: Path, url: str, *, target: str = "", answer: str = "Hello") -> Project:
    project = Project(folder)
    target = target or "{name: default, provider: recorded, answers: answers.jsonl}"
    judge = JUDGE.format(url=url)
    project.write("rubric-ci.yaml", CONFIG.format(judge=judge, recorded=RECORDED, target=target))
    project.write("evals/a.eval.yaml", EVALS)
    answers = ({"id": "quick", "answer": "Hello"}, {"id": "slow", "answer": answer})
    project.write("answers.jsonl", "".join(f"{json.dumps(each)}\n" for each in answers))
    return project


def start(project: Project) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "rubric_ci", "run", "evals"],
        cwd=project.root,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def reasons(project: Project) -> dict[str, str]:
    return {case["id"]: case["reason"] for case in project.report()["cases"] if "reason" in case}


TIME_IS_UP = "budget: time limit of 3 s reached"
WAITING = ("silence", "headers_without_end", "trickle", "retry_later")


@pytest.mark.parametrize("kind", WAITING)
def test_max_seconds(kind: str, tmp_path: Path) -> None:
    with attacking(kind) as (url, _):
        project = project_at(tmp_path, url)
        limit = clean_environment() | {"RUBRIC_CI_MAX_SECONDS": "3"}
        done = invoke(project.root, limit, "run", "evals")
    assert done.returncode == 3
    assert TIME_IS_UP in reasons(project)["slow"]
    assert project.report()["cases"][0]["outcome"] == "graded"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("retry_in_an_hour", "the server asks to wait 3600 s"),
        ("flood", "no valid reply in 3 attempts; the last one: the reply holds no JSON object"),
    ],
)
def test_no_limit_is_needed(kind: str, said: str, tmp_path: Path) -> None:
    with attacking(kind) as (url, _):
        project = project_at(tmp_path, url, answer=FLOOD)
        done = invoke(project.root, clean_environment(), "run", "evals")
    assert done.returncode == 3
    assert said in reasons(project)["slow"]


def test_max_seconds_ends_a_target_that_ignores_signals(tmp_path: Path) -> None:
    with attacking("listed") as (url, _):
        project = project_at(tmp_path, url, target=STUBBORN)
        limit = clean_environment() | {"RUBRIC_CI_MAX_SECONDS": "5"}
        done = invoke(project.root, limit, "run", "evals")
    assert list(project.root.rglob("reached"))
    assert done.returncode == 3
    assert reasons(project)["slow"] == "budget: time limit of 5 s reached"


@pytest.mark.parametrize("kind", WAITING)
def test_sigterm(kind: str, tmp_path: Path) -> None:
    with attacking(kind) as (url, reached):
        project = project_at(tmp_path, url)
        process = start(project)
        assert reached.wait(60)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 3
    assert project.report()["scope"]["narrowed_by"] == ["interrupted"]
    assert reasons(project)["slow"] == "interrupted before it finished"


def test_max_seconds_end_the_look_at_a_judge_before_targets_start(tmp_path: Path) -> None:
    with attacking("silence") as (url, reached):
        project = project_at(tmp_path, url, target=STUBBORN)
        limit = clean_environment() | {"RUBRIC_CI_MAX_SECONDS": "3"}
        done = invoke(project.root, limit, "run", "evals")
        assert reached.is_set()
    assert done.returncode == 3
    assert reasons(project)["slow"] == TIME_IS_UP
    assert not list(project.root.rglob("reached")), "the target was started all the same"


def test_sigterm_ends_the_look_at_a_judge_before_targets_start(tmp_path: Path) -> None:
    with attacking("silence") as (url, reached):
        project = project_at(tmp_path, url, target=STUBBORN)
        process = start(project)
        assert reached.wait(60)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=50)
    assert (process.returncode, "Traceback" in err) == (3, False)
    assert reasons(project)["slow"] == "interrupted before it finished"


def test_sigterm_ends_a_target_that_ignores_signals(tmp_path: Path) -> None:
    with attacking("listed") as (url, _):
        project = project_at(tmp_path, url, target=STUBBORN)
        process = start(project)
        marker = threading.Event()
        while not marker.wait(0.1) and not list(project.root.rglob("reached")):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 3
    assert reasons(project)["slow"] == "interrupted before it finished"
