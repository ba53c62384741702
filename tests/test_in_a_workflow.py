"""The tests run in a workflow as on any machine: they are no part of the job that runs them."""

import os
import sys
from pathlib import Path
from typing import Final

from tests.captured import captured

ROOT: Final = Path(__file__).parents[1]
LOOK: Final = (
    "import tests.conftest, tests.checkout as c, os; print({**os.environ, **c.ENVIRONMENT})"
)


def test_a_test_sees_nothing_of_the_job(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    event = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(tmp_path / "event.json")}
    job = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_OS": "Linux"}
    done = captured(
        [sys.executable, "-c", LOOK],
        cwd=ROOT,
        env=os.environ | job | event | {"OF_THE_JOB": "kept"},
        check=True,
    )
    assert "OF_THE_JOB" in done.stdout
    assert [name for name in (*job, *event) if name in done.stdout] == []
