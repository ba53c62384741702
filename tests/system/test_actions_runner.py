"""The runner of GitHub Actions: who reads the output, and a start with more packages."""

import json
import os
import sys
from pathlib import Path

import pytest

from rubric_ci.system.actions_runner import can_install, in_workflow
from tests.captured import captured


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"GITHUB_ACTIONS": "true"}, True),
        ({"GITHUB_ACTIONS": "false"}, False),
        ({"GITHUB_ACTIONS": ""}, False),
        ({"CI": "true"}, False),
    ],
)
def test_in_a_workflow(environment: dict[str, str], *, expected: bool) -> None:
    assert in_workflow(environment) is expected


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({"RUBRIC_CI_RESTART": "[]"}, True), ({"RUBRIC_CI_RESTART": ""}, False), ({}, False)],
    ids=["the action", "empty", "at a desk"],
)
def test_the_action_can_install(environment: dict[str, str], *, expected: bool) -> None:
    assert can_install(environment) is expected


WITHOUT_LITELLM = """
import sys
sys.modules["litellm"] = None
from rubric_ci.__main__ import main
main()
"""
RESTARTED = (
    "import os; print('again', os.environ['RUBRIC_CI_REQUIREMENTS'],"
    " 'RUBRIC_CI_RESTART' in os.environ); raise SystemExit(1)"
)
EVAL = "evalcases:\n  - {id: one, input: Hi, rubrics: [Greets back]}\n"


@pytest.mark.parametrize("action", [True, False], ids=["in the action", "at a desk"])
def test_a_run_that_lacks_litellm(tmp_path: Path, *, action: bool) -> None:
    (tmp_path / "a.eval.yaml").write_text(EVAL)
    (tmp_path / "rubric-ci.yaml").write_text(
        "judge: bedrock/some-model\ntargets: [{name: default, provider: mock, response: Hello}]\n"
    )
    again = {"RUBRIC_CI_RESTART": json.dumps([sys.executable, "-c", RESTARTED])} if action else {}
    done = captured(
        [sys.executable, "-c", WITHOUT_LITELLM, "run", "a.eval.yaml"],
        cwd=tmp_path,
        env=os.environ | {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "summary"} | again,
    )
    shown = "litellm is not installed" in done.stdout + done.stderr
    assert (done.returncode, shown) == ((1, False) if action else (2, True)), done.stderr
    assert done.stdout.endswith("again judge False\n") is action
    assert (tmp_path / "summary").exists() is not action
