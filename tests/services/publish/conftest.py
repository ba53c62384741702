"""A repository in a step on a pull request, and the GitHub of that step."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.fake_github import GitHub, Pull, serving
from tests.sample_project import Project

SHA = "1" * 40


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository in a folder of its own."""
    root = tmp_path / "repository"
    root.mkdir()
    return Project(root)


@pytest.fixture
def environment(project: Project) -> dict[str, str]:
    """The environment of a step on a pull request, without a token."""
    event = {"pull_request": {"number": 7, "head": {"sha": SHA, "repo": {"full_name": "o/r"}}}}
    project.write("../event.json", json.dumps(event))
    names = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")
    return {name: str(project.root / f"../{name}") for name in names} | {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(project.root / "../event.json"),
        "GITHUB_REPOSITORY": "o/r",
        "RUBRIC_CI_COMMENT": "update",
        "RUBRIC_CI_RUN_POLICY_FROM": "head",  # the folder is not a git repository
    }


@pytest.fixture
def github(environment: dict[str, str]) -> Iterator[GitHub]:
    """A server that the step finds in its environment."""
    with serving(GitHub(repository="o/r", pulls={7: Pull(7, head_sha=SHA)})) as server:
        environment |= {"GITHUB_API_URL": server.url, "GITHUB_TOKEN": "actions"}
        yield server
