"""The real agent programs as judges: no file of the host reaches the model that judges.

`make agents` installs them, 1.6 GB, and runs this; without them the tests are skipped.
"""

import json
import os
import subprocess
import sys
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final

import pytest

from tests import aimock as scripted
from tests import pictures
from tests.aimock import Aimock
from tests.http_server import serving
from tests.invoke import invoke
from tests.real_agents import programs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not programs.BIN.exists(), reason=programs.MISSING),
    pytest.mark.timeout(400),
]

MARKS: Final = json.dumps({"c1": {"evidence": "", "reasoning": "It does.", "satisfied": True}})


def graded(folder: Path, judge: dict[str, Any], answer: str, **variables: str) -> None:
    """Run a case with this answer and judge; it ends with the scripted mark."""
    judge = {**judge, "canary": False}
    target = {"name": "default", "provider": "mock", "response": answer}
    (folder / "rubric-ci.yaml").write_text(json.dumps({"judge": judge, "targets": [target]}))
    case = {"id": "a", "input": "Hi", "rubrics": ["Greets"]}
    (folder / "a.eval.yaml").write_text(json.dumps({"evalcases": [case]}))
    done = invoke(folder, programs.environment(folder) | variables, "run")
    assert done.returncode == 0, done.stdout + done.stderr


PATHS: Final = {
    "alone": "@{path}",
    "in a sentence": "Look at @{path} before you mark.",
    "quoted": '@"{path}"',
    "at the start of a line": "Greetings.\n@{path}\n",
    "with lines": "@{path}#L1-2",
}


SERVERS: Final = {
    "claude-code": ("ANTHROPIC_BASE_URL", ""),
    "gemini-cli": ("GOOGLE_GEMINI_BASE_URL", ""),
    "qwen": ("OPENAI_BASE_URL", "/v1"),
}
"""The variable that names the server of a program, and the end of its URL."""


@pytest.mark.parametrize("cli", SERVERS)
@pytest.mark.parametrize("answer", PATHS.values(), ids=PATHS)
def test_no_path_is_expanded(answer: str, cli: str, aimock: Aimock, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("text-of-the-host\n")
    aimock.load([{**scripted.says(MARKS), "match": {}}])
    name, end = SERVERS[cli]
    judge = {"cli": cli, "model": programs.AGENTS[cli]["model"], "env": [name]}
    graded(tmp_path, judge, answer.format(path=secret), **{name: aimock.url + end})
    sent = json.dumps(aimock.requests())
    assert str(secret) in sent
    assert "text-of-the-host" not in sent


def test_claude_would_expand_it(aimock: Aimock, tmp_path: Path) -> None:
    """Without our options it does: the test above would notice."""
    secret = tmp_path / "secret.txt"
    secret.write_text("text-of-the-host\n")
    aimock.load([{**scripted.says("Done."), "match": {}}])
    variables = programs.environment(tmp_path) | {"ANTHROPIC_BASE_URL": aimock.url}
    asked = ["claude", "-p", "--model", "claude-sonnet-5-5", f"Look at @{secret}"]
    subprocess.run(asked, cwd=tmp_path, env=variables, check=True, stdin=subprocess.DEVNULL)
    assert "text-of-the-host" in json.dumps(aimock.requests())


class Caller(BaseHTTPRequestHandler):
    """A server in OpenAI's Responses format: it calls a tool as often as it can, then marks."""

    protocol_version = "HTTP/1.1"

    def __init__(self, calls: list[dict[str, Any]], asked: list[str], *connection: Any) -> None:
        self.calls, self.asked = calls, asked
        super().__init__(*connection)

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        self.asked.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        text = {"type": "output_text", "text": MARKS, "annotations": []}
        marks = {"type": "message", "id": "m", "role": "assistant", "content": [text]}
        item = dict(enumerate(self.calls)).get(len(self.asked) - 1, marks)
        programs.send_events(
            self, [{"type": "response.output_item.done", "item": item}], status="completed"
        )


def function(path: Path) -> dict[str, Any]:
    arguments = json.dumps({"path": str(path)})
    return {"type": "function_call", "call_id": "1", "name": "view_image", "arguments": arguments}


def script(path: Path) -> dict[str, Any]:
    """Return a call of the code mode, in which a script calls the tools."""
    source = f"text(JSON.stringify(await tools.view_image({{path: {json.dumps(str(path))}}})))"
    return {"type": "custom_tool_call", "call_id": "2", "name": "exec", "input": source}


MODELS: Final = {"its tools are functions": "gpt-6", "its tools are a script": "gpt-6-luna"}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_codex_reads_no_picture_of_the_host(model: str, tmp_path: Path) -> None:
    assert not shown_to_codex(tmp_path, model)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_codex_would_read_it(model: str, tmp_path: Path) -> None:
    """Without two of our options it does: the test above would notice."""
    assert shown_to_codex(tmp_path, model, without=("view_image", "code_mode_host"))


def shown_to_codex(folder: Path, model: str, *, without: tuple[str, ...] = ()) -> bool:
    """Return True if a picture of the host reached the model that judges."""
    picture = folder / "host.png"
    picture.write_bytes(pictures.png(8, 8))
    asked: list[str] = []
    calls = [function(picture), script(picture)]
    with serving(partial(Caller, calls, asked)) as running:
        plant_codex(folder / "bin", f"{running.url}/v1", without)
        path = f"{folder / 'bin'}{os.pathsep}{programs.environment(folder)['PATH']}"
        graded(folder, {"cli": "codex", "model": model}, "Hello", PATH=path)
    assert len(asked) == 3
    return ";base64," in "".join(asked)


CODEX: Final = """\
#!{python}
import os, sys
words = ["goals" if word in {without} else word for word in sys.argv[1:]]
os.execv({codex!r}, ["codex", *{settings}, *words])
"""


def plant_codex(folder: Path, url: str, without: tuple[str, ...]) -> None:
    """Write a program `codex` that starts the real one with this server."""
    server = f'{{name="own", base_url="{url}", env_key="CODEX_API_KEY", wire_api="responses"}}'
    settings = ["-c", 'model_provider="own"', "-c", f"model_providers.own={server}"]
    real = str(programs.BIN / "codex")
    folder.mkdir()
    program = folder / "codex"
    program.write_text(
        CODEX.format(python=sys.executable, without=without, codex=real, settings=settings)
    )
    program.chmod(0o755)
