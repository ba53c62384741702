"""What `rubric-ci init` writes for a service, which validates and runs as it is."""

import json
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest
import yaml

from rubric_ci.parts.start.init_providers_and_targets import answer_at, calls_at, with_port
from tests import platforms
from tests.checkout import Checkout
from tests.forked_command import at_a_terminal
from tests.invoke import invoke
from tests.sample_project import clean_environment

CHAT = {"choices": [{"message": {"role": "assistant", "content": "Yes"}}], "id": "chat-1234567"}
TOOLS = {"text": "Yes", "trace": {"steps": [{"name": "f", "arguments": {}}]}}
OPENAI = {"content": "x", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}


@pytest.mark.parametrize(
    ("reply", "answer", "calls"),
    [
        ({"reply": "Yes", "id": "a-longer-text"}, "reply", ""),
        (CHAT, "choices.0.message.content", ""),
        (TOOLS, "text", "trace.steps"),
        (OPENAI, "content", "tool_calls"),
        ({"a": "short", "b": {"c": "the longest text"}}, "b.c", ""),
        ({"n": 1}, "", ""),
    ],
)
def test_places_in_a_reply(reply: Any, answer: str, calls: str) -> None:
    assert (answer_at(reply), calls_at(reply)) == (answer, calls)


@pytest.mark.parametrize(
    ("start", "written"),
    [
        ("python bot.py --port 8000", "python bot.py --port {PORT}"),
        ("uvicorn app:app --port={PORT}", "uvicorn app:app --port={PORT}"),
        ("serve -l 127.0.0.1:3000", "serve -l 127.0.0.1:{PORT}"),
        ("npm start", "npm start"),
    ],
)
def test_the_port_of_a_command(start: str, written: str) -> None:
    assert with_port(start) == written


BOT = """\
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["message"]
        data = json.dumps({"reply": f"You said: {said}", "steps": []}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass

HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@platforms.SHELL
def test_the_files_validate_and_the_first_run_works(checkout: Checkout) -> None:
    checkout.commit({"bot.py": BOT})
    environment = {**clean_environment(), "OPENAI_API_KEY": "sk-test-0123456789", "NO_COLOR": "1"}
    start = f"{sys.executable} bot.py 8000"
    reply = json.dumps({"reply": "You said: x", "steps": []})
    done = invoke(checkout.root, environment, "init", "--yes", "--start", start, "--reply", reply)
    assert done.returncode == 0, done.stderr
    checked = invoke(checkout.root, environment, "validate", "--strict")
    assert checked.returncode == 0, checked.stdout
    (target, _) = yaml.safe_load((checkout.root / "rubric-ci.yaml").read_text())["targets"]
    assert target["depends_on"] == ["bot.py"]
    own = "evalcases:\n  - {id: one, input: Hello, rubrics: [{contains: 'You said: Hello'}]}\n"
    checkout.write({"evals/own.eval.yaml": own})
    done = invoke(checkout.root, environment, "run", "evals/own.eval.yaml")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("start", "files", "given"),
    [
        ("python3 bot.py {PORT}", {}, {"setup-python": "3.13"}),
        ("env A=b uvicorn app:app", {".python-version": "3.12\n"}, {"setup-python": "3.12"}),
        ("npm start", {".nvmrc": "lts/*\n"}, {"setup-node": "lts/*"}),
        ("go run . {PORT}", {"package.json": "{}"}, {"setup-go": "stable"}),
        ("./gradlew bootRun", {}, {"setup-java": "21"}),
        ("make serve", {"pom.xml": ""}, {"setup-java": "21"}),
        ("docker compose up", {"package.json": "{}"}, {}),
        ("./serve {PORT}", {".nvmrc": "$(rm)\n"}, {}),
    ],
)
def test_workflows_install_the_language_of_the_service(
    start: str, files: dict[str, str], given: dict[str, str], tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    invoke(tmp_path, clean_environment(), "init", "--yes", "--start", start)
    workflows = tmp_path / ".github/workflows"
    for name in ("gate", "default-branch", "nightly"):
        text = (workflows / f"evals-{name}.yml").read_text()
        (job,) = yaml.safe_load(text)["jobs"].values()
        assert {key: job["with"][key] for key in job["with"] if "setup" in key} == given
        assert ("# setup-python, setup-node," in text) == (not given)
    assert "setup-" not in (workflows / "evals-validate.yml").read_text()


def test_a_python_service_is_installed_for_each_side(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("aiohttp\n", encoding="utf-8")
    invoke(tmp_path, clean_environment(), "init", "--yes", "--start", "python3 bot.py {PORT}")
    (target, _) = yaml.safe_load((tmp_path / "rubric-ci.yaml").read_text())["targets"]
    assert target["setup"] == "python3 -m pip install -q --target .deps -r requirements.txt"
    assert target["start"] == "env PYTHONPATH=.deps python3 bot.py {PORT}"
    assert ".deps/" in (tmp_path / ".gitignore").read_text().splitlines()


@platforms.TERMINALS
def test_the_questions_at_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT, encoding="utf-8")
    words = ("init", "--provider", "openai", "--target", "http")
    with at_a_terminal(tmp_path, clean_environment(), *words, columns=140) as asked:
        asked.expect("Start command, with {PORT} for its port .*python3 bot.py --port {PORT}.: ")
        asked.sendline("python3 bot.py 8000")
        asked.expect("Path of its requests ./chat.: ")
        asked.sendline("/ask")
        asked.expect("One of its replies, as JSON, to find the answer in it .*: ")
        asked.sendline('{"said": {"text": "Hello"}, "calls": [{"name": "f", "arguments": {}}]}')
        asked.expect(pexpect.EOF)
        asked.wait()
    (target, _) = yaml.safe_load((tmp_path / "rubric-ci.yaml").read_text())["targets"]
    assert (target["start"], target["url"]) == (
        "python3 bot.py {PORT}",
        "http://127.0.0.1:{PORT}/ask",
    )
    assert (target["answer"], target["tool_calls"]) == ("said.text", "calls")


def test_a_reply_that_is_no_json_is_a_usage_error(tmp_path: Path) -> None:
    done = invoke(tmp_path, clean_environment(), "init", "--yes", "--reply", "{")
    assert done.returncode == 2
    assert "it is not JSON" in done.stderr
