"""`rubric-ci demo` as a user types it."""

import json
import os
import subprocess
from pathlib import Path

from tests.invoke import invoke


def demo(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return invoke(root, os.environ | environment, "demo", *arguments)


def test_an_example_is_graded_offline(tmp_path: Path) -> None:
    done = demo(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 passed, 1 borderline, 1 failed, 1 skipped · average score" in done.stdout
    assert "no model calls" in done.stdout
    assert done.stdout.endswith(
        "Exit code 1: one answer breaks a promise that its rubric forbids.\n"
        "See rubric-ci-demo/evals/support.eval.yaml and rubric-ci-demo/.rubric-ci/report.html.\n"
    )
    assert (tmp_path / "rubric-ci-demo/.rubric-ci/report.html").exists()


def test_inside_of_a_repository_its_configuration_is_not_used(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "rubric-ci.yaml").write_text("evals: [mine/*.yaml]\n")
    done = demo(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 passed, 1 borderline, 1 failed, 1 skipped · average score" in done.stdout


def test_on_a_pull_request_its_policy_is_not_that_of_the_base(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    change = {"base": {"sha": "1" * 40}, "head": {"sha": "2" * 40}, "number": 1}
    event.write_text(json.dumps({"pull_request": change}))
    github = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "o/r"}
    pull_request = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(event)}
    done = demo(tmp_path, **github, **pull_request)
    assert done.returncode == 0, done.stderr
    assert "Gate fails" in done.stdout


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").touch()
    done = demo(tmp_path, "mine")
    assert (done.returncode, done.stderr) == (
        2,
        "rubric-ci: mine is not empty\n  name a new folder: rubric-ci demo FOLDER\n",
    )
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["file"]
