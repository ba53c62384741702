"""`rubric-ci run` with a judge that refuses the output mode: graded, and reported."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rubric_ci.cli.main import main
from tests.bodies import Body, answering

EVALS = "evalcases: [{id: a, input: Hi, rubrics: [Says hello]}]\n"
MARKS = {"c1": {"evidence": "Hello", "reasoning": "It does.", "satisfied": True}}
REPLY = {"choices": [{"message": {"content": json.dumps(MARKS)}, "finish_reason": "stop"}]}
KEY = "${{ OPENAI_KEY }}"
REFUSED = {"error": {"message": "response_format json_schema is not supported"}}


def test_a_refused_output_mode_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.setenv("OPENAI_KEY", "none")
    Path("a.eval.yaml").write_text(EVALS, encoding="utf-8")
    with answering(
        Body(content=json.dumps(REFUSED).encode(), status=400),
        Body(content=json.dumps(REPLY).encode()),
    ) as server:
        judge = {
            "model": "openai/my-own",
            "api_base": f"{server.url}/v1",
            "api_key": "${{ OPENAI_KEY }}",
        }
        target = {"name": "default", "provider": "mock", "response": "Hello"}
        config = {"judge": {**judge, "output": "json_schema"}, "targets": [target]}
        Path("rubric-ci.yaml").write_text(json.dumps(config), encoding="utf-8")
        result = CliRunner().invoke(main, ["run", "a.eval.yaml"])
    assert result.exit_code == 0, result.output
    report = json.loads(Path(".rubric-ci/report.json").read_text(encoding="utf-8"))
    note = (
        "openai/my-own refused the output mode, so this run uses `json_object`; set "
        "`judge.output: json_object` to send it at once "
        "(HTTP 400: response_format json_schema is not supported)"
    )
    assert note in report["notes"]
    assert report["totals"]["calls"] == 2
