"""promptfoo's services: as a target, and asked by the shim, which runs against a real server."""

import json
import os
import subprocess
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from rubric_ci.files import dialects
from tests.files.dialects.test_promptfoo_providers import imported
from tests.http_server import serving

SHIM = Path(next(iter(dialects.__path__))) / "shims" / "promptfoo_shim.mjs"


def test_a_service() -> None:
    [target], said = imported(
        "providers: [{id: 'https://a.example/chat', label: shop, config: {method: POST, headers: "
        "{Authorization: 'Bearer {{env.TOKEN}}'}, body: {messages: [{content: '{{prompt}}'}]}, "
        "transformResponse: 'json.choices[0].message.content'}}]"
    )
    assert said == []
    assert target == {
        "name": "shop",
        "provider": "http",
        "url": "https://a.example/chat",
        "method": "POST",
        "headers": {"Authorization": "Bearer ${{ TOKEN }}"},
        "body": {"messages": [{"content": "{{ input }}"}]},
        "answer": "/choices/0/message/content",
    }


HTTP = (
    "id: 'https://a.example', config: {method: POST, body: {q: '{{prompt}}'}, transformResponse: "
)
PATHS = {
    "json.a?.b[0]": "/a/b/0",
    "(json) => json.a": "/a",
    "(data, text) => data.a": "/a",
    "j => j.a": "/a",
}


@pytest.mark.parametrize(("code", "path"), PATHS.items())
def test_the_place_of_an_answer(code: str, path: str) -> None:
    [target], said = imported(f"providers: [{{{HTTP}'{code}'}}}}]")
    assert (target["answer"], said) == (path, [])


PROGRAMS = {
    "code": "json.a || text",
    "the reply": "json",
    "a file": "file://read.js",
}


@pytest.mark.parametrize("code", PROGRAMS.values(), ids=PROGRAMS)
def test_a_reply_that_code_reads_is_for_the_shim(code: str) -> None:
    [target], said = imported(f"providers: [{{{HTTP}'{code}'}}}}]", {"read.js": ""})
    assert said == []
    assert target["command_template"].startswith("node promptfoo_shim.mjs --http '")
    assert code.replace("file://", "file://../") in target["command_template"]


def test_variables_of_a_service() -> None:
    [target], said = imported(
        "providers: [{id: http, config: {url: '{{env.HOST}}/{{path}}', method: POST, body: {}, "
        "transformResponse: json.a}}]"
    )
    assert (target["env"], said) == (["HOST"], [])
    assert " --vars cases.vars.json {EVAL_ID} --http " in target["command_template"]


def test_a_text_that_is_data_is_sent_as_data() -> None:
    [target], _ = imported(f"providers: [{{{HTTP}json.a}}}}]\ndefaultTest: {{vars: {{q: '[1]'}}}}")
    assert target["provider"] == "http"  # the variable of the test comes first
    [target], _ = imported(f"providers: [{{{HTTP}json.a}}}}]\ndefaultTest: {{vars: {{n: '[1]'}}}}")
    assert target["provider"] == "cli"


def test_a_check_by_code_gets_the_data_of_a_reply() -> None:
    check = "{type: javascript, value: output.b}"
    [target], _ = imported(f"providers: [{{{HTTP}json.a}}}}]\ndefaultTest: {{assert: [{check}]}}")
    assert target["provider"] == "cli"


class Echo(BaseHTTPRequestHandler):
    """Replies with the request, or with the status that its path names."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        request = {"path": self.path, "type": self.headers.get("Content-Type"), "body": body}
        status = int(self.path[1:]) if self.path[1:].isdigit() else 200
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(request).encode())

    do_GET = do_POST  # noqa: N815 - of the library

    def log_message(self, *_: object) -> None:
        pass


JSON_TYPE = "application/json"
FORM = "application/x-www-form-urlencoded"
SENT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a body of data": (
        {"method": "POST", "body": {"q": "{{prompt}}", "n": ["{{ n }}"], "user": "{{user.name}}"}},
        {"path": "/", "type": JSON_TYPE, "body": {"q": 'Say "hi"', "n": ["2"], "user": "Ann"}},
    ),
    "data in a text of a body": (
        {"method": "POST", "body": {"user": "{{ user | dump }}"}},
        {"path": "/", "type": JSON_TYPE, "body": {"user": {"name": "Ann"}}},
    ),
    "texts in place of none": (
        {
            "method": "POST",
            "body": {"a": "{{ none | default('x') }}", "n": '{{n | default("y")}}', "m": "{{m}}"},
        },
        {"path": "/", "type": JSON_TYPE, "body": {"a": "x", "n": "2", "m": ""}},
    ),
    "a body that is a text": (
        {"method": "POST", "body": " {{prompt}} "},
        {"path": "/", "type": FORM, "body": 'Say "hi"'},
    ),
    "a template of JSON": (
        {
            "method": "POST",
            "headers": {"Content-Type": JSON_TYPE},
            "body": '{"q": "{{prompt}}", "n": {{n}}}',
        },
        {"path": "/", "type": JSON_TYPE, "body": {"q": 'Say "hi"', "n": 2}},
    ),
    "a query": (
        {"method": "GET", "body": {"a": 1}, "queryParams": {"q": "{{prompt}}", "k": "{{env.KEY}}"}},
        {"path": "/?q=Say+%22hi%22&k=secret", "type": None, "body": ""},
    ),
}


CASE = {"n": 2, "user": {"name": "Ann"}}


def asked(
    request: dict[str, Any], *, case: dict[str, Any] = CASE, **settings: Any
) -> "subprocess.CompletedProcess[str]":
    """Run the shim with a request to a server that replies with it."""
    with serving(Echo) as server, TemporaryDirectory() as folder:
        Path(folder, "vars.json").write_text(json.dumps({"a": case}))
        spec = {**request, "url": f"{server.url}{request.get('url', '/')}"}
        words = ["--vars", "vars.json", "a", "--http", json.dumps(json.dumps(spec | settings))]
        return subprocess.run(
            ["node", str(SHIM), *words, 'Say "hi"'],
            cwd=folder,
            env={**os.environ, "KEY": "secret"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )


@pytest.mark.parametrize(("request_", "sent"), SENT.values(), ids=SENT)
def test_the_shim_asks_a_service(request_: dict[str, Any], sent: dict[str, Any]) -> None:
    done = asked(request_)
    assert done.returncode == 0, done.stderr
    got = json.loads(json.loads(done.stdout)["text"])
    if sent["body"] and got["type"] == JSON_TYPE:
        got["body"] = json.loads(got["body"])
    assert got == sent


def test_a_prompt_that_is_empty_is_sent_so() -> None:
    request = {"method": "POST", "body": {"q": "{{prompt}}"}}
    done = asked(request, case={"n": 2, "__prompt": ""}, reader="json.body")
    assert json.loads(json.loads(done.stdout)["text"]) == {"q": ""}


READERS = ("json.path", "(json, text) => JSON.parse(text).path", "({output: json.path})")


@pytest.mark.parametrize("code", READERS)
def test_the_shim_reads_a_reply(code: str) -> None:
    assert asked({"method": "GET"}, reader=code).stdout == "/"


FAILED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a status": ({"url": "/503", "method": "GET"}, {}, "Error: 503 Service Unavailable: {"),
    "code that throws": ({"method": "GET"}, {"reader": "json.a.b"}, "TypeError: Cannot read"),
    "no answer": ({"method": "GET"}, {"reader": "json.a"}, "Error: no answer in the reply: {"),
    "an error": ({"method": "GET"}, {"reader": "({error: 'no'})"}, "Error: no"),
}


@pytest.mark.parametrize(("request_", "settings", "said"), FAILED.values(), ids=FAILED)
def test_a_service_without_an_answer_is_no_verdict(
    request_: dict[str, Any], settings: dict[str, Any], said: str
) -> None:
    done = asked(request_, **settings)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(said)
