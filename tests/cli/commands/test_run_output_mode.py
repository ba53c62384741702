"""`rubric-ci run` with a judge that refuses the output mode: graded, and reported."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bodies import Bodies, Body, answering
from tests.sample_project import Project

MARKS = {"c1": {"evidence": "Hello", "reasoning": "It does.", "satisfied": True}}
REPLY = {"choices": [{"message": {"content": json.dumps(MARKS)}, "finish_reason": "stop"}]}
REFUSED = {"error": {"message": "response_format json_schema is not supported"}}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[tuple[Project, Bodies]]:
    """A judge of a name that is not known, which refuses the first output mode."""
    refused = Body(content=json.dumps(REFUSED).encode(), status=400)
    with answering(refused, Body(content=json.dumps(REPLY).encode())) as server:
        yield Project(tmp_path), server


def run(project: Project, server: Bodies, criterion: str, **judge: str) -> dict[str, Any]:
    own = {"model": "openai/my-own", "api_base": f"{server.url}/v1", **judge}
    targets = [{"name": "default", "provider": "mock", "response": "Hello"}]
    project.write("rubric-ci.yaml", json.dumps({"judge": own, "targets": targets}))
    project.write("a.eval.yaml", f"evalcases: [{{id: a, input: Hi, rubrics: [{criterion}]}}]\n")
    done = project.run("a.eval.yaml", OPENAI_KEY="none")
    assert done.returncode == 0, done.stdout + done.stderr
    return project.report()


def test_a_refused_output_mode_is_a_note(project: tuple[Project, Bodies]) -> None:
    key = "${{ OPENAI_KEY }}"
    report = run(*project, "Says hello", api_key=key, output="json_schema")
    note = (
        "openai/my-own refused the output mode, so this run uses `json_object`; "
        "set `judge.output: json_object` to send it at once "
        "(HTTP 400: response_format json_schema is not supported)"
    )
    assert note in report["notes"]
    assert report["totals"]["calls"] == 2


def test_a_local_judge_of_unknown_name_needs_three_lines(project: tuple[Project, Bodies]) -> None:
    """No key, no `output`: a schema is sent first, and a judgement of either mode is cached."""
    reports = [run(*project, criterion) for criterion in ("Says hello", "Says hello", "Greets")]
    requests = [json.loads(body) for body in project[1].requests]
    sent = [each.get("response_format", {}).get("type") for each in requests]
    assert sent == ["json_schema", "json_object", "json_schema"]
    said = [[note for note in each["notes"] if "output mode" in note] for each in reports]
    assert [len(notes) for notes in said] == [1, 0, 0]
    assert ": 2 judge requests, " in project[0].call("cache").stdout
