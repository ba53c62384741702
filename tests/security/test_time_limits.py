"""Servers, answers and targets that do not end: `RUBRIC_CI_MAX_SECONDS` and SIGTERM still hold.

Each run has one case that can be graded and others that would never end, and must end with a whole
report; where signals are the subject it is a process. Judges are looked at before a target is
started that costs something.
"""

import json
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests import platforms
from tests.forked_command import started
from tests.http_server import QuietHandler, serving
from tests.invoke import invoke
from tests.sample_project import Project, clean_environment

pytestmark = platforms.SIGNALS

EVALS = """\
evalcases:
  - id: quick
    input: Say hello
    execution:
      target: recorded
      evaluators: [{name: polite, type: code_judge, score_from: exit_status, script: 'true'}]
"""
SLOW = """\
  - id: {id}
    input: Say hello
    execution:
      target: {target}
      evaluators: [{{name: rubric, type: llm_judge, model: openai/{model}, rubrics: [Greets]}}]
"""
JUDGE = '{{model: openai/gpt-6-luna, api_base: "{url}/v1", api_key: k, timeout_seconds: 600}}'
RECORDED = "{name: recorded, provider: recorded, answers: answers.jsonl}"
CONFIG = "judge: {judge}\ntargets:\n  - {recorded}\n  - {target}\n"
STUBBORN = (
    "{name: default, provider: cli, timeout_seconds: 600, command_template: "
    "'trap \"\" TERM INT; touch reached; while :; do sleep 1; done'}"
)
FLOOD = "< " * 500_000
WAITING = ("silence", "headers_without_end", "trickle", "retry_later")
ONE = {"slow": ("gpt-6-luna", "default")}  # the model that judges each case, and its target
LOOKED_AT = {kind: (kind, "default") for kind in WAITING}
JUDGED = {kind: (kind, "recorded") for kind in WAITING} | ONE
LATER = "110"  # seconds that a request waits for before it is repeated


class Endless(QuietHandler):
    """A server of one kind of attack, named by `attack`; other kinds are named by the model."""

    attack = ""
    ended = threading.Event()
    reached = threading.Event()
    missing: set[str] = set()  # noqa: RUF012 - models that were not asked yet

    def do_POST(self) -> None:
        self.reply_to(self.body().decode())

    def do_GET(self) -> None:
        self.reply_to(self.path)

    def reply_to(self, asked: str) -> None:
        kind = next((kind for kind in WAITING if kind in asked), self.attack)
        self.missing.discard(kind)
        if not self.missing:
            self.reached.set()
        with suppress(OSError):  # the client is gone
            getattr(self, kind)()

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


class EndlessReplies(Endless):
    """A server that lists each model, and attacks the judgements."""

    def do_GET(self) -> None:
        self.listed()


@contextmanager
def attacking(
    kind: str, *missing: str, handler: type[Endless] = Endless
) -> Iterator[tuple[str, threading.Event]]:
    """Yield the URL, and the event that all `missing` models were asked, or one was."""
    Endless.ended.clear()
    Endless.reached.clear()
    Endless.missing = {*missing}
    with serving(type("Handler", (handler,), {"attack": kind})) as server:
        yield server.url, Endless.reached
        Endless.ended.set()


def project_at(
    folder: Path,
    url: str,
    *,
    target: str = "",
    answer: str = "Hello",
    slow: Mapping[str, tuple[str, str]] = ONE,
) -> Project:
    project = Project(folder)
    target = target or "{name: default, provider: recorded, answers: answers.jsonl}"
    judge = JUDGE.format(url=url)
    project.write("rubric-ci.yaml", CONFIG.format(judge=judge, recorded=RECORDED, target=target))
    cases = (SLOW.format(id=i, model=model, target=on) for i, (model, on) in slow.items())
    project.write("evals/a.eval.yaml", EVALS + "".join(cases))
    answers = [{"id": "quick", "answer": "Hello"}, *({"id": i, "answer": answer} for i in slow)]
    project.write("answers.jsonl", "".join(f"{json.dumps(each)}\n" for each in answers))
    return project


def reasons(project: Project) -> dict[str, str]:
    return {case["id"]: case["reason"] for case in project.report()["cases"] if "reason" in case}


def slow_reasons(project: Project) -> dict[str, str]:
    return {name: reason for name, reason in reasons(project).items() if name != "quick"}


INTERRUPTED = "interrupted before it finished"
TIME_IS_UP = "budget: time limit of 3 s reached"


def test_max_seconds_end_the_look_at_judges_before_targets_start(tmp_path: Path) -> None:
    with attacking("listed", *WAITING) as (url, reached):
        project = project_at(tmp_path, url, target=STUBBORN, slow=LOOKED_AT)
        limit = clean_environment() | {"RUBRIC_CI_MAX_SECONDS": "3"}
        done = invoke(project.root, limit, "run", "evals")
        assert reached.is_set()
    assert done.returncode == 3
    assert slow_reasons(project) == dict.fromkeys(WAITING, TIME_IS_UP)
    assert not list(project.root.rglob("reached")), "the target was started all the same"


def test_max_seconds_end_judgements_and_a_target_that_ignores_signals(tmp_path: Path) -> None:
    with attacking("listed", *WAITING, handler=EndlessReplies) as (url, reached):
        project = project_at(tmp_path, url, target=STUBBORN, slow=JUDGED)
        limit = clean_environment() | {"RUBRIC_CI_MAX_SECONDS": "5"}
        done = invoke(project.root, limit, "run", "evals")
        assert reached.is_set()
    assert list(project.root.rglob("reached"))
    said = "budget: time limit of 5 s reached"
    later = {"retry_later": f"rubric: {said}; before that: HTTP 429: Too Many Requests"}
    assert done.returncode == 3
    assert slow_reasons(project) == (
        {"slow": said} | dict.fromkeys(WAITING, f"rubric: {said}") | later
    )
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


def test_sigterm_ends_the_look_at_judges_before_targets_start(tmp_path: Path) -> None:
    with attacking("listed", *WAITING) as (url, reached):
        project = project_at(tmp_path, url, target=STUBBORN, slow=LOOKED_AT)
        process = started(project.root, clean_environment(), "run", "evals")
        assert reached.wait(60)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=50)
    assert (process.returncode, "Traceback" in err) == (3, False)
    assert slow_reasons(project) == dict.fromkeys(WAITING, INTERRUPTED)
    assert not list(project.root.rglob("reached")), "the target was started all the same"


def test_sigterm_ends_judgements_and_a_target_that_ignores_signals(tmp_path: Path) -> None:
    with attacking("listed", *WAITING, handler=EndlessReplies) as (url, reached):
        project = project_at(tmp_path, url, target=STUBBORN, slow=JUDGED)
        process = started(project.root, clean_environment(), "run", "evals")
        assert reached.wait(60)
        marker = threading.Event()
        while not marker.wait(0.1) and not list(project.root.rglob("reached")):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 3
    assert project.report()["scope"]["narrowed_by"] == ["interrupted"]
    assert slow_reasons(project) == dict.fromkeys(JUDGED, INTERRUPTED)
