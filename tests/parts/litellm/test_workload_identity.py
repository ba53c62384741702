"""A job's identity token exchanged for a short token: issuer, exchange and model behind HTTP."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from rubric_ci.parts.litellm.workload_identity import renewed_after
from tests.http_server import JsonHandler, serving
from tests.invoke import invoke
from tests.sample_project import Project, clean_environment

REQUEST_TOKEN = "runner-request-token-1234"
MARKS = json.dumps({"c1": {"evidence": "", "reasoning": "Fine.", "satisfied": True}})


@dataclass(slots=True)
class Cloud:
    """An issuer of identity tokens, an exchange, and a model that takes live tokens only."""

    url: str = ""
    lifetime: float = 20.0
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  # path and fields
    headers: list[dict[str, str]] = field(default_factory=list)  # of the model's requests
    live: dict[str, float] = field(default_factory=dict)  # token to its end
    issued: list[str] = field(default_factory=list)
    broken: int = 0  # exchanges that fail first
    slow: float = 0.0  # seconds that each reply of the model adds to the age of tokens

    def tokens(self) -> list[str]:
        """Return every secret that was handed out."""
        return [*self.issued, *self.live, REQUEST_TOKEN]

    def issue(self, name: str) -> dict[str, Any]:
        self.issued.append(f"identity-token-{len(self.issued)}-abcdef")
        return {name: self.issued[-1]}

    def exchange(self, fields: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        given = fields.get("assertion") or fields.get("subject_token")
        if self.broken:
            self.broken -= 1
            return 503, {"error": "busy"}
        if given not in self.issued:
            return 400, {"error": {"message": f"invalid assertion {given}"}}
        token = f"short-token-{len(self.live)}-abcdef"
        self.live[token] = monotonic() + self.lifetime
        return 200, {"access_token": token, "expires_in": self.lifetime}

    def chat(self, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
        self.headers.append(headers)
        key = headers.get("authorization", "").removeprefix("Bearer ")
        if self.live.get(key, 0) < monotonic():
            return 401, {"error": {"message": "token expired"}}
        self.live = {name: end - self.slow for name, end in self.live.items()}
        usage = {"prompt_tokens": 9, "completion_tokens": 2, "input_tokens": 9, "output_tokens": 2}
        choice = {"index": 0, "message": {"content": MARKS}, "finish_reason": "stop"}
        text = [{"type": "text", "text": MARKS}]
        return 200, {"choices": [choice], "content": text, "model": "m", "usage": usage}


@contextmanager
def cloud() -> Iterator[Cloud]:
    state = Cloud()

    class Handler(JsonHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            fields = {"authorization": self.headers["Authorization"], **dict(parse_qsl(url.query))}
            state.asked.append((url.path, fields))
            self.send_json(200, state.issue("value") if url.path == "/github" else {})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = "form" in self.headers["Content-Type"]
            fields = dict(parse_qsl(raw)) if form else json.loads(raw)
            url = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            if url.path == "/azure":
                state.asked.append((url.path, {**dict(parse_qsl(url.query)), **headers}))
                self.send_json(200, state.issue("oidcToken"))
            elif url.path == "/token":
                state.asked.append((url.path, {**fields, "form": form}))
                self.send_json(*state.exchange(fields))
            else:
                self.send_json(*state.chat(headers))

    with serving(Handler) as server:
        state.url = server.url.removesuffix("/v1")
        yield state


@pytest.fixture
def server() -> Iterator[Cloud]:
    with cloud() as running:
        yield running


CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {{model: {model}, api_base: "{url}/v1", auth: {auth}}}
targets:
  - {{name: default, provider: recorded, answers: answers.jsonl}}
"""


class Judged(Project):
    """Cases that a judge with an identity marks."""

    def __init__(self, root: Path, server: Cloud, cases: int = 1) -> None:
        super().__init__(root)
        self.server = server
        rows = "".join(f"  - {{id: c{n}, input: Hi, rubrics: [Is polite]}}\n" for n in range(cases))
        self.write("evals/a.eval.yaml", f"evalcases:\n{rows}")
        lines = (json.dumps({"id": f"c{n}", "answer": f"Hello {n}"}) for n in range(cases))
        self.write("answers.jsonl", "\n".join(lines))

    def configure(self, auth: str, model: str = "openai/gpt-6-luna") -> None:
        self.write("rubric-ci.yaml", CONFIG.format(model=model, url=self.server.url, auth=auth))

    def answered_by(self, command: str) -> None:
        """Let a command answer in place of the recorded answers."""
        target = f"{{name: default, provider: cli, command_template: '{command}'}}"
        config = (self.root / "rubric-ci.yaml").read_text().splitlines()[:-1]
        self.write("rubric-ci.yaml", "\n".join([*config, f"  - {target}", ""]))

    def in_github(self, *options: str, **more: str) -> Any:
        environment = {
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{self.server.url}/github?api=1",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": REQUEST_TOKEN,
        }
        return self.run(*options, **{**environment, **more})


@pytest.fixture
def judged(tmp_path: Path, server: Cloud) -> Judged:
    return Judged(tmp_path, server)


def custom(server: Cloud) -> str:
    return f"{{oidc: {{token_url: '{server.url}/token', audience: 'my models'}}}}"


def texts_in(folder: Path) -> list[str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path.read_bytes().decode("utf-8", "replace") for path in files]


def preset(name: str, server: Cloud, **parameters: str) -> str:
    given = json.dumps(parameters)
    return f"{{oidc: {name}, token_url: '{server.url}/token', parameters: {given}}}"


TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT = "urn:ietf:params:oauth:token-type:jwt"


def test_the_token_of_a_workflow_is_exchanged(judged: Judged, server: Cloud) -> None:
    judged.configure(custom(server))
    ran = judged.in_github()
    assert ran.returncode == 0, ran.stderr
    asked = {"authorization": f"bearer {REQUEST_TOKEN}", "api": "1", "audience": "my models"}
    assert server.asked == [("/github", asked), ("/token", {**EXCHANGED, "form": True})]


EXCHANGED = {
    "grant_type": TOKEN_EXCHANGE,
    "subject_token_type": JWT,
    "subject_token": "identity-token-0-abcdef",
}
ASSERTED = {
    "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
    "assertion": "identity-token-0-abcdef",
}


@pytest.mark.parametrize(
    ("name", "model", "fields"),
    [
        ("openai", "openai/gpt-6-luna", {**EXCHANGED, "form": False}),
        ("anthropic", "anthropic/claude-sonnet-5-5", {**ASSERTED, "form": False}),
        ("openrouter", "openai/gpt-6-luna", {**EXCHANGED, "form": True}),
    ],
)
def test_the_request_of_each_provider(
    name: str, model: str, fields: dict[str, Any], judged: Judged, server: Cloud
) -> None:
    judged.configure(preset(name, server, id="1"), model)
    ran = judged.in_github()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert server.asked[1] == ("/token", {**fields, "id": "1"})
    assert "x-api-key" not in server.headers[-1]
    beta = server.headers[-1].get("anthropic-beta")
    assert beta == ("oauth-2025-04-20" if name == "anthropic" else None)


def test_a_variable_a_file_and_azure(judged: Judged, server: Cloud) -> None:
    server.issue("value")
    token = server.issued[0]
    auth = custom(server).removesuffix("}")
    judged.configure(f"{auth}, identity: {{env: MODEL_ID_TOKEN}}}}")
    assert judged.run(MODEL_ID_TOKEN=token, RUBRIC_CI_CACHE="false").returncode == 0
    judged.write("../token", token + "\n")
    judged.configure(f"{auth}, identity: {{file: '{judged.root.parent / 'token'}'}}}}")
    assert judged.run(RUBRIC_CI_CACHE="false").returncode == 0
    judged.configure(f"{auth}, identity: {{azure: abc}}}}")
    ran = judged.run(
        RUBRIC_CI_CACHE="false",
        SYSTEM_OIDCREQUESTURI=f"{server.url}/azure",
        SYSTEM_ACCESSTOKEN="azure-access-token",
    )
    assert ran.returncode == 0
    (azure,) = [fields for path, fields in server.asked if path == "/azure"]
    assert azure["api-version"] == "7.1"
    assert azure["serviceConnectionId"] == "abc"
    assert azure["authorization"] == "Bearer azure-access-token"


def test_a_token_is_renewed_while_a_run_goes_on(tmp_path: Path, server: Cloud) -> None:
    judged = Judged(tmp_path, server, cases=6)
    judged.configure(custom(server))
    server.lifetime = 1.0
    judged.answered_by("sleep 0.5; echo {EVAL_ID}")
    ran = judged.in_github("--concurrency", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(server.live) > 1
    used = {headers["authorization"] for headers in server.headers}
    assert len(used) == len(server.live)


@pytest.mark.parametrize(
    ("lifetime", "age"), [(3600, 3540), (120, 60), (20, 10), (1, 0.5)], ids=str
)
def test_the_age_at_which_a_token_is_renewed(lifetime: float, age: float) -> None:
    assert renewed_after(lifetime) == age


@pytest.mark.slow
def test_tokens_of_six_seconds_in_a_run_of_nine(tmp_path: Path, server: Cloud) -> None:
    judged = Judged(tmp_path, server, cases=12)
    judged.configure(custom(server))
    server.lifetime = 6.0
    judged.answered_by("sleep 0.75; echo {EVAL_ID}; env")
    flags = ("--concurrency", "1", "--record", "replies.jsonl")
    ran = judged.in_github(*flags, RUBRIC_CI_DEBUG="1")
    assert ran.returncode == 0, ran.stdout + ran.stderr  # the model refuses a token that has ended
    issued = [end - server.lifetime for end in server.live.values()]
    gaps = [later - earlier for earlier, later in pairwise(issued)]
    assert len(gaps) >= 2
    assert min(gaps) >= 3, gaps  # at the first request after half a life
    assert len({headers["authorization"] for headers in server.headers}) == len(issued)
    shown = [ran.stdout, ran.stderr, *texts_in(tmp_path)]
    assert "evals/a.eval.yaml" in "".join(shown)
    assert [token for token in server.tokens() for text in shown if token in text] == []


def test_tokens_of_twenty_seconds_serve_a_short_run(tmp_path: Path, server: Cloud) -> None:
    judged = Judged(tmp_path, server, cases=8)
    judged.configure(custom(server))
    assert judged.in_github().returncode == 0
    assert [path for path, _ in server.asked] == ["/github", "/token"]


def test_an_exchange_that_fails_is_repeated(judged: Judged, server: Cloud) -> None:
    server.broken = 1
    judged.configure(custom(server))
    assert judged.in_github().returncode == 0
    assert len(server.issued) == 2  # an identity token may be good for one exchange only


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "the job has no identity token: give the workflow `permissions: {id-token: write}`"),
        (
            {
                "ACTIONS_ID_TOKEN_REQUEST_URL": "http://127.0.0.1:9/x?a=1",
                "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "t",
            },
            "GitHub gave no identity token: cannot connect",
        ),
    ],
)
def test_a_job_without_an_identity_has_no_verdict(
    judged: Judged, server: Cloud, environment: dict[str, str], message: str
) -> None:
    judged.configure(custom(server))
    ran = judged.run(RUBRIC_CI_MAX_SECONDS="5", **environment)
    assert ran.returncode == 3
    assert message in judged.report()["cases"][0]["reason"]
    assert server.headers == []


def test_an_exchange_that_refuses_shows_no_token(judged: Judged, server: Cloud) -> None:
    judged.configure(custom(server).replace("}}", "}, identity: {env: MODEL_ID_TOKEN}}"))
    ran = judged.run(MODEL_ID_TOKEN="identity-of-somebody-else")
    assert ran.returncode == 3
    reason = judged.report()["cases"][0]["reason"]
    assert "the exchange of the identity token failed: HTTP 400: invalid assertion ***" in reason


def test_no_token_is_in_a_file_a_log_or_a_child(tmp_path: Path, server: Cloud) -> None:
    judged = Judged(tmp_path, server)
    judged.configure(custom(server))
    judged.write(
        "evals/a.eval.yaml",
        "evalcases:\n  - id: c0\n    input: Hi\n    rubrics: [Is polite]\n    execution:\n"
        "      evaluators:\n        - {name: env, type: code_judge, script: 'env > seen.txt'}\n",
    )
    ran = judged.in_github("--record", "replies.jsonl", RUBRIC_CI_DEBUG="1", GITHUB_ACTIONS="true")
    cached = judged.in_github()
    assert cached.returncode in {0, 3}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"replies.jsonl", "seen.txt"} <= {path.name for path in files}
    assert any("cache" in path.as_posix() for path in files)
    texts = [*texts_in(tmp_path), ran.stdout, ran.stderr, cached.stdout, cached.stderr]
    assert len(server.live) == 2
    assert [text for text in texts for token in server.tokens() if token in text] == []


def test_the_identity_is_in_no_cache_key(judged: Judged, server: Cloud) -> None:
    judged.configure(custom(server))
    assert judged.in_github().returncode == 0
    assert judged.in_github().returncode == 0  # with another token
    assert judged.report()["totals"]["cached_marks"] == 1
    judged.configure(preset("openai", server, id="2"))
    assert judged.in_github().returncode == 0
    assert judged.report()["totals"]["cached_marks"] == 1


def test_a_workflow_keeps_its_cache_with_a_secret_of_its_own(judged: Judged, server: Cloud) -> None:
    judged.configure(custom(server))
    workflow = {"GITHUB_ACTIONS": "true", "OPENAI_API_KEY": "another-secret-key"}
    assert judged.in_github(**workflow).returncode == 0
    assert judged.in_github(**workflow).returncode == 0
    assert judged.report()["totals"]["cached_marks"] == 0
    (note,) = judged.report()["notes"]
    assert note == (
        "The cache .rubric-ci/cache was not read: a workflow trusts the entries of earlier runs by "
        "the judge's credential, and this run has none that lasts; set the variable "
        "RUBRIC_CI_CACHE_KEY to a secret"
    )
    keyed = {**workflow, "RUBRIC_CI_CACHE_KEY": "any secret text"}
    assert judged.in_github(**keyed).returncode == 0
    assert judged.in_github(**keyed).returncode == 0
    assert judged.report()["totals"]["cached_marks"] == 1
    assert judged.in_github(**{**keyed, "RUBRIC_CI_CACHE_KEY": "another"}).returncode == 0
    assert judged.report()["totals"]["cached_marks"] == 0


def test_the_exchange_is_an_allowed_host_or_gets_nothing(judged: Judged, server: Cloud) -> None:
    judged.configure(custom(server).replace(server.url, "http://elsewhere.example"))
    ran = judged.in_github(RUBRIC_CI_ALLOWED_HOSTS="127.0.0.1")
    assert ran.returncode == 3
    reason = judged.report()["cases"][0]["reason"]
    assert "the host elsewhere.example:80 is not allowed, and nothing was sent to it" in reason
    assert server.asked == []


def test_an_api_key_beside_an_identity_is_refused(judged: Judged, server: Cloud) -> None:
    judged.configure(f"{custom(server)}, api_key: '${{{{ OPENAI_API_KEY }}}}'")
    checked = invoke(judged.root, clean_environment(), "validate", "rubric-ci.yaml")
    assert "auth-and-key: `api_key` is not used: `auth` gives the key" in checked.stdout
