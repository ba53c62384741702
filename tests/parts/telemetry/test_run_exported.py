"""`rubric-ci run` with an endpoint of OpenTelemetry: what a real receiver gets, and what it costs.

The SDK is an extra: without it, only the tests of what is said run.
"""

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from importlib import import_module
from typing import Any

import pytest
import yaml

from tests.checkout import ENVIRONMENT, Checkout
from tests.http_server import QuietHandler, serving
from tests.invoke import invoke

EVAL = f"""\
evalcases:
- id: order
  input: When does it arrive?
  target: kept
  rubrics:
  - {{id: day, contains: Friday}}
  - {{id: thanks, contains: Thank, required: false}}
- id: lost
  input: And now?
  target: kept
  rubrics: [{{contains: x}}]
- id: script
  input: Again?
  target: kept
  evaluators: [{{name: lint, type: code_judge, script: [{json.dumps(sys.executable)}, judge.py]}}]
"""
CONFIG = "targets: [{name: kept, provider: recorded, answers: answers.jsonl}]\n"
ANSWERS = (
    '{"id": "order", "answer": "On Friday. key-4711-abc", "duration_ms": 1500}\n'
    '{"id": "script", "answer": "Yes."}\n'
)
JUDGE = 'print(\'{"score": 0.9, "reasoning": "clean"}\')\n'
FILES = {"a.eval.yaml": EVAL, "rubric-ci.yaml": CONFIG, "answers.jsonl": ANSWERS, "judge.py": JUDGE}
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
REASON = "score 0.50 is below 0.60; largest loss: `thanks`: Contains `Thank`: it does not occur"


class Receiver:
    """A server of OTLP over HTTP that keeps the bodies it gets."""

    def __init__(self, status: int = 200, location: str = "") -> None:
        self.status, self.location = status, location
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []

    def handler(self, *given: Any) -> BaseHTTPRequestHandler:
        receiver = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                receiver.bodies.append(self.body())
                receiver.paths.append(self.path)
                receiver.headers.append({key.lower(): value for key, value in self.headers.items()})
                to = {"location": f"{receiver.location}/v1/traces"} if receiver.location else {}
                self.respond(receiver.status, headers=to)

        return Handler(*given)

    def requests(self, path: str, kind: str) -> Iterator[dict[str, Any]]:
        """Yield each request to a path, as JSON."""
        from google.protobuf.json_format import MessageToDict

        name = kind.lower()
        package = f"opentelemetry.proto.collector.{name}.v1.{name}_service_pb2"
        message = getattr(import_module(package), f"Export{kind}ServiceRequest")
        for sent_to, body in zip(self.paths, self.bodies, strict=True):
            if sent_to == path:
                yield MessageToDict(message.FromString(body))

    def resource_spans(self) -> list[dict[str, Any]]:
        return [each for r in self.requests("/v1/traces", "Trace") for each in r["resourceSpans"]]

    def spans(self) -> Iterator[dict[str, Any]]:
        for resource in self.resource_spans():
            for scope in resource["scopeSpans"]:
                yield from scope["spans"]

    def log_records(self) -> Iterator[dict[str, Any]]:
        for request in self.requests("/v1/logs", "Logs"):
            for resource in request["resourceLogs"]:
                yield from resource["scopeLogs"][0]["logRecords"]


def facts(written: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in written["attributes"]}


def event(
    name: str, value: float, label: str, explanation: str, kind: str = "assertion"
) -> dict[str, Any]:
    """Return the facts of the event of a mark."""
    marked = {"name": name, "score.value": value, "score.label": label, "explanation": explanation}
    named = {f"gen_ai.evaluation.{key}": fact for key, fact in marked.items()}
    return {**named, "rubric_ci.kind": kind, "rubric_ci.gated": False}


def run(
    checkout: Checkout, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    checkout.write(FILES)
    return invoke(checkout.root, {**ENVIRONMENT, **environment}, "run", *arguments)


@pytest.fixture
def receiver() -> Iterator[tuple[Receiver, str]]:
    pytest.importorskip(EXPORTER, reason="the extra `otel` is not installed")
    found = Receiver()
    with serving(found.handler) as server:
        yield found, server.url


def test_a_case_of_a_shard_is_sent_once(checkout: Checkout, receiver: tuple[Receiver, str]) -> None:
    """By the run of its shard, and not again by the merge of all."""
    found, url = receiver
    for number in (1, 2):
        folder = ("--output-dir", f"reports/{number}")
        run(checkout, "--shard", f"{number}/2", *folder, **{ENDPOINT: url})
    sent = sorted(facts(each)["test.case.name"] for each in found.spans())
    done = invoke(checkout.root, {**ENVIRONMENT, ENDPOINT: url}, "report", "merge", "reports")
    assert "exported" not in done.stderr
    assert sent == sorted(facts(each)["test.case.name"] for each in found.spans())
    assert sent == ["lost", "order", "script"]


def test_a_run_sends_a_span_per_case_and_an_event_per_criterion(
    checkout: Checkout, receiver: tuple[Receiver, str]
) -> None:
    found, url = receiver
    done = run(
        checkout,
        **{ENDPOINT: url, "OTEL_EXPORTER_OTLP_HEADERS": "x-team=shop"},
        SHOP_TOKEN="key-4711-abc",
    )
    assert done.returncode == 1, done.stderr
    assert "exported 3 spans to 127.0.0.1\n" in done.stderr
    assert (found.paths, found.headers[0]["x-team"]) == (["/v1/traces"], "shop")
    (resource,) = found.resource_spans()
    assert facts(resource["resource"])["service.name"] == "rubric-ci"
    order, lost, script = found.spans()
    about = {"test.suite.name": "a.eval.yaml", "rubric_ci.target": "kept"}
    assert order["name"] == "evaluate order"
    assert facts(order) == {
        **about,
        "test.case.name": "order",
        "rubric_ci.line": "2",
        "rubric_ci.outcome": "graded",
        "rubric_ci.reason": REASON,
        "test.case.result.status": "fail",
        "rubric_ci.verdict": "fail",
        "rubric_ci.score": 0.5,
    }
    assert "parentSpanId" not in order
    assert int(order["endTimeUnixNano"]) > int(order["startTimeUnixNano"])
    assert [each["name"] for each in order["events"]] == ["gen_ai.evaluation.result"] * 2
    assert [facts(each) for each in order["events"]] == [
        event("day", 1.0, "pass", "Contains `Friday`: it is in line 1"),
        event("thanks", 0.0, "fail", "Contains `Thank`: it does not occur"),
    ]
    assert lost["status"]["code"] == "STATUS_CODE_ERROR"
    assert "no answer for the case `lost`" in lost["status"]["message"]
    (marked,) = script["events"]
    assert facts(marked) == event("lint", 0.9, "pass", "clean", kind="code_judge")


def test_a_present_fault_is_a_fail(checkout: Checkout, receiver: tuple[Receiver, str]) -> None:
    found, url = receiver
    faults = EVAL.replace("Friday}", "Friday, penalty: 1}").replace("required: false", "penalty: 1")
    checkout.write(FILES | {"a.eval.yaml": faults})
    invoke(checkout.root, {**ENVIRONMENT, ENDPOINT: url}, "run")
    (order,) = [each for each in found.spans() if each["name"] == "evaluate order"]
    assert [
        (each["gen_ai.evaluation.name"], each["gen_ai.evaluation.score.label"])
        for each in map(facts, order["events"])
    ] == [("day", "fail"), ("thanks", "pass")]


def test_events_are_logged_on_demand(checkout: Checkout, receiver: tuple[Receiver, str]) -> None:
    found, url = receiver
    done = run(checkout, **{ENDPOINT: url, "OTEL_LOGS_EXPORTER": "otlp"})
    assert "exported 3 spans to 127.0.0.1\n" in done.stderr
    assert found.paths == ["/v1/traces", "/v1/logs"]
    spans = {each["spanId"]: each["name"] for each in found.spans()}
    assert not any("events" in each for each in found.spans())
    assert [
        (each["eventName"], spans[each["spanId"]], facts(each)["gen_ai.evaluation.name"])
        for each in found.log_records()
    ] == [
        ("gen_ai.evaluation.result", "evaluate order", "day"),
        ("gen_ai.evaluation.result", "evaluate order", "thanks"),
        ("gen_ai.evaluation.result", "evaluate script", "lint"),
    ]


def test_a_file_names_no_endpoint(checkout: Checkout, receiver: tuple[Receiver, str]) -> None:
    found, url = receiver
    named = f"{ENDPOINT}={url}\n"
    checkout.write({".env": named, ".otel/.env": named, "otel.yaml": f"endpoint: {url}\n"})
    run(checkout)
    assert found.bodies == []


def test_question_and_answer_are_sent_on_demand_without_secrets_and_can_be_imported(
    checkout: Checkout, receiver: tuple[Receiver, str]
) -> None:
    found, url = receiver
    run(
        checkout,
        **{ENDPOINT: url, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"},
        SHOP_TOKEN="key-4711-abc",
    )
    assert all(b"key-4711-abc" not in body for body in found.bodies)
    text = json.dumps({"resourceSpans": found.resource_spans()})
    for span in found.spans():  # OTLP has ids in hexadecimal digits, and JSON of protobuf in base64
        for key in ("traceId", "spanId"):
            text = text.replace(span[key], base64.b64decode(span[key]).hex())
    checkout.write({"sent.json": text})
    done = invoke(checkout.root, ENVIRONMENT, "import", "sent.json", "--where", "name=*order")
    assert done.returncode == 0, done.stdout
    (case,) = yaml.safe_load((checkout.root / "sent.eval.yaml").read_text())["evalcases"]
    assert (case["input"], case["tags"]) == ("When does it arrive?", ["day=pass", "thanks=fail"])
    (answer,) = (checkout.root / "sent.answers.jsonl").read_text().splitlines()
    assert json.loads(answer)["answer"] == "On Friday. ***"


@pytest.mark.parametrize(
    "environment", [{}, {"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}], ids=str
)
def test_nothing_is_sent_unless_it_is_asked_for(
    checkout: Checkout, receiver: tuple[Receiver, str], environment: dict[str, str]
) -> None:
    found, url = receiver
    own = {ENDPOINT: url} if environment else {}
    done = run(checkout, **own, **environment)
    assert (found.bodies, "export" in done.stderr) == ([], False)


def test_an_offline_run_sends_nothing(checkout: Checkout, receiver: tuple[Receiver, str]) -> None:
    found, url = receiver
    done = run(checkout, "--offline", **{ENDPOINT: url})
    assert (found.bodies, "export" in done.stderr) == ([], False)


@pytest.mark.parametrize(("status", "said"), [(404, "404"), (503, "Failed to export spans")])
def test_an_endpoint_that_refuses_is_told(checkout: Checkout, status: int, said: str) -> None:
    pytest.importorskip(EXPORTER, reason="the extra `otel` is not installed")
    with serving(Receiver(status).handler) as server:
        own = {ENDPOINT: server.url, "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
        done = run(checkout, "--case", "script", **own)
    assert done.returncode == 0, done.stderr
    (line,) = [each for each in done.stderr.splitlines() if "export" in each]
    assert line.startswith("results are not exported to 127.0.0.1: ")
    assert said in line


def test_no_redirect_is_followed(checkout: Checkout, receiver: tuple[Receiver, str]) -> None:
    found, url = receiver
    with serving(Receiver(307, url).handler) as server:
        own = {ENDPOINT: server.url, "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
        done = run(checkout, "--case", "script", **own)
    assert (done.returncode, found.bodies) == (0, [])
    assert "results are not exported to 127.0.0.1: " in done.stderr


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({ENDPOINT: "http://127.0.0.1:9"}, "results are not exported to 127.0.0.1: "),
        ({ENDPOINT: "no address"}, "results are not exported to the endpoint: "),
        (
            {ENDPOINT: "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL is grpc; results are exported with `OTEL_EXPORTER_OTLP_",
        ),
    ],
    ids=["closed", "no address", "grpc"],
)
def test_an_endpoint_that_cannot_be_reached_is_one_line(
    checkout: Checkout, environment: dict[str, str], said: str
) -> None:
    pytest.importorskip(EXPORTER, reason="the extra `otel` is not installed")
    own = {**environment, "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    done = run(checkout, "--case", "script", **own)
    assert done.returncode == 0, done.stderr
    (line,) = [each for each in done.stderr.splitlines() if "export" in each]
    assert line.startswith(said)


def test_without_the_extra_a_line_says_what_installs_it(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, EXPORTER, None)  # as if it were not installed
    done = run(checkout, "--case", "script", **{ENDPOINT: "http://127.0.0.1:9"})
    assert done.returncode == 0
    assert (
        "OTEL_EXPORTER_OTLP_ENDPOINT is set; to export the results: "
        "pip install 'rubric-ci[otel]'\n" in done.stderr
    )
