"""What `rubric-ci run` writes for the GitHub workflow run around it."""

import sys
from pathlib import Path

import pexpect
import pytest

from tests import platforms
from tests.contract.fake_github import Fault, GitHub, Token
from tests.hooks.composite import outputs
from tests.sample_project import Project, clean_environment
from tests.services.publish.conftest import SHA


def test_outputs_and_summary(project: Project, environment: dict[str, str]) -> None:
    assert project.run(**environment).returncode == 0
    assert outputs(Path(environment["GITHUB_OUTPUT"]).read_text()) == {
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


def test_the_report_names_commit_and_run(project: Project, environment: dict[str, str]) -> None:
    project.run(**environment, GITHUB_RUN_ID="12")
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
def test_a_runner_with_a_terminal_reads_them(project: Project, environment: dict[str, str]) -> None:
    printed = pexpect.run(
        f"{sys.executable} -m rubric_ci run",
        cwd=str(project.root),
        env=clean_environment() | environment,
        encoding="utf-8",
        timeout=60,
    )
    fences = [line for line in str(printed).splitlines() if "::stop-commands::" in line]
    assert [line.index("::stop-commands::") for line in fences] == [0]


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
    (check,) = github.checks
    assert (check["name"], check["conclusion"]) == ("evals", "success")


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


DENIES = "Resource not accessible by integration"
NOW = {"Retry-After": "0"}


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault("POST", "/comments", 403, DENIES), f"GitHub denied the request (403: {DENIES})"),
        (Fault("GET", "/comments", 500, "Server Error", NOW), "GitHub failed (500: Server Error)"),
    ],
    ids=["403", "500"],
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
    assert outputs(Path(environment["GITHUB_OUTPUT"]).read_text())["verdict"] == "pass"
