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
        "openai/my-own refused the output mode, so this run and later ones with its cache use "
        "`json_object`; set `judge.output: json_object` to send it at once "
        "(HTTP 400: response_format json_schema is not supported)"
    )
    assert note in report["notes"]
    assert report["totals"]["calls"] == 2


def test_a_local_judge_of_an_unknown_name_needs_three_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No key, no `output`: a schema is sent, and what the server refuses is asked once."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "OPENAI_API_KEY", "OPENAI_KEY"):
        monkeypatch.delenv(name, raising=False)
    with answering(
        Body(content=json.dumps(REFUSED).encode(), status=400),
        Body(content=json.dumps(REPLY).encode()),
    ) as server:
        targets = [{"name": "default", "provider": "mock", "response": "Hello"}]
        judge = {"model": "openai/my-own", "api_base": f"{server.url}/v1"}
        config = {"judge": judge, "targets": targets}
        Path("rubric-ci.yaml").write_text(json.dumps(config), encoding="utf-8")
        reports = []
        for criterion in ("Says hello", "Greets"):  # the second judgement is not in the cache
            text = EVALS.replace("Says hello", criterion)
            Path("a.eval.yaml").write_text(text, encoding="utf-8")
            result = CliRunner().invoke(main, ["run", "a.eval.yaml"])
            assert result.exit_code == 0, result.output
            reports.append(json.loads(Path(".rubric-ci/report.json").read_text(encoding="utf-8")))
    sent = [json.loads(body).get("response_format", {}).get("type") for body in server.requests]
    assert sent == ["json_schema", "json_object", "json_object"]
    said = [[note for note in each["notes"] if "output mode" in note] for each in reports]
    assert [len(notes) for notes in said] == [1, 0]
    counted = CliRunner().invoke(main, ["cache"])
    assert ": 2 judge requests, 1 output mode, " in counted.output
