"""Leaked secrets: targets, judges and scripts that fail in every way show no key anywhere."""

import base64
import html
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from tests import platforms
from tests.checkout import start_repository
from tests.http_server import JsonHandler
from tests.invoke import invoke, through_streams
from tests.sample_project import Project, clean_environment

pytestmark = platforms.SHELL

SUBSTITUTED = "subst-5f1e77.a0b9c8-d7e6"
KEY = "key-\"q9\\x2<v>'w&3/4+z=_ü8"
TOKEN = "tok-Zm9v/YmFy+QUJD="
LITERAL = "lit-0d4c3b2a19887766"
IN_URL = "pa55-w0rd.of.a.database"
LINES = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----"
SECRETS = {"SUBST": SUBSTITUTED, "KEY": KEY, "TOKEN": TOKEN, "LITERAL": LITERAL, "IN_URL": IN_URL}
ENVIRONMENT = {
    "SERVICE_PART": SUBSTITUTED,
    "AGENT_API_KEY": KEY,
    "DEPLOY_TOKEN": TOKEN,
    "SIGNING_SECRET": LINES,
    "DATABASE_URL": f"postgres://app:{IN_URL}@db/app",
    "SHORT_KEY": "abc",
    "RUBRIC_CI_COMMENT_KEY": "default",
    "OPENAI_API_KEY": "",
}
ENV = ["AGENT_API_KEY", "DEPLOY_TOKEN", "SIGNING_SECRET", "DATABASE_URL"]
PART = "${{ SERVICE_PART }}"
WINDOW = 12  # so many characters of a secret in a row are a leak


def pieces(secret: str) -> set[str]:
    return {secret[n : n + WINDOW] for n in range(len(secret) - WINDOW + 1)}


def written(secret: str) -> Iterator[str]:
    """Yield a secret as texts hold it."""
    yield from (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    yield from (quote(secret, safe=""), html.escape(secret), repr(secret)[1:-1])
    yield base64.b64encode(secret.encode()).decode()[: len(secret) // 3 * 4]


PIECES = {
    *(piece for secret in SECRETS.values() for form in written(secret) for piece in pieces(form)),
    *(line for line in LINES.splitlines() if "KEY" not in line),
}


def leaks(text: str) -> list[str]:
    return sorted(piece for piece in PIECES if piece in text)


class Failure(NamedTuple):
    """A target, and what the reason of its case holds; empty: it is graded."""

    target: dict[str, Any]
    reason: str


def command(template: str, reason: str, **more: object) -> Failure:
    target = {"provider": "cli", "command_template": template, "env": ENV, **more}
    return Failure(target, reason)


def script(code: str, reason: str, **more: object) -> Failure:
    imports = "import base64, html, json, os, sys, urllib.parse as u"
    code = f"{imports}; k = os.environ['AGENT_API_KEY']; {code}"
    quoted = code.replace("'", "'\"'\"'")
    return command(f"{sys.executable} -c '{quoted}'", reason, **more)


def model(path: str, reason: str, **more: object) -> Failure:
    options = {"model": "openai/m", "api_base": f"SERVER/{path}", "api_key": PART, **more}
    return Failure(options, reason)


FAILURES = {
    "key-on-stderr": command('echo "bad key: $AGENT_API_KEY" >&2; exit 1', "bad key: ***"),
    "key-on-stdout": command('echo "bad key: $AGENT_API_KEY"; exit 1', "bad key: ***"),
    "traced-by-the-shell": command('set -x; test -z "Bearer $DEPLOY_TOKEN"', "Bearer ***"),
    "substituted-and-traced": command(f"set -x; test -z {PART}", "test -z ***"),
    "time-out": command(f"sleep 30; : {PART}", "did not end within", timeout_seconds=0.5),
    "time-out-cut-in-the-key": command(
        f"sleep 30; : {'x' * 95} {PART}", "did not end within", timeout_seconds=0.5
    ),
    "not-found": command(f"/nowhere/{PART}", "failed: exit status 127"),
    "no-such-folder": command("true", "there is no such folder", cwd=PART),
    "stderr-cut-in-the-key": command(
        f"printf '%s' {PART} >&2; printf '%0488d' 0 >&2; exit 1", "failed: exit status 1"
    ),
    "traceback": script("raise ValueError(k)", "ValueError: ***"),
    "traceback-with-repr": script("raise KeyError(k)", "KeyError: "),
    "as-json": script("sys.exit(json.dumps({'key': k}))", '{"key": "***"}'),
    "as-url": script("sys.exit('http://h/?k=' + u.quote(k, safe=''))", "http://h/?k=***"),
    "as-form": script("sys.exit(u.urlencode({'k': k}))", "k=***"),
    "as-html": script("sys.exit('<p>' + html.escape(k))", "<p>***"),
    "as-base64": script("sys.exit(base64.b64encode(b'user:' + k.encode()).decode())", "***"),
    "as-lines": command('echo "$SIGNING_SECRET" >&2; exit 1', "***"),
    "password-in-an-address": command('echo "no $DATABASE_URL" >&2; exit 1', "app:***@db"),
    "ended-by-a-signal": command('echo "$AGENT_API_KEY" >&2; kill -9 $$', "status -9: ***"),
    "empty-answer": command('echo "$AGENT_API_KEY" >&2', "gave an empty answer"),
    "broken-answer": script("print(json.dumps({'output_messages': k}))", "invalid answer"),
    "too-much": command(f"yes {PART} | head -c 9000000", "printed more than"),
    "process-left-behind": command(
        f": {PART}; setsid sh -c 'echo >ready; exec sleep 6' & "
        "until test -e ready; do sleep 0.1; done; echo x",
        "left a process behind",
    ),
    "health-check-of-an-address": command(
        "true",
        "does not respond",
        healthcheck={"type": "http", "url": f"http://127.0.0.1:1/{PART}"},
    ),
    "health-check-refused": command(
        "true", "responds with 401", healthcheck={"type": "http", "url": f"SERVER/401?key={PART}"}
    ),
    "health-check-of-a-command": command(
        "true",
        "the health check",
        healthcheck={"type": "command", "command_template": f"echo {PART} >&2; exit 1"},
    ),
    "answer": command('echo "My key is $AGENT_API_KEY"', ""),
    "answer-with-messages": script("print(json.dumps({'text': k, 'trace_summary': {k: k}}))", ""),
    "answer-of-fields": script(
        "print(json.dumps({'text': json.dumps({'text': 'x' * 105 + k})}))", ""
    ),
    "work": script(
        "call = {'tool': k, 'input': {k: k}, 'output': 'x' * 390 + k + 'y' * 500, 'error': k}; "
        "m = [{'role': 'assistant', 'tool_calls': [call]}, {'role': 'assistant', 'content': k}]; "
        "print(json.dumps({'output_messages': m}))",
        "",
    ),
    "work-in-a-folder": command(
        f"echo x >{PART}.txt; printf '%019990d%s' 0 \"$DEPLOY_TOKEN\" >long; "
        "printf '%0400d%s' 0 \"$AGENT_API_KEY\" >keep; echo done",
        "",
        workspace={"keep": ["diff", "*"]},
    ),
    "work-that-failed": script(
        "e = {'type': 'item.completed', 'item': {'type': 'mcp_tool_call', 'server': k, 'tool': k, "
        "'arguments': {k: k}, 'result': 'x' * 380 + k + 'y' * 500}}; "
        "print(json.dumps(e)); "
        "print(json.dumps({'type': 'turn.failed', 'error': {'message': 'z' * 280 + k}}))",
        "failed: ",
        trace="codex",
    ),
    "work-that-timed-out": command(
        """echo '{"type": "x", "subtype": "y", "why": "'"$DEPLOY_TOKEN"'"}'; sleep 30""",
        "did not end within 1 s and was killed; its last event: x y: why ***",
        trace="claude-code",
        timeout_seconds=1,
    ),
    "answer-in-a-file": command('echo "My key is $DEPLOY_TOKEN" >{OUTPUT_FILE}', ""),
    "model-401": model("401", "HTTP 401: Incorrect API key: Bearer ***"),
    "model-401-literal": model("401", "HTTP 401", api_key=LITERAL),
    "model-401-header": model(
        "401", "HTTP 401", extra_headers={"Authorization": f"Bearer {LITERAL}"}
    ),
    "model-400-html": model("400", "HTTP 400"),
    "model-401-cut-in-the-key": model("cut", "HTTP 401"),
    "model-200-error": model("200-error", "the reply is an error"),
    "model-address": model(f"401/{PART}", "HTTP 401"),
    "model-bad-address": model("x", "m: ", api_base=f"http://[{PART}/v1"),
    "model-answer": model("200", ""),
}
ASKED: list[str] = []  # the requests that judges received


class Echo(JsonHandler):
    """A server that repeats who asked, in one way a path."""

    def do_GET(self) -> None:
        known = {"judge": 200, "401": 401}
        error = {"message": f"Incorrect API key: {self.headers['Authorization']}"}
        status = known.get(self.path.split("/")[1].partition("?")[0], 404)
        self.send_json(status, {"error": error})

    def do_POST(self) -> None:
        body = json.dumps(self.received(), ensure_ascii=False)
        who = self.headers["Authorization"]
        said = f"Incorrect API key: {who}"
        path = self.path.split("/")[1]
        message = {"role": "assistant", "content": f"I was asked by {who}"}
        mark = {"evidence": "", "reasoning": said, "satisfied": True}
        if path == "judge":
            ASKED.append(body)
            scored = {"score": 1, "reasoning": said, "hits": [], "misses": []}
            message["content"] = json.dumps({"c1": mark} if "c1" in body else scored)
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        whole = {"id": "r", "object": "chat.completion", "model": "m", "choices": [choice]}
        match path:
            case "400":
                self.send(400, f"<html>{html.escape(said)}".encode())
            case "cut":
                self.send_json(401, {"error": {"message": "x" * 488 + who}})
            case "200-error":
                self.send_json(200, {"error": {"code": 400, "message": said}})
            case "200" | "judge":
                self.send_json(200, whole)
            case _:
                self.send_json(401, {"error": {"message": said}})


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Ran(NamedTuple):
    """A run, and the case of its report for each target."""

    root: Path
    stdout: str
    stderr: str
    cases: dict[str, dict[str, Any]]


LOUD = "set -x; printf '%s' \"{'score'\"; echo \"$AGENT_API_KEY\" >&2; exit 1"


def project(root: Path, server: str) -> None:
    def case(name: str) -> dict[str, Any]:
        loud = {"name": "loud", "type": "code_judge", "script": LOUD, "env": ENV}
        told = {"name": "told", "type": "code_judge", "env": ENV}
        told["script"] = 'echo "$AGENT_API_KEY" >&2; exit 1'
        rubric = {"name": "judged", "type": "llm_judge", "rubrics": ["Greets"]}
        raw = {"name": "raw", "type": "code_judge", "env": ENV}
        raw["script"] = (
            'tr -d \'\\n\' <{answer_file} | grep -qF -e "$AGENT_API_KEY" -e "$DEPLOY_TOKEN"'
        )
        field = {"path": "text", "match": "exact"}
        fields = {"name": "fields", "type": "field_accuracy", "fields": [field]}
        graded = not FAILURES[name].reason
        judged = {**rubric, "type": "rubric"}
        sees = {"work": ["tool_calls"], "work-in-a-folder": ["file_changes", "files"]}
        judged["sees"] = ["answer", *sees.get(name, [])]
        prompt = {"name": "free", "type": "llm_judge", "prompt": "{{ output_messages }}"}
        members = [raw, {**told, "weight": 0}]
        whole: dict[str, object] = {"name": "whole", "type": "composite", "evaluators": members}
        whole["aggregator"] = {"type": "llm_judge"}
        which: list[object] = [loud, told, raw, judged, prompt, whole] if graded else [told]
        which += [fields] if name == "answer-of-fields" else []
        execution = {"target": name, "evaluators": which}
        expected = [{"role": "assistant", "content": {"text": "Hi"}}]
        given = {"input": "Hi", "expected_messages": expected}
        return {"id": name, **given, "execution": execution}

    targets = [{"name": name, **failure.target} for name, failure in FAILURES.items()]
    judge = {"model": "openai/j", "api_base": f"{server}/judge", "api_key": LITERAL}
    allow = {"allow": ["SERVICE_*", "AGENT_*", "DEPLOY_*", "SIGNING_*", "DATABASE_*"]}
    config = {"evals": ["*.eval.yaml"], "judge": judge, "targets": targets, "env": allow}
    (root / "rubric-ci.yaml").write_text(json.dumps(config).replace("SERVER", server))
    (root / "a.eval.yaml").write_text(json.dumps({"evalcases": [case(name) for name in FAILURES]}))


@pytest.fixture(scope="module", params=["terminal", "runner"])
def ran(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, server: str
) -> Ran:
    """One run over all of them, in every format; on a runner also with a recording."""
    root = tmp_path_factory.mktemp("secrets")
    start_repository(root)
    project(root, server)
    on_runner = request.param == "runner"
    files = {"GITHUB_OUTPUT": str(root / "outputs"), "GITHUB_STEP_SUMMARY": str(root / "steps.md")}
    more = {"GITHUB_ACTIONS": "true", **files} if on_runner else {"GITHUB_ACTIONS": ""}
    recording = ["--record", "replies.jsonl"] if on_runner else []
    reports = ("--reports", "json,markdown,junit,sarif,html")
    environment = clean_environment() | ENVIRONMENT | more
    done = through_streams(root, environment, "run", *reports, *recording)
    assert (root / ".rubric-ci/report.json").exists(), done.stderr
    report = json.loads((root / ".rubric-ci/report.json").read_text())
    return Ran(root, done.stdout, done.stderr, {case["id"]: case for case in report["cases"]})


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_explained_without_its_secret(name: str, ran: Ran) -> None:
    case = ran.cases[name]
    assert FAILURES[name].reason in case["reason"], case["reason"]
    assert leaks(json.dumps(case, ensure_ascii=False)) == []
    assert leaks(json.dumps(case)) == []


def test_no_output_leaks(ran: Ran) -> None:
    shown = [line for line in ran.stderr.splitlines() if not line.startswith("::add-mask::")]
    assert leaks(ran.stdout) == []
    assert leaks("\n".join(shown)) == []
    inputs = {ran.root / "rubric-ci.yaml", ran.root / "a.eval.yaml"}
    files = [path for path in ran.root.rglob("*") if path.is_file() and ".git/" not in str(path)]
    assert {path.name for path in files} >= {"report.json", "summary.md", "report.html"}
    found = {path.name: leaks(path.read_text()) for path in files if path not in inputs}
    assert {name: some for name, some in found.items() if some} == {}


def test_no_judge_receives_a_secret(ran: Ran) -> None:
    assert [name for name, case in ran.cases.items() if "My key is ***" in case["answer"]]
    assert len(ASKED) >= 12
    assert any("Tool calls (" in body for body in ASKED)
    assert any("Changes of files:" in body for body in ASKED)
    assert [leaks(body) for body in ASKED if leaks(body)] == []


@pytest.mark.parametrize("name", ["answer", "answer-in-a-file"])
def test_a_script_marks_the_answer_as_it_is(name: str, ran: Ran) -> None:
    (raw,) = [each for each in ran.cases[name]["evaluators"] if each["name"] == "raw"]
    assert (raw["outcome"], raw["score"]) == ("assessed", 1)


def test_a_runner_masks_what_was_substituted(ran: Ran) -> None:
    masks = [line for line in ran.stderr.splitlines() if line.startswith("::add-mask::")]
    assert masks == (
        [f"::add-mask::{SUBSTITUTED}"] if (ran.root / "replies.jsonl").exists() else []
    )


def test_short_values_and_options_of_ours_are_no_secrets(ran: Ran) -> None:
    assert "abc" not in ran.stdout
    assert ran.cases["answer"]["target"] == "answer"
    report = (ran.root / ".rubric-ci" / "report.json").read_text()
    assert '"answer": "My key is ***' in report


@pytest.mark.parametrize(
    "arguments",
    [
        ("judge", "attack", "--judge", "openai/j", "corpus.eval.yaml"),
        ("generate", "rubrics", "--target", "model-answer", "--diff", "draft.eval.yaml"),
        ("generate", "rubrics", "--target", "model-401", "draft.eval.yaml"),
        ("run", "--replay", SUBSTITUTED, "--case", "answer"),
        ("run", "--baseline", KEY, "--case", "answer"),
        ("compare", TOKEN, KEY),
        ("validate", KEY),
    ],
    ids=" ".join,
)
def test_no_command_leaks(arguments: tuple[str, ...], tmp_path: Path, server: str) -> None:
    start_repository(tmp_path)
    project(tmp_path, server)
    case = {"id": "a", "input": "Hi", "expected_outcome": "Greets", "metadata": {"answer": "Hi"}}
    marks = {"metadata": {"answer": "Hi", "marks": {"Greets": True}}}
    marked = {**case, **marks, "rubrics": ["Greets"]}
    (tmp_path / "corpus.eval.yaml").write_text(json.dumps({"evalcases": [marked]}))
    (tmp_path / "draft.eval.yaml").write_text(json.dumps({"evalcases": [case]}))
    environment = clean_environment() | ENVIRONMENT | {"GITHUB_ACTIONS": ""}
    done = through_streams(tmp_path, environment, *arguments)
    assert done.returncode != 0
    assert done.stdout + done.stderr != ""
    assert leaks(done.stdout + done.stderr) == []


def python(code: str) -> subprocess.CompletedProcess[str]:
    command, environment = [sys.executable, "-c", code], clean_environment() | ENVIRONMENT
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_traceback_of_a_bug_leaks_nothing() -> None:
    code = (
        "import os; from rubric_ci.system.output_and_masking import open_streams; open_streams();"
        "print(os.environ['AGENT_API_KEY']); raise ValueError(os.environ['DEPLOY_TOKEN'])"
    )
    done = python(code)
    assert done.stdout == "***\n"
    assert done.stderr.splitlines()[-1] == "ValueError: ***"


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_scripts_cannot_read_the_memory_of_this_process() -> None:
    code = (
        "import asyncio, ctypes; from pathlib import Path; from rubric_ci.system import processes;"
        "dumpable = lambda: ctypes.CDLL(None).prctl(3, 0, 0, 0, 0); before = dumpable();"
        "command = processes.Command(script='cat /proc/self/status', cwd=Path(), known={},"
        " timeout_seconds=20); done = asyncio.run(processes.run(command));"
        "print(before, dumpable(), done.status, Path('/proc/self/environ').stat().st_uid)"
    )
    done = python(code)
    assert done.stdout == "1 0 0 0\n", done.stderr


@pytest.mark.parametrize(
    "name", ["GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"]
)
@pytest.mark.parametrize("kind", ["target", "health check", "script"])
def test_no_script_gets_a_token_of_the_runner(kind: str, name: str, tmp_path: Path) -> None:
    leak = f"""'printf %s "${name}" > leaked; echo Hi'"""
    check = f"healthcheck: {{type: command, command_template: {leak}}}"
    target = {
        "target": f"{{name: default, provider: cli, command_template: {leak}, env: [{name}]}}",
        "health check": (
            f"{{name: default, provider: cli, command_template: echo Hi, env: [{name}], {check}}}"
        ),
        "script": "{name: default, provider: mock, response: Hi}",
    }[kind]
    env = f", env: [{name}]" if kind == "script" else ""
    project = Project(tmp_path)
    project.write("rubric-ci.yaml", f"targets:\n  - {target}\n")
    project.write(
        "evals/a.eval.yaml",
        "evalcases:\n  - id: a\n    input: Hi\n    execution:\n      evaluators:\n"
        f"        - {{name: c, type: code_judge, score_from: exit_status, script: {leak}{env}}}\n",
    )
    done = project.run("evals", **{name: "ghs_of_the_runner"})
    assert done.returncode == 3
    said = f"`{name}`, named in `env`, is the runner's: no script gets it"
    assert said in project.report()["cases"][0]["reason"]
    assert [path for path in tmp_path.rglob("leaked") if "ghs" in path.read_text()] == []


LITERALS = {
    "a word": ("judge: {model: openai/m, api_key: KEY}\n", "AKIAIOSFODNN7EXAMPLE"),
    "a key": ("judge: {model: openai/m, api_key: KEY}\n", "sk-live-abcdef"),
    "quoted": ('judge: {model: openai/m, api_key: "KEY"}\n', "sk-live-abcdef"),
    "with an escape": ('judge: {model: openai/m, api_key: "KEY\\u0041"}\n', "sk-live-abcdef"),
    "in two lines": ("judge:\n  model: openai/m\n  api_key: x\n    KEY\n", "sk-live-abcdef"),
    "a block": ("judge:\n  model: openai/m\n  api_key: |\n    KEY\n", "sk-live-abcdef"),
    "a target": ("targets: [{name: default, model: openai/m, api_key: KEY}]\n", "sk-live-abcdef"),
    "beside another problem": ("judge: {api_key: KEY, model: m, modell: m}\n", "sk-live-abcdef"),
    "before another problem": ("judge: {model: m, modell: m, api_key: KEY}\n", "sk-live-abcdef"),
    "through an alias": (
        "judge: {model: openai/m, api_key: &k KEY}\ntargets: [{name: d, model: m, api_key: *k}]\n",
        "sk-live-abcdef",
    ),
}


@pytest.mark.parametrize("form", ["text", "github", "json", "sarif"])
@pytest.mark.parametrize(("config", "key"), LITERALS.values(), ids=LITERALS)
def test_no_format_shows_a_literal_secret(tmp_path: Path, config: str, key: str, form: str) -> None:
    project = Project(tmp_path)
    project.write("rubric-ci.yaml", config.replace("KEY", key))
    done = invoke(tmp_path, clean_environment(), "validate", "--format", form, "rubric-ci.yaml")
    assert "literal" in done.stdout
    assert key not in done.stdout + done.stderr
