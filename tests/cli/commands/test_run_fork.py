"""A pull request of a stranger: the run says that the fork is why it has no secrets."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sample_project import RUBRIC, Project

CONFIG = """\
judge: {model: openai/gpt-6-luna, api_key: "${{ OPENAI_API_KEY }}"}
targets:
  - {name: default, provider: recorded, answers: answers.jsonl}
"""
FORK = "GitHub gives this run no secrets, because the pull request comes from a fork"
DEPENDABOT = "GitHub gives this run no secrets, because the pull request was pushed by Dependabot"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write("rubric-ci.yaml", CONFIG)
    project.write("evals/a.eval.yaml", RUBRIC)
    return project


def environment(project: Project, head: str, actor: str = "someone") -> dict[str, str]:
    pull: dict[str, Any] = {"number": 7, "head": {"repo": {"full_name": head}}}
    event = project.root.parent / "event.json"
    event.write_text(json.dumps({"pull_request": pull}))
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTOR": actor,
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "acme/app",
    }


@pytest.mark.parametrize(
    ("head", "actor", "said"),
    [
        ("someone/app", "someone", FORK),
        ("acme/app", "dependabot[bot]", DEPENDABOT),
        ("acme/app", "acme", ""),
    ],
    ids=["fork", "dependabot", "ours"],
)
def test_the_report_says_why_skipped(project: Project, head: str, actor: str, said: str) -> None:
    given = environment(project, head, actor)
    done = project.run("--offline", "--policy-from", "head", **given)
    assert done.returncode == 0, done.stderr
    notes = [note for note in project.report()["notes"] if "secrets" in note]
    assert notes == ([f"{said}: only what is recorded was graded."] if said else [])


def test_a_missing_key_has_the_fork_as_its_reason(project: Project) -> None:
    given = environment(project, "someone/app")
    done = project.run("--policy-from", "head", **given)
    assert done.returncode == 2
    assert "the environment variable OPENAI_API_KEY is not set\n" in done.stderr
    assert f"  {FORK}; set `offline: true`, as gate.yml does\n" in done.stderr
