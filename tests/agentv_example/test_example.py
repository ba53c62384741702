"""examples/agentv: AgentV's layout and spellings, offline from its recording."""

import json
import os
import subprocess
from pathlib import Path

from tests import platforms
from tests.agentv_example.record import EXAMPLE, RECORDING, RUN
from tests.invoke import invoke
from tests.quickstart.record import ROOT

pytestmark = platforms.SHELL

TYPES = {
    *("rubric", "llm_judge", "code_judge", "composite", "field_accuracy", "tool_trajectory"),
    *("latency", "cost", "token_usage"),
}


def rubric_ci(*words: str) -> subprocess.CompletedProcess[str]:
    own = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "AZURE_"))}
    return invoke(ROOT, own, *words)


def test_every_type_of_evaluator_grades_offline(tmp_path: Path) -> None:
    done = rubric_ci(*RUN, "--replay", RECORDING, "--output-dir", str(tmp_path))
    assert done.returncode == 0, done.stderr
    cases = json.loads((tmp_path / "report.json").read_text())["cases"]
    assert {each["type"] for case in cases for each in case["evaluators"]} == TYPES
    assert {case["id"]: case["score"] for case in cases} == {
        "explains-the-total": 0.991667,
        "extracts-the-fields": 1.0,
        "keeps-secrets": 1.0,
    }


def test_its_files_have_no_problems() -> None:
    done = rubric_ci("validate", f"{EXAMPLE}/evals", f"{EXAMPLE}/.agentv/targets.yaml")
    assert (done.returncode, done.stdout) == (0, "2 files checked: no problems\n")
