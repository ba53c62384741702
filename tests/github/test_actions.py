"""Events, as the runner's environment and event file describe them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import CannotReadFile
from rubric_ci.github.actions import Event, FinishedRun, read_event

ENVIRONMENT = {
    "GITHUB_REPOSITORY": "acme/app",
    "GITHUB_SHA": "c" * 40,
    "GITHUB_REF": "refs/heads/topic",
    "GITHUB_RUN_ID": "12",
    "GITHUB_SERVER_URL": "https://git.acme.example",
    "GITHUB_API_URL": "https://git.acme.example/api/v3",
}
PLAIN = Event(
    name="",
    repository="acme/app",
    api_url="https://git.acme.example/api/v3",
    server_url="https://git.acme.example",
    head_sha="c" * 40,
    run_url="https://git.acme.example/acme/app/actions/runs/12",
    run_id=12,
    sha="c" * 40,
    ref="refs/heads/topic",
)


def pull(owner: str) -> dict[str, Any]:
    head = {"sha": "a" * 40, "repo": {"full_name": f"{owner}/app"}}
    return {"pull_request": {"number": 7, "head": head, "base": {"sha": "b" * 40}}}


RUN = FinishedRun(
    id=5,
    head_sha="f" * 40,
    head_branch="topic",
    head_owner="fork",
    event="pull_request",
    url="https://git.acme.example/acme/app/actions/runs/5",
)
FINISHED = {
    "workflow_run": {
        "id": 5,
        "head_sha": "f" * 40,
        "head_branch": "topic",
        "head_repository": {"owner": {"login": "fork"}},
        "event": "pull_request",
        "html_url": "https://git.acme.example/acme/app/actions/runs/5",
    }
}


@pytest.mark.parametrize(
    ("name", "payload", "expected"),
    [
        pytest.param(
            "pull_request",
            pull("acme"),
            replace(PLAIN, head_sha="a" * 40, base_sha="b" * 40, pull_request=7),
            id="pull request",
        ),
        pytest.param(
            "pull_request",
            pull("fork"),
            replace(PLAIN, head_sha="a" * 40, base_sha="b" * 40, pull_request=7, from_fork=True),
            id="pull request of a fork",
        ),
        pytest.param(
            "pull_request",
            {"pull_request": {"number": 7, "head": {"sha": "a" * 40, "repo": None}}},
            replace(PLAIN, head_sha="a" * 40, pull_request=7, from_fork=True),
            id="the fork was deleted",
        ),
        pytest.param(
            "push",
            {"before": "b" * 40, "after": "c" * 40, "repository": {"default_branch": "main"}},
            replace(PLAIN, base_sha="b" * 40, default_branch="main"),
            id="push",
        ),
        pytest.param("push", {"before": "0" * 40, "after": "c" * 40}, PLAIN, id="a new branch"),
        pytest.param(
            "merge_group",
            {"merge_group": {"head_sha": "d" * 40, "base_sha": "e" * 40}},
            replace(PLAIN, head_sha="d" * 40, base_sha="e" * 40),
            id="merge group",
        ),
        pytest.param("workflow_run", FINISHED, replace(PLAIN, finished=RUN), id="workflow run"),
        pytest.param("schedule", {"schedule": "0 3 * * *"}, PLAIN, id="schedule"),
        pytest.param("schedule", [], PLAIN, id="not an object"),
    ],
)
def test_event(tmp_path: Path, name: str, payload: Any, expected: Event) -> None:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(payload), encoding="utf-8")
    environment = {**ENVIRONMENT, "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(file)}
    assert read_event(environment) == replace(expected, name=name)


def test_outside_of_a_workflow_run() -> None:
    assert read_event({"PATH": "/bin"}) is None


def test_github_com_is_the_default() -> None:
    event = read_event({"GITHUB_REPOSITORY": "acme/app"})
    assert event
    assert (event.api_url, event.server_url) == ("https://api.github.com", "https://github.com")
    assert (event.run_url, event.blob_of()) == ("", "")


def test_files_are_read_at_the_commit_that_was_graded() -> None:
    ours = f"https://git.acme.example/acme/app/blob/{'c' * 40}"
    assert PLAIN.blob_of() == ours
    assert replace(PLAIN, finished=RUN).blob_of() == ours.replace("c" * 40, "f" * 40)


@pytest.mark.parametrize("content", [None, "{"], ids=["missing", "cut off"])
def test_an_unreadable_event_file(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "event.json"
    if content:
        file.write_text(content)
    with pytest.raises(CannotReadFile) as caught:
        read_event({"GITHUB_REPOSITORY": "a/b", "GITHUB_EVENT_PATH": str(file)})
    assert caught.value.message.startswith(f"{file}: cannot read the event (")
