"""promptfoo's services: as a target, and asked by the shim, which runs against a real server."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from rubric_ci.parts.bring import dialects
from rubric_ci.parts.bring.dialects.promptfoo_code import as_argument
from tests.captured import captured
from tests.http_server import QuietHandler, serving
from tests.parts.bring.dialects.test_promptfoo_providers import imported
from tests.tables import rows

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


PROGRAMS = {"code": "json.a || text", "the reply": "json", "a file": "file://read.js"}


@pytest.mark.parametrize("code", PROGRAMS.values(), ids=PROGRAMS)
def test_a_reply_that_code_reads_is_for_the_shim(code: str) -> None:
    [target], said = imported(f"providers: [{{{HTTP}'{code}'}}}}]", {"read.js": ""})
    assert said == []
    assert target["command_template"].startswith('node promptfoo_shim.mjs --http "')
    assert as_argument(code.replace("file://", "file://../")) in target["command_template"]


def test_variables_of_a_service() -> None:
    [target], said = imported(
        "providers: [{id: http, config: {url: '{{env.HOST}}/{{path}}', method: POST, body: {}, "
        "transformResponse: json.a}}]"
    )
    assert (target["env"], said) == (["HOST"], [])
    assert " --vars cases.vars.json {EVAL_ID} --http " in target["command_template"]


def test_an_address_of_another_type_is_for_the_checks() -> None:
    config = "{url: 3, method: POST, body: {}, transformResponse: json.a}"
    [target], said = imported(f"providers: [{{id: http, config: {config}}}]")
    assert (target["url"], said) == (3, [])


def test_a_text_that_is_data_is_sent_as_data() -> None:
    [target], _ = imported(f"providers: [{{{HTTP}json.a}}}}]\ndefaultTest: {{vars: {{q: '[1]'}}}}")
    assert target["provider"] == "http"  # the variable of the test comes first
    [target], _ = imported(f"providers: [{{{HTTP}json.a}}}}]\ndefaultTest: {{vars: {{n: '[1]'}}}}")
    assert target["provider"] == "cli"


def test_a_check_by_code_gets_the_data_of_a_reply() -> None:
    check = "{type: javascript, value: output.b}"
    [target], _ = imported(f"providers: [{{{HTTP}json.a}}}}]\ndefaultTest: {{assert: [{check}]}}")
    assert target["provider"] == "cli"


class Echo(QuietHandler):
    """Replies with the request, or with the status that its path names."""

    def do_POST(self) -> None:
        body = self.body().decode()
        request = {"path": self.path, "type": self.headers.get("Content-Type"), "body": body}
        status = int(self.path[1:]) if self.path[1:].isdigit() else 200
        self.respond(status, json.dumps(request).encode())

    do_GET = do_POST  # noqa: N815 - of the library


JSON_TYPE = "application/json"
SENT_AS = """
# a body of data
{method: POST, body: {q: '{{prompt}}', n: ['{{ n }}'], user: '{{user.name}}'}}
=> {path: /, type: application/json, body: {q: Say "hi", n: ['2'], user: Ann}}
# data in a text of a body
{method: POST, body: {user: '{{ user | dump }}'}}
=> {path: /, type: application/json, body: {user: {name: Ann}}}
# texts in place of none
{method: POST, body: {a: '{{ none | default(''x'') }}', n: '{{n | default("y")}}', m: '{{m}}'}}
=> {path: /, type: application/json, body: {a: x, n: '2', m: ''}}
# a body that is a text
{method: POST, body: ' {{prompt}} '}
=> {path: /, type: application/x-www-form-urlencoded, body: Say "hi"}
# a template of JSON
{method: POST, headers: {Content-Type: application/json}, body: '{"q": "{{prompt}}", "n": {{n}}}'}
=> {path: /, type: application/json, body: {q: Say "hi", n: 2}}
# a query
{method: GET, body: {a: 1}, queryParams: {q: '{{prompt}}', k: '{{env.KEY}}'}}
=> {path: '/?q=Say+%22hi%22&k=secret', type: null, body: ''}
"""
SENT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    str(row.id): (yaml.safe_load(row.values[0]), yaml.safe_load(row.values[1][0]))
    for row in rows(SENT_AS)
}
"""The request of a service, and what the server gets."""
CASE = {"n": 2, "user": {"name": "Ann"}}
READERS = ("json.path", "(json, text) => JSON.parse(text).path", "({output: json.path})")
FAILED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a status": ({"url": "/503", "method": "GET"}, {}, "Error: 503 Service Unavailable: {"),
    "code that throws": ({"method": "GET"}, {"reader": "json.a.b"}, "TypeError: Cannot read"),
    "no answer": ({"method": "GET"}, {"reader": "json.a"}, "Error: no answer in the reply: {"),
    "an error": ({"method": "GET"}, {"reader": "({error: 'no'})"}, "Error: no"),
}
EMPTY = {"method": "POST", "body": {"q": "{{prompt}}"}}
ASKED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "an empty prompt": ("empty", EMPTY, {"reader": "json.body"}),
    **{name: ("a", request, {}) for name, (request, _) in SENT.items()},
    **{code: ("a", {"method": "GET"}, {"reader": code}) for code in READERS},
    **{name: ("a", request, settings) for name, (request, settings, _) in FAILED.items()},
}
"""The case, the request and the settings of each run of the shim."""
Ended: TypeAlias = tuple[int, str, str]
"""The exit code of a run, and what it printed on both streams."""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Ended]:
    """Run the shim for all of them in one process, with a server that replies with the request."""
    folder = tmp_path_factory.mktemp("shim")
    cases = {"a": CASE, "empty": {"n": 2, "__prompt": ""}}
    (folder / "vars.json").write_text(json.dumps(cases))
    with serving(Echo) as server:
        runs = []
        for case, request, settings in ASKED.values():
            spec = {**request, "url": f"{server.url}{request.get('url', '/')}", **settings}
            words = ["--vars", "vars.json", case, "--http", as_argument(json.dumps(spec))]
            runs.append([str(SHIM), *words, 'Say "hi"'])
        done = captured(
            ["node", str(Path(__file__).with_name("shims.mjs"))],
            cwd=folder,
            env={**os.environ, "KEY": "secret"},
            input=json.dumps(runs),
            check=True,
        )
    return dict(zip(ASKED, map(tuple, json.loads(done.stdout)), strict=True))


@pytest.mark.parametrize("name", SENT)
def test_the_shim_asks_a_service(ended: Mapping[str, Ended], name: str) -> None:
    code, printed, said = ended[name]
    assert code == 0, said
    sent = SENT[name][1]
    got = json.loads(json.loads(printed)["text"])
    if sent["body"] and got["type"] == JSON_TYPE:
        got["body"] = json.loads(got["body"])
    assert got == sent


def test_a_prompt_that_is_empty_is_sent_so(ended: Mapping[str, Ended]) -> None:
    _, printed, _ = ended["an empty prompt"]
    assert json.loads(json.loads(printed)["text"]) == {"q": ""}


@pytest.mark.parametrize("code", READERS)
def test_the_shim_reads_a_reply(ended: Mapping[str, Ended], code: str) -> None:
    assert ended[code][1] == "/"


@pytest.mark.parametrize("name", FAILED)
def test_a_service_without_an_answer_is_no_verdict(ended: Mapping[str, Ended], name: str) -> None:
    code, printed, said = ended[name]
    assert (code, printed) == (1, "")
    assert said.startswith(FAILED[name][2])
