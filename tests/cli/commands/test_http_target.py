"""A target that is an HTTP service: requests, answers, errors, policy, cache."""

import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.values.json_value import JSON
from tests.http_server import QuietHandler, serving
from tests.pictures import png, write
from tests.sample_project import Project


@dataclass(slots=True)
class Service:
    """What was asked, and how the service replies."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    failing: int = 0  # requests that get 503 first
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None  # None: an object with what was sent


@pytest.fixture
def service() -> Iterator[Service]:
    state = Service()

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = self.body().decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.asked.append(
                {"method": self.command, "path": self.path, "headers": headers, "body": sent}
            )
            said = {"reply": {"text": f"Hello {sent}", "words": ["a", 1]}, "empty": ""}
            content = json.dumps(said).encode() if state.body is None else state.body
            failing, state.failing = state.failing > 0, max(0, state.failing - 1)
            self.respond(503 if failing else state.status, content, state.headers)

        def do_GET(self) -> None:
            self.do_POST()

        def do_PUT(self) -> None:
            self.do_POST()

    with serving(Handler) as server:
        state.url = server.url
        yield state


EVALS = """\
vars: {user: ada}
rubrics: [{id: says, contains: Hello}]
evalcases:
  - {id: one, input: 'Say "hello"'}
"""
BODY = '{message: "{{ input }}", meta: ["{{ user | upper }}", 3, true, null]}'


class Asked(Project):
    def __init__(self, root: Path, service: Service) -> None:
        super().__init__(root)
        self.service = service
        self.write("evals/a.eval.yaml", EVALS)

    def configure(self, rest: str, *, path: str = "/chat") -> None:
        self.write(
            "rubric-ci.yaml",
            "evals: [evals/*.eval.yaml]\nenv: {allow: [SERVICE_*]}\ntargets:\n"
            f"  - {{name: default, provider: http, url: '{self.service.url}{path}', {rest}}}\n",
        )


@pytest.fixture
def project(tmp_path: Path, service: Service) -> Asked:
    return Asked(tmp_path, service)


def test_a_body_of_templates_and_the_place_of_the_answer(project: Asked, service: Service) -> None:
    headers = '{Authorization: "Bearer ${{ SERVICE_TOKEN }}", X-Team: evals}'
    project.configure(f"headers: {headers}, body: {BODY}, answer: /reply/text")
    ran = project.run(SERVICE_TOKEN="the-service-token-1234", GITHUB_ACTIONS="")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (asked,) = service.asked
    assert (asked["method"], asked["path"]) == ("POST", "/chat")
    assert json.loads(asked["body"]) == {"message": 'Say "hello"', "meta": ["ADA", 3, True, None]}
    assert asked["headers"]["authorization"] == "Bearer the-service-token-1234"
    assert asked["headers"]["x-team"] == "evals"
    assert asked["headers"]["content-type"] == "application/json"
    assert project.case["answer"].startswith("Hello {")
    assert "the-service-token-1234" not in ran.stdout + ran.stderr + json.dumps(project.report())
    assert "1 request to http/default" in ran.stderr


@pytest.mark.parametrize(
    ("rest", "method", "body", "answer"),
    [
        ('body: "<q>{{ input }}</q>"', "POST", '<q>Say "hello"</q>', None),
        ("method: GET", "GET", "", None),
        ("method: PUT, body: [1], answer: reply.words.0", "PUT", "[1]", "a"),
        ("body: {a: 1}, answer: reply.words", "POST", '{"a": 1}', '["a", 1]'),
    ],
    ids=["a text", "no body", "a dotted path", "a value that is no text"],
)
def test_bodies_and_answers(
    project: Asked, service: Service, rest: str, method: str, body: str, answer: str | None
) -> None:
    project.configure(rest)
    project.run()
    (asked,) = service.asked
    assert (asked["method"], asked["body"]) == (method, body)
    if answer is not None:
        assert project.case["answer"] == answer
    else:
        assert json.loads(project.case["answer"])["empty"] == ""
        text = "text/plain; charset=utf-8" if body else None
        assert asked["headers"].get("content-type") == text


@pytest.mark.parametrize(
    ("rest", "path"),
    [("body: Ho", "/chat"), ("body: Hi, answer: /empty", "/chat"), ("body: Hi", "/other")],
    ids=["body", "answer", "url"],
)
def test_a_changed_request_selects_the_cases(project: Asked, rest: str, path: str) -> None:
    project.configure("body: Hi, depends_on: []")
    project.checkout.commit()
    changed = ("--list", "--changed-since", "HEAD")
    assert project.run(*changed).stdout == "0 cases\n"
    project.configure(f"{rest}, depends_on: []", path=path)
    listed = project.run(*changed).stdout
    assert "target `default` changed" in listed, listed


DEPLOYED = "its service is deployed, and what answers there may have changed"


@pytest.mark.parametrize(
    ("rest", "changed", "listed"),
    [
        ("body: Hi", {}, DEPLOYED),
        ("body: Hi", {"README.md": "new"}, DEPLOYED),
        ("body: Hi, depends_on: [bot.py]", {"README.md": "new"}, ""),
        ("body: Hi, depends_on: [bot.py]", {"bot.py": "new"}, "`bot.py` changed"),
    ],
)
def test_a_deployed_service_is_always_asked_unless_its_files_are_listed(
    project: Asked, rest: str, changed: dict[str, str], listed: str
) -> None:
    project.configure(rest)
    project.checkout.commit({"bot.py": ""})
    project.checkout.write(changed)
    ran = project.run("--list", "--changed-since", "HEAD").stdout
    shown = f"evals/a.eval.yaml:4  one  default  {listed}\n" if listed else "0 cases\n"
    assert ran.startswith(shown), ran
    if listed:
        assert "target default: 1 request to http/default, cost unknown before the answers" in ran


ELSEWHERE = {"Location": "http://elsewhere.example/"}


@pytest.mark.parametrize(
    ("facts", "rest", "reason"),
    [
        ({}, "answer: /text", "the reply has no `/text`, only reply, empty; check `answer` of"),
        ({}, "answer: /empty", "http/default gave an empty answer"),
        ({"body": b'{"a": null}'}, "answer: /a", "http/default gave an empty answer"),
        ({"body": b"<html>"}, "answer: /text", "the reply is not JSON: "),
        ({"body": b"\xff"}, "method: GET", "the reply is not UTF-8: "),
        ({"status": 404, "body": b"no such page"}, "method: GET", "HTTP 404: no such page"),
        ({"status": 302, "headers": ELSEWHERE}, "method: GET", "HTTP 302: "),
        ({}, 'body: "{{ users }}"', "`body` of the target `default`: "),
        ({"body": b"x" * (8 * 1024 * 1024 + 1)}, "method: GET", "8 MiB"),
    ],
    ids=["place", "empty", "null", "json", "utf-8", "status", "redirect", "variable", "size"],
)
def test_no_answer_has_its_reason(
    project: Asked, service: Service, facts: dict[str, Any], rest: str, reason: str
) -> None:
    for name, value in facts.items():
        setattr(service, name, value)
    project.configure(rest)
    ran = project.run()
    assert ran.returncode == 3
    assert reason in project.case["reason"]
    assert len(service.asked) <= 1


def test_a_busy_service_is_asked_again(project: Asked, service: Service) -> None:
    service.failing = 1
    project.configure("answer: /reply/text, body: Hi")
    assert project.run().returncode == 0
    assert len(service.asked) == 2


def test_answers_are_cached_and_the_limit_is_for_judges(project: Asked, service: Service) -> None:
    project.configure("answer: /reply/text, body: Hi, depends_on: []")
    options = ("--reuse", "answers", "--max-cost-usd", "1")
    assert project.run(*options).returncode == 0
    assert project.run(*options).returncode == 0
    assert (len(service.asked), project.case["answer_reused"]) == (1, True)
    project.configure("answer: /reply/words, body: Hi, depends_on: []")
    project.run(*options)
    assert len(service.asked) == 2


def test_url_and_headers_are_the_policys(project: Asked, service: Service, tmp_path: Path) -> None:
    project.configure("body: Hi, answer: /reply/text")
    config = (project.root / "rubric-ci.yaml").read_text()
    project.write("../base.yaml", config)
    stolen = "headers: {X-Key: '${{ SERVICE_TOKEN }}'}, body: Ho, answer: /reply/text"
    project.configure(stolen, path="/elsewhere")
    policy = ("--policy-from", "../base.yaml")
    ran = project.run(*policy, SERVICE_TOKEN="the-service-token-1234")
    assert ran.returncode == 0, ran.stderr
    (asked,) = service.asked
    assert (asked["path"], asked["body"]) == ("/chat", "Ho")
    assert "x-key" not in asked["headers"]
    project.write("../base.yaml", "judge: openai/gpt-6-luna\n")
    ran = project.run(*policy, SERVICE_TOKEN="the-service-token-1234")
    assert (ran.returncode, len(service.asked)) == (2, 1)
    held = "target `default` sets `api_base`, `headers`, which count after the merge"
    assert held in ran.stderr


def test_the_variables_of_a_body_are_checked(project: Asked) -> None:
    project.configure('body: {message: "{{ input }}", who: "{{ user }}"}')
    checked = project.call("validate", "--strict")
    assert checked.returncode == 0, checked.stdout
    project.configure('body: {message: "{{ input }}", who: ["{{ name }}"]}')
    checked = project.call("validate")
    assert (
        "evals/a.eval.yaml:4:10: undefined-variable: `rubric-ci.yaml`, the body of the target "
        "`default`, uses `{{ name }}`, which is not a variable of the case"
    ) in checked.stdout


SERVICE = "name: s, provider: http, url: 'http://a'"
STARTED = "name: s, provider: http, start: a, url: 'http://127.0.0.1:{PORT}/'"
PROBLEMS = {
    "{name: s, provider: http}": "missing-key: the target has no `url`",
    "{name: s, provider: http, url: 'ftp://a'}": "unknown-value: `url` cannot be `ftp://a`",
    f"{{{SERVICE}, modle: x}}": "`modle` has no effect on a service",
    f"{{{SERVICE}, body: {{a: ['{{{{ x']}}}}": "body-template: ",
    "{name: s, provider: http, start: a, url: 'http://127.0.0.1:8000/'}": (
        "service-url: `url` is `http://127.0.0.1:8000/`, which is not where the run starts the "
        "service; write `url: http://127.0.0.1:{PORT}/PATH`"
    ),
    "{name: s, provider: http, start: a, url: 'http://127.0.0.1:{PORT}@b.example/'}": (
        "service-url: "
    ),
    "{name: s, provider: http, start: a, url: 'https://a.example/{PORT}'}": "service-url: ",
    "{name: s, provider: http, start: 'a {PROT}', url: 'http://127.0.0.1:{PORT}/'}": (
        "unknown-placeholder: `{PROT}` is not a known placeholder; known are `{PORT}`, "
        "`{PORT_NAME}` and `{SIDE}`"
    ),
    "{name: s, provider: http, start: [a], ready: health, url: 'http://127.0.0.1:{PORT}/'}": (
        "`ready` cannot be `health`"
    ),
    f"{{{SERVICE}, setup: a}}": "unused-setting: `setup` has no effect on a service without `start",
    f"{{{STARTED}, setup: cd a && pip install x}}": (
        "warning: setup-shared: both sides of a change would install into the Python of the machine"
    ),
    f"{{{STARTED}, setup: [python3, -m, pip, install, x]}}": "setup-shared",
    f"{{{SERVICE}}}": "base-not-asked: the base of a change is not asked, as both sides have this",
    "{name: s, provider: http, start: a, url_before: 'http://b', "
    "url: 'http://127.0.0.1:{PORT}/'}": "`url_before` has no effect: the run starts the base as",
    f"{{{SERVICE}}}\n  - {{name: t, model: openai/a, judge_target: s}}": (
        "judge-target: `s` is not a model and cannot judge"
    ),
}


SETUPS_OF_A_SIDE = (
    "pip install -t .deps x",
    "python3 -m pip install -q --target .deps -r requirements.txt",
    "python3 -m venv .venv && .venv/bin/python -m pip install x",
    "PIP_TARGET=.deps pip install x",
    "uv pip install x",
    "npm ci",
)
PROBLEMS |= {f"{{{STARTED}, setup: '{each}'}}": "no problems" for each in SETUPS_OF_A_SIDE}


@pytest.mark.parametrize(("target", "problem"), PROBLEMS.items())
def test_what_validate_says(tmp_path: Path, target: str, problem: str) -> None:
    project = Project(tmp_path)
    project.write("rubric-ci.yaml", f"targets:\n  - {target}\n")
    assert problem in project.call("validate", "rubric-ci.yaml").stdout


TURNS = "turns: [Hello, Again]"
USER = "simulated_user: {persona: p, goal: g}"
SEVERAL = (
    "input: [{role: user, content: a}, {role: assistant, content: b}, {role: user, content: c}]"
)
NOT_SENT = (
    "conversation-not-sent: the service `s` would not know the messages before the last one: its "
    "`body` has none of "
)
OF_TURNS = NOT_SENT + "`{{ history }}`, `{{ messages }}`, `{{ session_id }}`"
OF_MESSAGES = NOT_SENT + "`{{ history }}`, `{{ input }}`, `{{ messages }}`"


@pytest.mark.parametrize(
    ("case", "body", "problem"),
    [
        (TURNS, "body: {q: '{{ message }}'}", f"3:5: {OF_TURNS}"),
        (TURNS, "body: {q: '{{ input }}'}", f"3:5: {OF_TURNS}"),
        (TURNS, "method: GET", f"3:5: {OF_TURNS}"),
        (USER, "body: {q: '{{ message }}'}", f"3:5: {OF_TURNS}"),
        (SEVERAL, "body: {q: '{{ message }}'}", f"3:5: {OF_MESSAGES}"),
        (TURNS, "body: {q: '{{ message }}', s: '{{ session_id }}'}", ""),
        (TURNS, "body: {q: '{{ messages }}'}", ""),
        (TURNS, "body: {q: '{{ message }}', b: '{{ history }}'}", ""),
        (USER, "body: {q: '{{ messages }}'}", ""),
        (SEVERAL, "body: {q: '{{ input }}'}", ""),
        ("input: a", "body: {q: '{{ message }}'}", ""),
    ],
)
def test_a_conversation_out_of_reach(tmp_path: Path, case: str, body: str, problem: str) -> None:
    project = Project(tmp_path)
    project.write("rubric-ci.yaml", f"judge: openai/a\ntargets:\n  - {{{SERVICE}, {body}}}\n")
    rubric = "rubrics: [{contains: x}]"
    text = f"evalcases:\n  - id: one\n    {case}\n    {rubric}\n"
    project.write("a.eval.yaml", text)
    checked = project.call("validate", "a.eval.yaml")
    assert checked.returncode == bool(problem), checked.stdout
    assert problem in checked.stdout


ASKING = """\
rubrics: [{id: says, contains: Hello}]
evalcases:
  - {id: one, input: [{type: image, value: /shots/cart.png}, {type: text, value: What is it?}]}
"""


@pytest.mark.parametrize("encode", ["", ", encode: base64"])
def test_images_in_a_body(project: Asked, service: Service, encode: str) -> None:
    project.write("evals/a.eval.yaml", ASKING)
    write(project.root, {"shots/cart.png": png(4, 3)})
    project.configure(f'body: {{text: "{{{{ input }}}}", images: "{{{{ files }}}}"}}{encode}')
    checked = project.call("validate", "evals")
    ran = project.run()
    assert (checked.returncode, ran.returncode) == (0, 0), checked.stdout + ran.stderr
    data = {"data": b64encode(png(4, 3)).decode()} if encode else {}
    assert json.loads(service.asked[0]["body"]) == {
        "text": "[image: shots/cart.png]\n\nWhat is it?",
        "images": [{"path": "shots/cart.png", "type": "image/png", **data}],
    }


DRAWN = b64encode(png(4, 3)).decode()
NO_PLACE = "the reply has no `/images`, only text; check `answer_files` of the target"


@pytest.mark.parametrize("images", [[DRAWN], None])
def test_images_of_a_reply(project: Asked, service: Service, images: JSON) -> None:
    service.body = json.dumps({"text": "Hello", "images": images}).encode()
    project.configure("answer: /text, answer_files: /images, body: Hi")
    ran = project.run()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert project.case["answer"] == ("Hello\n\n[image: answer-1.png]" if images else "Hello")
    facts = {"path": "answer-1.png", "type": "image/png", "digest": sha256(png(4, 3)).hexdigest()}
    assert project.case.get("media", []) == ([{"of": "answer", **facts}] if images else [])


def test_a_reply_that_is_an_image(project: Asked, service: Service) -> None:
    service.body = png(4, 3)
    project.write("evals/a.eval.yaml", EVALS.replace("contains: Hello", "max_words: 0"))
    project.configure("method: GET")
    assert project.run().returncode == 0
    assert project.case["answer"] == "[image: answer.png]"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"text": "x"}, NO_PLACE),
        ({"text": "x", "images": ["&&"]}, "`/images/0` of the answer has no base64"),
    ],
)
def test_replies_with_no_images(project: Asked, service: Service, reply: JSON, reason: str) -> None:
    service.body = json.dumps(reply).encode()
    project.configure("answer: /text, answer_files: /images, body: Hi")
    assert project.run().returncode == 3
    assert reason in project.case["reason"]
    assert len(service.asked) == 1


def test_images_of_a_reply_are_recorded_by_their_digest(project: Asked, service: Service) -> None:
    service.body = json.dumps({"text": "Hello", "images": [DRAWN]}).encode()
    project.configure("answer: /text, answer_files: /images, body: Hi")
    project.run("--record", "kept.jsonl")
    before = project.case
    assert DRAWN not in (project.root / "kept.jsonl").read_text()
    assert project.run("--replay", "kept.jsonl").returncode == 0
    assert (project.case["answer"], project.case["media"]) == (before["answer"], before["media"])
    assert len(service.asked) == 1


@pytest.mark.parametrize("of", ["{never_called: search}", "{called: search, not: true}"])
@pytest.mark.parametrize("turns", ["input: q", "turns: [{input: q}]"])
def test_an_assertion_about_work_that_is_not_reported_is_errored(
    project: Asked, service: Service, of: str, turns: str
) -> None:
    project.configure("body: {q: '{{ input }}'}")
    project.write("evals/a.eval.yaml", f"evalcases: [{{id: a, {turns}, rubrics: [{of}]}}]\n")
    done = project.run()
    assert done.returncode == 3, done.stdout
    assert project.case["outcome"] == "errored"
    assert "the target reports no tool calls" in project.case["reason"]


CALLED = """\
evalcases:
  - id: one
    input: Where is order 4711?
    rubrics:
      - {called: look_up}
      - {called_with: {name: look_up, arguments: {type: object, required: [order]}}}
      - {never_called: refund}
      - {max_calls: 1}
    execution:
      evaluators:
        - {name: path, type: tool_trajectory, mode: exact, expected: [{tool: look_up}]}
        - {name: cost, type: cost, budget: 0.01}
        - {name: tokens, type: token_usage, max_total: 10}
"""


def test_tools_and_usage_of_a_reply(project: Asked, service: Service) -> None:
    steps = [{"name": "look_up", "arguments": {"order": 4711}, "output": "sent"}]
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "cost": 0.001}
    service.body = json.dumps({"text": "Hello", "steps": steps, "usage": usage}).encode()
    project.write("evals/a.eval.yaml", CALLED)
    places = (
        "usage: {input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens, "
        "cost_usd: usage.cost}"
    )
    project.configure(f"body: Hi, answer: /text, tool_calls: /steps, {places}")
    checked = project.call("validate", "--strict")
    assert checked.returncode == 0, checked.stdout
    ran = project.run("--record", "kept.jsonl")
    assert ran.returncode == 0, ran.stdout
    (step,) = project.case["trace"]["steps"]
    assert (step["tool"], step["arguments"], step["result"]) == ("look_up", {"order": 4711}, "sent")
    used = project.case["usage"]
    assert (used["input_tokens"], used["output_tokens"], used["cost_usd"]) == (5, 2, 0.001)
    assert used["unpriced_calls"] == 0
    project.write("evals/a.eval.yaml", CALLED.partition("    execution")[0])
    assert project.run("--replay", "kept.jsonl").returncode == 0
    project.configure("body: Hi, answer: /text")
    checked = project.call("validate", "--strict")
    assert (
        "`called` needs a target that reports calls of tools; the default one is a service without "
        "`tool_calls`; set `tool_calls`, the place of the calls in its reply\n" in checked.stdout
    )
