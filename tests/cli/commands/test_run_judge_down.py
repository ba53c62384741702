"""`rubric-ci run` with a judge or a model that does not reply: requests, targets and reasons."""

import json
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.bodies import chat
from tests.http_server import JsonHandler, serving
from tests.sample_project import Project

pytestmark = platforms.SHELL

CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {{model: openai/gpt-6-luna, api_base: "{url}/v1", api_key: sk-live}}
targets:
  - {{name: default, provider: cli, command_template: "echo {{EVAL_ID}} >> {log}; echo hello"}}
  - {{name: model, model: openai/gpt-6.1-sol, api_base: "{url}/v1", api_key: sk-live}}
  - {{name: kept, provider: mock, response: hello}}
"""
CASES = [f"case-{number}" for number in range(1, 13)]
EVALS = "evalcases:\n" + "".join(
    f"  - {{id: {name}, input: Greet {name}, rubrics: [Greets]}}\n" for name in CASES
)
ENTRY = {"id": "gpt-6-luna", "object": "model"}
MARKS = {"c1": {"evidence": "hello", "reasoning": "It greets.", "satisfied": True}}
GOOD = chat(json.dumps(MARKS))


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
    bodies: list[dict[str, Any]] = field(default_factory=list)


def error(message: str, code: str = "") -> dict[str, Any]:
    return {"error": {"message": message, "type": code or "error", "code": code or None}}


@contextmanager
def judge_with(reply: Reply) -> Iterator[Judge]:
    judge = Judge()

    class Handler(JsonHandler):
        def do_GET(self) -> None:
            judge.looked_up += 1
            self.send_json(reply.listed, ENTRY if reply.listed == 200 else reply.body)

        def do_POST(self) -> None:
            judge.requests += 1
            judge.bodies.append(self.received())
            self.send_json(reply.status, reply.body)

    with serving(Handler) as server:
        judge.url = server.url
        yield judge


def build(root: Path, url: str, config: str = CONFIG) -> Project:
    project = Project(root)
    project.write("rubric-ci.yaml", config.format(url=url, log=root / "started"))
    project.write("evals/a.eval.yaml", EVALS)
    return project


def started(root: Path) -> int:
    log = root / "started"
    return len(log.read_text().splitlines()) if log.exists() else 0


def one_row(shown: str) -> bool:
    """Return True if the terminal shows the twelve cases, which share a reason, in one row."""
    rows = [line for line in shown.splitlines() if re.match(r"│ [✓~✗!-] ", line)]
    return len(rows) == 1 and rows[0].startswith("│ ! │ 12 cases: case-1, case-2, ")


def reasons(project: Project) -> set[str]:
    cases = project.report()["cases"]
    assert {case["outcome"] for case in cases} == {"errored"}
    return {case["reason"] for case in cases}


KEY = error("Incorrect API key provided", "invalid_api_key")
MODEL = error("The model `gpt-6-luna` does not exist", "model_not_found")
QUOTA = error("You have used up your plan.", "insufficient_quota")


def test_a_key_that_the_server_refuses_starts_no_target(tmp_path: Path) -> None:
    with judge_with(Reply(status=401, body=KEY, listed=401)) as judge:
        project = build(tmp_path, judge.url)
        done = project.run()
        assert (done.returncode, judge.looked_up, judge.requests) == (3, 1, 0)
    assert started(tmp_path) == 0
    assert reasons(project) == {
        "rubric: openai/gpt-6-luna: HTTP 401: Incorrect API key provided (1 request)"
    }
    assert one_row(done.stdout)
    assert " ".join(done.stdout.split()).startswith(
        "Gate undecided: 12 cases errored 12 errored To do: fix what leaves 12 cases without a "
        "verdict: rubric: openai/gpt-6-luna: HTTP 401: Incorrect API key provided (1 request). "
    )


def test_a_host_that_is_not_there_starts_no_target(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    project = build(tmp_path, f"http://127.0.0.1:{port}")
    assert project.run().returncode == 3
    assert started(tmp_path) == 0
    [reason] = reasons(project)
    assert reason.startswith(f"rubric: openai/gpt-6-luna: cannot connect to 127.0.0.1:{port}: ")
    assert reason.endswith("(5 attempts)")


@pytest.mark.parametrize(
    ("listed", "looked_up", "requests"), [(200, 1, 12), (403, 1, 13), (404, 2, 13), (500, 1, 13)]
)
def test_a_model_without_an_entry_is_sent_one_short_request(
    listed: int, looked_up: int, requests: int, tmp_path: Path
) -> None:
    with judge_with(Reply(body=GOOD, listed=listed)) as judge:
        project = build(tmp_path, judge.url)
        done = project.run(RUBRIC_CI_DEBUG="true")
        assert (done.returncode, judge.requests) == (0, requests), done.stderr
        assert judge.looked_up == looked_up
    assert started(tmp_path) == 12
    report = project.report()
    assert (report["totals"]["calls"], report["beyond_cases"]["calls"]) == (requests, requests - 12)
    assert done.stderr.count("openai/gpt-6-luna (preflight)") == requests - 12


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, KEY, "Incorrect API key"),
        (404, MODEL, "The model `gpt-6-luna"),
        (429, QUOTA, "You have used up"),
        (400, error("m is not a valid model ID"), "m is not a valid model ID"),
    ],
    ids=["key", "model", "quota", "model-with-400"],
)
def test_a_judge_that_refuses_the_short_request_starts_no_target(
    status: int, body: Mapping[str, Any], reason: str, tmp_path: Path
) -> None:
    with judge_with(Reply(status=status, body=body, listed=403)) as judge:
        project = build(tmp_path, judge.url)
        done = project.run()
        assert (done.returncode, judge.looked_up, judge.requests) == (3, 1, 1)
    assert started(tmp_path) == 0
    [shown] = reasons(project)
    assert shown.startswith(f"rubric: openai/gpt-6-luna: HTTP {status}: {reason}")
    assert project.report()["totals"]["calls"] == 1
    assert one_row(done.stdout)


def test_a_judge_that_refuses_the_parameters_replies(tmp_path: Path) -> None:
    refusal = error("max_tokens or model output limit was reached")
    with judge_with(Reply(status=400, body=refusal, listed=404)) as judge:
        project = build(tmp_path, judge.url)
        assert project.run().returncode == 3
        assert judge.requests == 13
    assert started(tmp_path) == 12


def test_another_format_is_looked_up_too(tmp_path: Path) -> None:
    unknown = {"type": "error", "error": {"type": "not_found_error", "message": "model: c"}}
    with judge_with(Reply(status=404, body=unknown)) as judge:
        config = CONFIG.replace("openai/gpt-6-luna", "anthropic/c").replace("/v1", "")
        project = build(tmp_path, judge.url, config)
        done = project.run("--case", "case-1")
        assert (done.returncode, judge.looked_up, judge.requests) == (3, 1, 1)
        (sent,) = judge.bodies
    assert started(tmp_path) == 0
    assert reasons(project) == {"rubric: anthropic/c: HTTP 404: model: c (1 request)"}
    assert (sent["max_tokens"], len(sent["messages"])) == (16, 1)
    assert "about 1 request to anthropic/c" in done.stderr


def test_every_model_is_asked_once_whatever_its_options(tmp_path: Path) -> None:
    """Judge and target are one model of one account, with another temperature."""
    with judge_with(Reply(body=GOOD)) as judge:
        same = CONFIG.replace("gpt-6.1-sol,", "gpt-6-luna, temperature: 1,")
        project = build(tmp_path, judge.url, same)
        assert project.run("--target", "model").returncode == 0
        assert (judge.looked_up, judge.requests) == (2, 1 + 12 + 12)


@pytest.mark.parametrize(
    "options", [("--offline",), ("--list",), ("--target", "kept")], ids=" ".join
)
def test_no_preflight_where_no_target_is_asked(options: tuple[str, ...], tmp_path: Path) -> None:
    with judge_with(Reply(body=GOOD)) as judge:
        project = build(tmp_path, judge.url)
        project.run(*options)
        judged = 12 if "--target" in options else 0
        assert (judge.looked_up, judge.requests) == (0, judged)


def test_no_preflight_where_every_answer_is_cached(tmp_path: Path) -> None:
    with judge_with(Reply(body=GOOD)) as judge:
        project = build(tmp_path, judge.url)
        assert project.run("--target", "model").returncode == 0
        before = (judge.looked_up, judge.requests)
        assert project.run("--target", "model", "--reuse", "answers").returncode == 0
        assert (judge.looked_up, judge.requests) == before
    assert project.report()["beyond_cases"]["calls"] == 0


def test_the_preflight_is_not_recorded_and_not_replayed(tmp_path: Path) -> None:
    with judge_with(Reply(body=GOOD)) as judge:
        project = build(tmp_path, judge.url)
        assert project.run("--record", "kept.jsonl").returncode == 0
        assert judge.requests == 13
        # An answer of the program and a reply of the judge for each case.
        assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 12 + 12
        assert project.run("--replay", "kept.jsonl").returncode == 0
        assert (judge.looked_up, judge.requests) == (2, 13)


def test_the_preflight_counts_towards_the_limit_of_calls(tmp_path: Path) -> None:
    with judge_with(Reply(body=GOOD)) as judge:
        project = build(tmp_path, judge.url)
        done = project.run("--max-calls", "1")
        assert (done.returncode, judge.requests) == (3, 1)
    assert reasons(project) == {"rubric: budget: call limit of 1 reached"}


USED_UP = "You have used up your plan.; the quota is used up"


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, KEY, "HTTP 401: Incorrect API key provided"),
        (404, MODEL, "HTTP 404: The model `gpt-6-luna` does not exist"),
        (429, QUOTA, f"HTTP 429: {USED_UP}"),
        (200, QUOTA, f"the reply is an error: {USED_UP}"),
        (403, error("no access"), "HTTP 403: no access"),
    ],
    ids=["key", "model", "quota", "quota-with-status-200", "403"],
)
def test_a_refused_account_is_asked_once(
    status: int, body: Mapping[str, Any], reason: str, tmp_path: Path
) -> None:
    with judge_with(Reply(status=status, body=body)) as judge:
        project = build(tmp_path, judge.url)
        done = project.run("--target", "kept")
        assert (done.returncode, judge.requests) == (3, 1)
    assert reasons(project) == {f"rubric: openai/gpt-6-luna: {reason} (1 request)"}
    assert project.report()["totals"]["calls"] == 1


def test_a_model_target_that_is_refused_is_asked_once(tmp_path: Path) -> None:
    with judge_with(Reply(status=401, body=KEY)) as judge, judge_with(Reply(body=GOOD)) as good_one:
        config = CONFIG.replace("{url}/v1", f"{good_one.url}/v1", 1)
        project = build(tmp_path, judge.url, config)
        assert project.run("--target", "model").returncode == 3
        assert (judge.requests, good_one.requests) == (1, 1)
    assert reasons(project) == {
        "openai/gpt-6.1-sol: HTTP 401: Incorrect API key provided (1 request)"
    }


def test_a_request_that_is_refused_for_itself_stops_no_other(tmp_path: Path) -> None:
    with judge_with(Reply(status=400, body=error("too long"))) as judge:
        project = build(tmp_path, judge.url)
        assert project.run("--target", "kept").returncode == 3
        assert judge.requests == 12
    assert reasons(project) == {"rubric: openai/gpt-6-luna: HTTP 400: too long (1 request)"}
