"""The command: from a report file and an event to the resulting pull request."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.cli.commands.report_show_compare import comment
from rubric_ci.errors import CannotFindPullRequest, CannotReadFile, CannotReadReport, ExitCode
from rubric_ci.gate.report import json_format
from rubric_ci.services.publish_workflow import try_to_post
from rubric_ci.values.command_settings import CommentSettings
from rubric_ci.values.report import RunReport
from rubric_ci.values.scope import Scope
from tests.contract.fake_github import Fault, GitHub, Pull, Token, serving
from tests.invoke import invoke
from tests.sample_reports import a_criterion, a_report, errored, graded, skipped

HEAD = "a" * 40
REPO = {"full_name": "acme/app"}
PULL = {"number": 7, "head": {"sha": HEAD, "repo": REPO}, "base": {"sha": "b" * 40}}
PULL_EVENT: dict[str, Any] = {"pull_request": PULL}
RUN_EVENT: dict[str, Any] = {
    "workflow_run": {
        "id": 5,
        "head_sha": HEAD,
        "head_branch": "topic",
        "head_repository": {"owner": {"login": "fork"}},
        "event": "pull_request",
        "html_url": "https://github.example/acme/app/actions/runs/5",
    }
}
RED = a_report(graded("bad", "fail", a_criterion("tone", line=9)), graded("good", "pass"))
GREEN = a_report(graded("good", "pass"))


class Step:
    """A step of a workflow run, and the GitHub that it posts to."""

    def __init__(self, github: GitHub, folder: Path) -> None:
        self.github, self.folder = github, folder
        self.settings = CommentSettings(report=folder / "report.json")

    def environment(self, event: dict[str, Any]) -> dict[str, str]:
        file = self.folder / "event.json"
        file.write_text(json.dumps(event), encoding="utf-8")
        (name,) = event.keys() & {"pull_request", "workflow_run"} or {"push"}
        return {
            "GITHUB_REPOSITORY": "acme/app",
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(file),
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_RUN_ID": "12",
            "GITHUB_TOKEN": "actions",
        }

    def write(self, report: RunReport) -> None:
        self.settings.report.write_text(json_format.render(report), encoding="utf-8")

    def comment(self, event: dict[str, Any] = PULL_EVENT, **settings: Any) -> ExitCode:
        return comment(replace(self.settings, **settings), self.environment(event))

    @property
    def bodies(self) -> list[str]:
        return self.github.bodies(7)


@pytest.fixture
def step(tmp_path: Path) -> Iterator[Step]:
    with serving(GitHub(pulls={7: Pull(7, head_sha=HEAD, head_owner="fork")})) as server:
        yield Step(server, tmp_path)


def test_why_there_is_no_report(step: Step, capsys: pytest.CaptureFixture[str]) -> None:
    """It is a text from elsewhere: Markdown in it is text, and a failure to post is an error."""
    why = "no case matches --case <img> (did you mean `a`?)"
    assert step.comment(failure=why) is ExitCode.OK
    (body,) = step.bodies
    assert "## ⚠️ rubric-ci · Gate undecided: the run could not start" in body
    assert "no case matches --case &lt;img&gt; (did you mean `a`?)" in body
    assert capsys.readouterr().out == "comment on pull request #7 of acme/app created\n"
    with pytest.raises(CannotFindPullRequest):
        step.comment({}, failure=why)


def test_why_the_run_of_a_fork_left_no_report(step: Step) -> None:
    (step.folder / "failure.json").write_text('{"failure": "c.yaml has problems: <img> @you"}')
    assert step.comment(RUN_EVENT) is ExitCode.OK
    (body,) = step.bodies
    assert body == (
        "<!-- rubric-ci: default -->\n<!-- rubric-ci run 5.1 -->\n"
        "## ⚠️ rubric-ci · Gate undecided: the run could not start\n\n"
        "The pull request's own run says so; it is not verified.\n\n"
        "c.yaml has problems: &lt;img&gt; @&#8203;you"
    )


@pytest.mark.parametrize("text", ["{", "[]", '{"failure": 3}', '{"failure": ""}'])
def test_a_failure_that_says_nothing(step: Step, text: str) -> None:
    (step.folder / "failure.json").write_text(text)
    with pytest.raises(CannotReadReport, match="does not say why there is no report"):
        step.comment(RUN_EVENT)


@pytest.mark.parametrize("draft", [False, True], ids=["ready", "a draft"])
def test_on_a_pull_request(step: Step, capsys: pytest.CaptureFixture[str], *, draft: bool) -> None:
    event = {"pull_request": {**PULL, "draft": draft}}
    for report in (RED, GREEN):
        step.write(report)
        assert step.comment(event) is ExitCode.OK
        place = f"https://github.example/acme/app/blob/{HEAD}/e.yaml#L9"
        assert (place in step.bodies[0]) is (report is RED)
    page = "https://github.example/acme/app/pull/7#issuecomment-1"
    assert capsys.readouterr().out == (
        f"comment on pull request #7 of acme/app created: {page}\n"
        f"comment on pull request #7 of acme/app updated: {page}\n"
    )
    (body,) = step.bodies
    assert "## ✅ Gate passes: the only case passes" in body
    assert "[run](https://github.example/acme/app/actions/runs/12)" in body
    assert "#artifacts" not in body


def test_the_last_line_links_the_page(step: Step) -> None:
    step.write(RED)
    assert step.comment(RUN_EVENT, page="report.html") is ExitCode.OK
    run = "https://github.example/acme/app/actions/runs/5"
    assert step.bodies[0].splitlines()[-1] == (
        f"<sub>no model calls · 1.0 s · [run]({run}) · [Every answer, mark and quote]"
        f"({run}#artifacts): artifact `report.html`</sub>"
    )


@pytest.mark.parametrize(
    ("run", "attempt", "done"),
    [("12", "2", "updated"), ("13", "1", "updated"), ("11", "2", "left to a newer run")],
    ids=["another attempt", "a newer run", "an older run, which ends later"],
)
def test_an_older_run_does_not_replace_the_comment_of_a_newer_one(
    step: Step, capsys: pytest.CaptureFixture[str], run: str, attempt: str, done: str
) -> None:
    step.write(RED)
    step.comment()
    step.write(GREEN)
    more = {"GITHUB_RUN_ID": run, "GITHUB_RUN_ATTEMPT": attempt}
    assert comment(step.settings, step.environment(PULL_EVENT) | more) is ExitCode.OK
    assert f"comment on pull request #7 of acme/app {done}: " in capsys.readouterr().out
    (body,) = step.bodies
    assert ("❌" in body.splitlines()[2]) is (done != "updated")
    number = f"{run}.{attempt}" if done == "updated" else "12.1"
    assert body.splitlines()[1] == f"<!-- rubric-ci run {number} -->"


NOTHING = replace(a_report(), scope=Scope(base="the last common commit with `main` (0123456789)"))


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        pytest.param([NOTHING], [], id="no new comment"),
        pytest.param([RED, NOTHING], ["one line"], id="an existing one is updated"),
        pytest.param([replace(NOTHING, notes=("Policy changed.",))], ["whole"], id="a note"),
    ],
)
def test_nothing_is_affected(step: Step, reports: list[RunReport], expected: list[str]) -> None:
    for report in reports:
        step.write(report)
        assert step.comment() is ExitCode.OK
    assert ["whole" if "<sub>" in body else "one line" for body in step.bodies] == expected
    assert all("nothing to grade" in body for body in step.bodies)


def test_after_a_run_of_a_fork(step: Step) -> None:
    step.write(replace(RED, metadata={"head_sha": HEAD, "run_url": "https://evil.example"}))
    step.comment(RUN_EVENT)
    (body,) = step.bodies
    assert "evil" not in body
    assert f"https://github.example/acme/app/blob/{HEAD}/e.yaml#L9" in body
    assert "[run](https://github.example/acme/app/actions/runs/5)" in body


OTHER = "e" * 40
MOVED = "the head of #7 is no longer aaaaaaaaaa, which the run graded"
OF_ANOTHER = "the report is for commit eeeeeeeeee, the run for aaaaaaaaaa"


@pytest.mark.parametrize(
    ("head", "metadata", "changes", "message"),
    [
        pytest.param(OTHER, {}, {}, MOVED, id="a newer push"),
        pytest.param(HEAD, {"head_sha": OTHER}, {}, OF_ANOTHER, id="another report"),
        pytest.param(
            HEAD, {}, {"pull_request": 1}, "the run belongs to #7, not to #1", id="number"
        ),
    ],
)
def test_after_a_run_that_is_not_of_this_commit(
    step: Step, head: str, metadata: dict[str, str], changes: dict[str, Any], message: str
) -> None:
    step.github.pulls[7].head_sha = head
    step.write(replace(RED, metadata=metadata))
    with pytest.raises(CannotFindPullRequest) as caught:
        step.comment(RUN_EVENT, **changes)
    assert caught.value.message == message
    assert step.bodies == []


def test_by_hand(step: Step) -> None:
    step.write(RED)
    around = {"GITHUB_TOKEN": "actions", "GITHUB_API_URL": step.github.url}
    given = replace(step.settings, repository="acme/app")
    with pytest.raises(CannotFindPullRequest) as caught:
        comment(given, around)
    assert caught.value.message == "outside a workflow there is no pull request"
    comment(replace(given, pull_request=7), around)
    (body,) = step.bodies
    assert "e.yaml:3" in body


@pytest.mark.parametrize(
    ("report", "conclusion"),
    [
        pytest.param(RED, "failure", id="the gate fails"),
        pytest.param(GREEN, "success", id="the gate passes"),
        pytest.param(a_report(graded("a", "pass"), errored("b")), "failure", id="no verdict"),
        pytest.param(a_report(skipped("a")), "neutral", id="nothing graded"),
        pytest.param(a_report(), "neutral", id="nothing changed"),
    ],
)
def test_check_run(step: Step, report: RunReport, conclusion: str) -> None:
    settings = replace(step.settings, mode="off", check="evals")
    message = try_to_post(report, settings, step.environment(PULL_EVENT))
    assert message == ["check run evals created: https://github.example/acme/app/runs/1"]
    (check,) = step.github.checks
    assert (check["name"], check["head_sha"], check["conclusion"]) == ("evals", HEAD, conclusion)
    assert step.bodies == []


NO_TOKEN = (
    "GITHUB_TOKEN is not set, so nothing can be posted (set it in the step's `env:` to "
    "`${{ github.token }}`)"
)
WRONG_TOKEN = (
    "GitHub does not accept the token (401: Bad credentials) (set a token of this server: "
    "`GITHUB_TOKEN`, or the action's input `github-token`)"
)
READ_ONLY = (
    "GitHub denied the request (403: Resource not accessible by integration) (the job needs "
    "`permissions: {pull-requests: write}` (`checks: write` for a check run, `issues: write` for "
    "an issue); on a fork's pull request the token is read-only, use the pair of workflows in "
    "docs/reports.md)"
)
NO_PULL = (
    "the push event has no pull request (use the step summary, or `rubric-ci report comment "
    "--pull-request N`)"
)


@pytest.mark.parametrize(
    ("token", "event", "message"),
    [
        pytest.param("", PULL_EVENT, NO_TOKEN, id="no token"),
        pytest.param("wrong", PULL_EVENT, WRONG_TOKEN, id="wrong token"),
        pytest.param("fork", PULL_EVENT, READ_ONLY, id="read-only token"),
        pytest.param("actions", {"ref": "refs/heads/main"}, NO_PULL, id="no pull request"),
    ],
)
def test_best_effort_one_line(step: Step, token: str, event: dict[str, Any], message: str) -> None:
    step.github.tokens["fork"] = Token(writes=False)
    around = step.environment(event) | {"GITHUB_TOKEN": token}
    assert try_to_post(RED, step.settings, around) == [f"not posted: {message}"]
    assert step.bodies == []


CREATED = {
    "comment": "comment on pull request #7 of acme/app created: "
    "https://github.example/acme/app/pull/7#issuecomment-1",
    "check": "check run evals created: https://github.example/acme/app/runs/1",
}


@pytest.mark.parametrize(
    ("event", "path", "created", "message"),
    [
        pytest.param(PULL_EVENT, "/comments", "check", READ_ONLY, id="comment"),
        pytest.param(PULL_EVENT, "/check-runs", "comment", READ_ONLY, id="check run"),
        pytest.param({"after": HEAD}, "/nothing", "check", NO_PULL, id="no pull request"),
    ],
)
def test_one_is_posted_although_the_other_is_not(
    step: Step, event: dict[str, Any], path: str, created: str, message: str
) -> None:
    """A check run is about a commit: a merge queue and a push have one, without a pull request."""
    step.github.faults = [Fault("POST", path, 403, "Resource not accessible by integration")]
    settings = replace(step.settings, check="evals")
    lines = try_to_post(RED, settings, step.environment(event))
    assert lines == [CREATED[created], f"not posted: {message}"]
    assert [check["head_sha"] for check in step.github.checks] == [HEAD] * (created == "check")


def test_a_run_that_was_overtaken_is_not_red(step: Step) -> None:
    step.github.pulls[7].head_sha = OTHER
    step.write(RED)
    words = ("report", "comment", str(step.settings.report))
    done = invoke(step.folder, step.environment(RUN_EVENT), *words)
    assert (done.returncode, done.stderr) == (
        0,
        f"rubric-ci: {MOVED}\n  nothing to do: the run for the newer push takes over\n",
    )
    assert step.bodies == []


def test_from_the_command_line(step: Step) -> None:
    step.write(RED)
    around = {**step.environment(PULL_EVENT), "PATH": ""}
    done = [
        invoke(step.folder, around, "report", "comment", str(step.settings.report), *more)
        for more in ([], ["--check-run", "evals"], ["--pull-request", "9"])
    ]
    assert [run.returncode for run in done] == [0, 0, 2]
    assert len(step.bodies) == 1
    assert [check["name"] for check in step.github.checks] == ["evals"]
    assert done[2].stderr == (
        "rubric-ci: GitHub cannot find pull request #9 of acme/app (404: Not Found)\n"
        "  check the name, and that the token can read it\n"
    )


def test_without_pygithub(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "github", None)
    (message,) = try_to_post(RED, step.settings, step.environment(PULL_EVENT))
    assert message == (
        "not posted: writing to GitHub needs PyGithub, which is missing "
        "(pip install 'rubric-ci[github]')"
    )


def test_a_report_that_is_none(step: Step) -> None:
    with pytest.raises(CannotReadFile):
        comment(step.settings, {})
    step.settings.report.write_text("[]")
    with pytest.raises(CannotReadReport):
        comment(step.settings, {})
