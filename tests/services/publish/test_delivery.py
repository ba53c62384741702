"""What `rubric-ci run` writes for the GitHub workflow run around it."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests import platforms
from tests.contract.fake_github import Fault, GitHub, Pull, Token, serving
from tests.sample_project import Project, clean_environment

SHA = "1" * 40


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def environment(project: Project) -> dict[str, str]:
    """The environment of a step on a pull request."""
    event = {"pull_request": {"number": 7, "head": {"sha": SHA, "repo": {"full_name": "o/r"}}}}
    project.write("../event.json", json.dumps(event))
    names = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")
    return {name: str(project.root / f"../{name}") for name in names} | {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(project.root / "../event.json"),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_RUN_ID": "12",
        "RUBRIC_CI_COMMENT": "update",
        "RUBRIC_CI_RUN_POLICY_FROM": "head",  # the folder is not a git repository
    }


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """A repository in a folder of its own."""
    root = tmp_path / "repository"
    root.mkdir()
    return root


def read_outputs(path: Path) -> dict[str, str]:
    """Read `name<<DELIMITER` entries as the runner does."""
    pattern = re.compile(r"^([^\n<]+)<<([^\n]+)\n(.*?)\n?^\2$", re.MULTILINE | re.DOTALL)
    return {name: value for name, _, value in pattern.findall(path.read_text())}


def test_outputs_and_summary(project: Project, environment: dict[str, str]) -> None:
    assert project.run(**environment).returncode == 0
    assert read_outputs(Path(environment["GITHUB_OUTPUT"])) == {
        "verdict": "pass",
        "gate": "pass",
        "review": "none",
        "comparison": "",
        "score": "1",
        "passed": "1",
        "failed": "0",
        "errored": "0",
        "cost-usd": "0.000000",
        "report": ".rubric-ci/report.json",
        "page": "",
        "suite": "",
        "summary": ".rubric-ci/summary.md",
    }
    summary = Path(environment["GITHUB_STEP_SUMMARY"]).read_text()
    assert summary.startswith("## ✅ Gate passes")
    place = f"https://github.com/o/r/blob/{SHA}/evals/a.eval.yaml#L2"
    assert place in summary


def test_the_report_names_the_commit_and_the_run(
    project: Project, environment: dict[str, str]
) -> None:
    project.run(**environment)
    assert project.report()["metadata"] == {
        "event": "pull_request",
        "repository": "o/r",
        "pull_request": "7",
        "head_sha": SHA,
        "run_url": "https://github.com/o/r/actions/runs/12",
    }


def test_a_comment_that_cannot_be_posted_is_a_line_and_no_verdict(
    project: Project, environment: dict[str, str]
) -> None:
    without_token = project.run(**environment)
    assert without_token.returncode == 0
    assert "not posted: GITHUB_TOKEN is not set" in without_token.stdout
    assert Path(environment["GITHUB_STEP_SUMMARY"]).stat().st_size > 0


@platforms.TERMINALS
def test_a_runner_with_a_terminal_reads_the_commands(
    project: Project, environment: dict[str, str]
) -> None:
    printed = pexpect.run(
        f"{sys.executable} -m rubric_ci run",
        cwd=str(project.root),
        env=clean_environment() | environment,
        encoding="utf-8",
        timeout=60,
    )
    fences = [line for line in str(printed).splitlines() if "::stop-commands::" in line]
    assert [line.index("::stop-commands::") for line in fences] == [0]


@pytest.fixture
def github(environment: dict[str, str]) -> Iterator[GitHub]:
    """A server that the step finds in its environment."""
    with serving(GitHub(repository="o/r", pulls={7: Pull(7, head_sha=SHA)})) as server:
        environment |= {"GITHUB_API_URL": server.url, "GITHUB_TOKEN": "actions"}
        yield server


def test_the_comment_follows_the_pushes(
    project: Project, environment: dict[str, str], github: GitHub
) -> None:
    first = project.run(**environment, RUBRIC_CI_CHECK_RUN="evals")
    project.write("answers.jsonl", '{"id": "greeting", "answer": "Go away"}\n')
    second = project.run(**environment)
    third = project.run(**environment | {"GITHUB_TOKEN": "wrong"})
    assert [run.returncode for run in (first, second, third)] == [0, 1, 1]
    assert "not posted: GitHub does not accept the token (401: Bad credentials)" in third.stdout
    assert "comment on pull request #7 of o/r updated" in second.stdout
    (body,) = github.bodies(7)
    assert "## ❌ Gate fails: 1 of 1 case fails (fail\\_on: fail)" in body
    assert [(check["name"], check["conclusion"]) for check in github.checks] == [
        ("evals", "success")
    ]


DENIED = (
    "::warning title=rubric-ci::not posted: GitHub denied the request (403: Resource not "
    "accessible by integration) (the job needs `permissions: {pull-requests: write}`"
)
READS = (
    "::notice title=rubric-ci::not posted: GitHub gives this run no secrets, because the "
    "pull request comes from a fork, and a token that can only read"
)


@pytest.mark.parametrize(
    ("fork", "expected"), [(False, DENIED), (True, READS)], ids=["permission", "fork"]
)
def test_a_comment_that_is_refused_is_shown_where_people_look(
    project: Project, environment: dict[str, str], github: GitHub, *, fork: bool, expected: str
) -> None:
    github.tokens["reads"] = Token(writes=False)
    if fork:
        event = Path(environment["GITHUB_EVENT_PATH"])
        event.write_text(event.read_text().replace("o/r", "ada/r"))
    run = project.run(**environment | {"GITHUB_TOKEN": "reads"})
    assert run.returncode == 0
    [annotation] = [line for line in run.stdout.splitlines() if "::not posted" in line]
    assert annotation.startswith(expected)
    summary = Path(environment["GITHUB_STEP_SUMMARY"]).read_text()
    assert summary.rpartition("\n\n")[2].startswith("not posted: GitHub ")


NOW = {"Retry-After": "0"}


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        pytest.param(
            Fault("POST", "/comments", 403, "Resource not accessible by integration"),
            "GitHub denied the request (403: Resource not accessible by integration)",
            id="403",
        ),
        pytest.param(
            Fault("GET", "/comments", 404, "Not Found"),
            "GitHub cannot find pull request #7 of o/r (404: Not Found)",
            id="404",
        ),
        pytest.param(
            Fault("POST", "/comments", 422, "Validation Failed"),
            "GitHub rejected the request (422: Validation Failed)",
            id="422",
        ),
        pytest.param(
            Fault("POST", "/comments", 429, "Too many", {"Retry-After": "3600"}),
            "GitHub's rate limit is exceeded (429: Too many)",
            id="429",
        ),
        pytest.param(
            Fault("GET", "/comments", 500, "Server Error", NOW),
            "GitHub failed (500: Server Error)",
            id="500",
        ),
    ],
)
def test_whatever_github_answers_the_verdict_decides(
    project: Project, environment: dict[str, str], github: GitHub, fault: Fault, message: str
) -> None:
    github.faults = [fault] * 4
    run = project.run(**environment)
    assert run.returncode == 0
    lines = [line for line in run.stdout.splitlines() if line.startswith("not posted:")]
    assert len(lines) == 1
    assert lines[0].startswith(f"not posted: {message}")
    assert "Traceback" not in run.stderr
    assert Path(environment["GITHUB_STEP_SUMMARY"]).read_text().startswith("## ")
    assert read_outputs(Path(environment["GITHUB_OUTPUT"]))["verdict"] == "pass"
