"""The end of a model that its server names, as a run reads it before the first case."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.http_server import JsonHandler, serving
from tests.sample_project import RUBRIC, Project

SOON = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
FAR = (datetime.now(UTC) + timedelta(days=400)).date().isoformat()
MARKS = json.dumps({"c1": {"evidence": "", "reasoning": "Fine.", "satisfied": True}})
REPLY = {
    "choices": [{"index": 0, "message": {"content": MARKS}, "finish_reason": "stop"}],
    "content": [{"type": "text", "text": MARKS}],
    "stop_reason": "end_turn",
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "input_tokens": 9, "output_tokens": 2},
}


@pytest.fixture
def server() -> Iterator[tuple[str, dict[str, Any]]]:
    """A server with an entry of each model, which the test fills."""
    entry: dict[str, Any] = {}

    class Handler(JsonHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_json(200, {"id": self.path.rpartition("/")[2], "object": "model", **entry})

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_json(200, REPLY)

    with serving(Handler) as running:
        yield running.url.removesuffix("/v1"), entry


@pytest.mark.parametrize(
    ("model", "path", "key", "end", "warns"),
    [
        ("openai/own-model", "/v1", "shutdown_date", SOON, True),
        ("openai/own-model", "/v1", "shutdown_date", FAR, False),
        ("anthropic/own-model", "", "retires_at", f"{SOON}T00:00:00Z", True),
        ("anthropic/own-model", "", "retires_at", None, False),
    ],
)
def test_the_end_that_a_server_names_is_a_note_of_the_run(
    tmp_path: Path,
    server: tuple[str, dict[str, Any]],
    model: str,
    path: str,
    key: str,
    end: str | None,
    warns: bool,
) -> None:
    url, entry = server
    entry[key] = end
    project = Project(tmp_path)
    project.write("evals/a.eval.yaml", RUBRIC)
    project.write(
        "rubric-ci.yaml",
        f"judge: {{model: {model}, api_base: '{url}{path}', api_key: none}}\n"
        "targets: [{name: default, provider: cli, command_template: echo Hello}]\n",
    )
    assert project.run("evals/a.eval.yaml").returncode == 0
    notes = [note for note in project.report()["notes"] if "switched off" in note]
    begins = f"Warning: `{model}` is switched off on {SOON}, in "
    assert [note.startswith(begins) for note in notes] == [True] * warns
