"""LiteLLM's own proxy between the client and a scripted model server.

Each row gives what the model server does, how the call ends, and how many requests reached it.
Both ways of sending are tested: directly, and through litellm (`n: 1`, which only litellm knows).
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from rubric_ci.errors import CannotReachModel, FailureScope
from rubric_ci.models.llm.client import OutputModes, output_mode_of, request
from rubric_ci.models.llm.failures import with_retries
from rubric_ci.models.llm.responders import Responders
from rubric_ci.parts.lab import labels
from rubric_ci.parts.lab.labels import Label
from rubric_ci.parts.litellm.litellm_client import load_litellm
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.targets import Endpoint
from tests import litellm_proxy
from tests.bodies import chat
from tests.captured import captured
from tests.http_server import JsonHandler, serving
from tests.litellm_proxy import Deployment, Proxy, deployment
from tests.sample_project import Project, clean_environment
from tests.tables import rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(litellm_proxy.missing()), reason=litellm_proxy.missing() or "-"),
]

WIRES = ("direct", "litellm")
MARKS = {"c1": {"evidence": "", "reasoning": "It greets.", "satisfied": True}}
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What the model server does with a request, and how a call to the proxy ends."""

    status: int
    message: str
    code: str = ""
    ends: str
    scope: FailureScope
    requests: int  # that reach the model server; of a cooldown, after the first call
    options: Mapping[str, Any] = field(default_factory=dict)  # of the deployment


TABLE = """
# 429
{status: 429, message: Slow down, code: rate_limit_exceeded, scope: server, requests: 5}
=> HTTP 429: the provider's rate limit is reached: Slow down (5 requests)
# 500
{status: 500, message: Oops, scope: server, requests: 5}
=> HTTP 500: the provider's server failed: Oops (5 requests)
# 503
{status: 503, message: Overloaded, scope: server, requests: 5}
=> HTTP 503: the provider's server is not available: Overloaded (5 requests)
# 401
{status: 401, message: Wrong key, code: invalid_api_key, scope: account, requests: 1}
=> HTTP 401: the provider refuses the API key: Wrong key (1 request)
# 404
{status: 404, message: No such model, code: model_not_found, scope: account, requests: 1}
=> HTTP 404: the provider does not know the model: No such model (1 request)
# 400
{status: 400, message: Bad temperature, scope: request, requests: 1}
=> HTTP 400: the provider refuses the request: Bad temperature (1 request)
# context
{status: 400, message: This model's maximum context length is 10 tokens., code:
    context_length_exceeded, scope: request, requests: 1}
=> HTTP 400: the input is too long for the model: This model's maximum context length is 10 tokens.
   (1 request)
# policy
{status: 400, message: Your request was rejected as a result of our safety system., code:
    content_policy_violation, scope: request, requests: 1}
=> HTTP 400: the provider's content filter refuses the request: Your request was rejected as a
   result of our safety system. (1 request)
# quota
{status: 429, message: You exceeded your current quota., code: insufficient_quota, scope: account,
    requests: 1}
=> HTTP 429: the provider's rate limit is reached: You exceeded your current quota. (1 request)
# cooldown
{status: 401, message: Wrong key, scope: server, requests: 0, options: {cooldown_time: 60}}
=> HTTP 429: No deployments available for selected model
"""
FAULTS = {
    str(row.id): Fault(**yaml.safe_load(row.values[0]), ends=row.values[1][0])
    for row in rows(TABLE)
}
FALLBACKS = {"fallback": "500", "context-fallback": "context", "policy-fallback": "policy"}


@dataclass
class Upstream:
    """A model server; the first part of the path is what it does."""

    url: str = ""
    counts: Counter[str] = field(default_factory=Counter)

    def reply(self, name: str, body: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        self.counts[name] += 1
        kind, _, _wire = name.rpartition("-")
        if kind == "format" and body.get("response_format", {}).get("type") == "json_schema":
            return 400, error("Invalid parameter: 'response_format' is not supported.")
        if fault := FAULTS.get(FALLBACKS.get(kind, kind)):
            return fault.status, error(fault.message, fault.code)
        made = chat(json.dumps(MARKS), f"{body['model']}-2026-09-22", (1000, 50))
        return 200, {**made, "system_fingerprint": "fp_1"}


def error(message: str, code: str = "") -> dict[str, Any]:
    kind = "invalid_request_error" if code == "content_policy_violation" else "error"
    return {"error": {"message": message, "type": kind, "code": code or None}}


@contextmanager
def answering() -> Iterator[Upstream]:
    upstream = Upstream()

    class Handler(JsonHandler):
        def do_POST(self) -> None:
            body = self.received()
            status, reply = upstream.reply(self.path.split("/")[1], body)
            self.send_json(status, reply)

    with serving(Handler) as server:
        upstream.url = server.url
        yield upstream


def deployments(url: str) -> Iterator[Deployment]:
    """Yield one deployment per row and way of sending, so that no row sees another's cooldown."""
    other = "openai/gpt-6-sol"
    budget: dict[str, Any] = {"max_budget": 1e-9, "budget_duration": "1d"}
    for wire in WIRES:
        for name, fault in FAULTS.items():
            yield deployment(f"{name}-{wire}", f"{url}/{name}-{wire}", **fault.options)
        for name in ("ok", "format", "mixed", *FALLBACKS):
            yield deployment(f"{name}-{wire}", f"{url}/{name}-{wire}")
        yield deployment(f"mixed-{wire}", f"{url}/mixed-{wire}", other)
        yield deployment(f"cooldown-{wire}", f"{url}/cooldown-{wire}", cooldown_time=61)
        yield deployment(f"unpriced-{wire}", f"{url}/ok-{wire}", "openai/my-own")
        yield deployment(f"budget-{wire}", f"{url}/budget-{wire}", **budget)
    yield deployment("other", f"{url}/ok-other", other)


def fallbacks(kind: str) -> list[dict[str, list[str]]]:
    return [{f"{kind}-{wire}": ["other"]} for wire in WIRES]


@dataclass(frozen=True)
class Gateway:
    """The proxy and the model server behind it."""

    proxy: Proxy
    upstream: Upstream

    def endpoint(self, name: str, wire: str, key: str = "") -> Endpoint:
        return self.proxy.endpoint(f"{name}-{wire}", litellm=wire == "litellm", key=key)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    load_litellm()
    with (
        answering() as upstream,
        litellm_proxy.running(
            tmp_path_factory.mktemp("proxy"),
            list(deployments(upstream.url)),
            fallbacks=fallbacks("fallback"),
            context_window_fallbacks=fallbacks("context-fallback"),
            content_policy_fallbacks=fallbacks("policy-fallback"),
            cooldown_time=0,
        ) as proxy,
    ):
        yield Gateway(proxy, upstream)


def call(endpoint: Endpoint, **more: Any) -> ModelCall:
    hello = (ChatMessage(role="user", content="Hello"),)
    return ModelCall(endpoint=endpoint, messages=hello, key="k", **more)


async def sent(caller: ModelCaller, asked: ModelCall) -> ModelReply:
    return await caller(asked)


def ask(endpoint: Endpoint, waits: list[float] | None = None) -> ModelReply | CannotReachModel:
    async def at_once(seconds: float) -> None:
        (waits if waits is not None else []).append(seconds)

    try:
        return asyncio.run(sent(with_retries(request, sleep=at_once), call(endpoint)))
    except CannotReachModel as error:
        return error


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", [name for name in FAULTS if name != "cooldown"])
def test_a_fault_of_the_provider(gateway: Gateway, name: str, wire: str) -> None:
    fault, endpoint = FAULTS[name], gateway.endpoint(name, wire)
    ended = ask(endpoint)
    assert isinstance(ended, CannotReachModel)
    assert str(ended) == f"{endpoint.model}: {fault.ends}"
    assert (ended.scope, ended.usage.unpriced_calls) == (fault.scope, 0)
    assert gateway.upstream.counts[f"{name}-{wire}"] == fault.requests


@pytest.mark.parametrize("wire", WIRES)
def test_a_cooldown_is_waited_for(gateway: Gateway, wire: str) -> None:
    endpoint = gateway.endpoint("cooldown", wire)
    for _ in range(4):  # both deployments fail
        assert isinstance(ask(endpoint), CannotReachModel)
    before, waits = gateway.upstream.counts[f"cooldown-{wire}"], list[float]()
    ended = ask(endpoint, waits)
    assert str(ended).startswith(f"{endpoint.model}: {FAULTS['cooldown'].ends}"), ended
    assert len(waits) == 4
    assert all(50 <= wait <= 66 for wait in waits)  # as Retry-After says, with jitter
    assert gateway.upstream.counts[f"cooldown-{wire}"] == before


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply(gateway: Gateway, wire: str) -> None:
    reply = ask(gateway.endpoint("ok", wire))
    assert isinstance(reply, ModelReply)
    assert json.loads(reply.text) == MARKS
    assert (reply.model, reply.fingerprint) == ("openai/gpt-6-luna", "fp_1")
    assert not reply.fallback
    # The alias has no price, the header has: 1000 and 50 tokens of gpt-6-luna.
    assert reply.usage.cost_usd == pytest.approx(0.000125)
    assert reply.usage.unpriced_calls == 0


@pytest.mark.parametrize("wire", WIRES)
def test_a_model_without_a_price(gateway: Gateway, wire: str) -> None:
    reply = ask(gateway.endpoint("unpriced", wire))
    assert isinstance(reply, ModelReply)
    assert (reply.usage.cost_usd, reply.usage.unpriced_calls) == (0, 1)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", FALLBACKS)
def test_a_fallback(gateway: Gateway, name: str, wire: str) -> None:
    reply = ask(gateway.endpoint(name, wire))
    assert isinstance(reply, ModelReply)
    assert (reply.fallback, reply.model) == (True, "gpt-6-sol-2026-09-22")
    assert reply.usage.cost_usd == pytest.approx(0.0025)  # the price of the model that replied


def named(gateway: Gateway, wire: str) -> Sequence[tuple[Endpoint, str, FailureScope]]:
    unknown, known = gateway.endpoint("unknown", wire), gateway.endpoint("ok", wire, key="sk-no")
    name = unknown.model.removeprefix("openai/")
    message = (
        f"HTTP 400: /chat/completions: Invalid model name passed in model={name}. Call "
        "`/v1/models` to view available models for your key. (1 request)"
    )
    return [
        (unknown, message, "account"),
        (known, "HTTP 400: the gateway refuses the API key (1 request)", "account"),
    ]


@pytest.mark.parametrize("wire", WIRES)
def test_an_unknown_model_and_an_unknown_key(gateway: Gateway, wire: str) -> None:
    for endpoint, message, scope in named(gateway, wire):
        ended = ask(endpoint)
        assert isinstance(ended, CannotReachModel)
        assert (str(ended), ended.scope) == (f"{endpoint.model}: {message}", scope)


@pytest.mark.parametrize("wire", WIRES)
def test_a_budget_that_is_used_up(gateway: Gateway, wire: str) -> None:
    endpoint = gateway.endpoint("budget", wire)
    assert isinstance(ask(endpoint), ModelReply)
    ended = ask(endpoint)
    assert isinstance(ended, CannotReachModel)
    assert "HTTP 429: No deployments available - crossed budget" in str(ended)
    assert ended.scope == "account"
    assert gateway.upstream.counts[f"budget-{wire}"] == 1


@pytest.mark.parametrize("wire", WIRES)
def test_a_refused_output_mode(gateway: Gateway, wire: str) -> None:
    notes: list[str] = []
    ask_simpler = OutputModes(output_mode_of, notes.append).wrap(request)
    endpoint = gateway.endpoint("format", wire)
    asked = call(endpoint, output_schema=SCHEMA, output_mode="json_schema")
    for _ in range(2):
        assert json.loads(asyncio.run(sent(ask_simpler, asked)).text) == MARKS
    assert gateway.upstream.counts[f"format-{wire}"] == 3  # the simpler mode is remembered
    assert notes == [
        (
            f"{endpoint.model} refused the output mode, so this run uses `json_object`; set "
            "`judge.output: json_object` to send it at once (HTTP 400: the provider refuses the "
            "request: Invalid parameter: 'response_format' is not supported.)"
        )
    ]


@pytest.mark.parametrize("wire", WIRES)
def test_an_alias_of_two_models(gateway: Gateway, wire: str) -> None:
    notes: list[str] = []
    responders = Responders(notes.append)
    ask_both = responders.wrap(request)
    endpoint = gateway.endpoint("mixed", wire)
    for _ in range(60):  # the proxy chooses at random
        if notes:
            break
        asyncio.run(sent(ask_both, call(endpoint)))
    assert sorted(each.model for each in responders.list()) == [
        "openai/gpt-6-luna",
        "openai/gpt-6-sol",
    ]
    assert [each.fallback for each in responders.list()].count(True) == 1
    assert len(notes) == 1


CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {{model: openai/{model}, api_base: "{url}/v1", api_key: "${{{{ OPENAI_API_KEY }}}}"}}
targets:
  - {{name: default, provider: mock, response: Hello}}
"""
EVALS = "evalcases:\n" + "".join(
    f"  - {{id: case-{n}, input: Say hello, rubrics: [Greets]}}\n" for n in range(8)
)


def project(root: Path, gateway: Gateway, model: str) -> Project:
    found = Project(root)
    found.write("rubric-ci.yaml", CONFIG.format(url=gateway.proxy.url, model=model))
    found.write("evals/a.eval.yaml", EVALS)
    return found


def test_a_run_with_a_fallback_warns_and_a_calibration_refuses_it(
    gateway: Gateway, tmp_path: Path
) -> None:
    judged = project(tmp_path, gateway, "fallback-direct")
    assert judged.run(OPENAI_API_KEY=gateway.proxy.key).returncode == 0
    (note,) = judged.report()["notes"]
    assert note == (
        "Warning: `gpt-6-sol-2026-09-22` replied in place of `openai/fallback-direct`, so some "
        "marks are not of the configured model; check the fallbacks of the gateway"
    )
    label = Label(
        file="evals/a.eval.yaml",
        id="case-0",
        evaluator="rubric",
        answer="Hello",
        marks={"rubric-1": True},
    )
    judged.write("labels.jsonl", labels.dump([label]))
    done = captured(
        [sys.executable, "-m", "rubric_ci", "judge", "calibrate", "labels.jsonl"],
        cwd=tmp_path,
        env=clean_environment() | {"OPENAI_API_KEY": gateway.proxy.key},
    )
    assert done.returncode == 3
    assert "which does not count for a calibration" in done.stdout + done.stderr


def test_a_run_with_an_unknown_model_has_one_message(gateway: Gateway, tmp_path: Path) -> None:
    judged = project(tmp_path, gateway, "no-such-model")
    done = judged.run(OPENAI_API_KEY=gateway.proxy.key, COLUMNS="200")
    assert done.returncode == 3
    assert judged.report()["totals"]["calls"] == 1
    shown = " ".join(done.stdout.split())
    assert shown.count("model=no-such-model") == 2, shown  # what to do, and one row of all cases
    assert "8 cases: case-0, case-1," in shown


def test_a_run_with_an_unknown_key_sends_no_request(gateway: Gateway, tmp_path: Path) -> None:
    judged = project(tmp_path, gateway, "ok-direct")
    done = judged.run(OPENAI_API_KEY="sk-unknown", COLUMNS="200")
    assert done.returncode == 3
    # What to do says it once, and the table has one row, whose column parts the words.
    assert done.stdout.count("the gateway refuses the API key (1 request).") == 1, done.stdout
    assert "8 cases: case-0, case-1," in done.stdout
