"""`rubric-ci run` behind a gateway that falls back to another model."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.bodies import Body, answering, chat
from tests.sample_project import Project

CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {{model: openai/gpt-6-luna, api_base: "{url}/v1", api_key: "${{{{ OPENAI_API_KEY }}}}"}}
targets:
  - {{name: default, provider: recorded, answers: answers.jsonl}}
"""
EVALS = "evalcases:\n  - {id: greeting, input: Say hello, rubrics: [Greets]}\n"
FALLBACK = {"x-litellm-attempted-fallbacks": "1"}
NOTE = (
    "Warning: `gpt-6-sol-2026-09-22` replied in place of `openai/gpt-6-luna`, so some marks "
    "are not of the configured model; check the fallbacks of the gateway"
)


def reply(model: str, headers: dict[str, str]) -> Body:
    mark = {"c1": {"evidence": "Hello", "reasoning": "It greets.", "satisfied": True}}
    body = {**chat(json.dumps(mark), model), "system_fingerprint": "fp_7"}
    return Body(content=json.dumps(body).encode(), headers=headers)


def run(root: Path, body: Body, times: int) -> tuple[int, dict[str, Any], Project]:
    """Return the requests of some runs, the last report and the project."""
    project = Project(root)
    project.write("evals/a.eval.yaml", EVALS)
    with answering(body) as server:
        project.write("rubric-ci.yaml", CONFIG.format(url=server.url))
        for _ in range(times):
            done = project.run("--reports", "json,markdown,html,junit", OPENAI_API_KEY="sk-1")
            assert done.returncode == 0, done.stderr
        return len(server.requests), project.report(), project


@pytest.mark.parametrize("times", [1, 2])
def test_the_model_and_the_fingerprint_of_the_replies_are_kept(times: int, tmp_path: Path) -> None:
    requests, report, _ = run(tmp_path, reply("gpt-6-luna-2026-09-22", {}), times)
    assert requests == 1  # the second run uses the cache
    assert report["notes"] == []
    names = [(each["model"], each["fingerprint"]) for each in report["responders"]]
    assert names == ([("gpt-6-luna-2026-09-22", "fp_7")] if times == 1 else [])


@pytest.mark.parametrize("headers", [FALLBACK, {}], ids=["header", "name"])
def test_a_fallback_is_reported_and_not_cached(headers: dict[str, str], tmp_path: Path) -> None:
    requests, report, project = run(tmp_path, reply("gpt-6-sol-2026-09-22", headers), 2)
    assert requests == 2
    assert report["responders"] == [
        {
            "requested": "openai/gpt-6-luna",
            "model": "gpt-6-sol-2026-09-22",
            "fingerprint": "fp_7",
            "replies": 1,
            "fallback": True,
        }
    ]
    assert report["notes"] == [NOTE]
    folder = project.root / ".rubric-ci"
    for path in folder.glob("report.*"):
        text = re.sub(r"[`\\]|&#x27;|&#39;|<[^>]*>", "", path.read_text())
        assert "gpt-6-sol-2026-09-22 replied in place of" in text, path.name
