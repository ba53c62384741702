"""The command: from a report file and an event to the resulting pull request."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.cli.commands.report import comment
from rubric_ci.errors import CannotFindPullRequest, CannotReadFile, CannotReadReport, ExitCode
from rubric_ci.gate.report import json_format
from rubric_ci.services.publish.workflow import try_to_post
from rubric_ci.values.command_settings import CommentSettings
from rubric_ci.values.report import RunReport
from rubric_ci.values.scope import Scope
from tests.contract.fake_github import GitHub, Pull, Token, serving
from tests.invoke import invoke
from tests.sample_reports import a_criterion, a_report, errored, graded, skipped

HEAD = "a" * 40
PULL_EVENT = {
    "pull_request": {
        "number": 7,
        "head": {"sha": HEAD, "repo": {"full_name": "acme/app"}},
        "base": {"sha": "b" * 40},
    }
}
RUN_EVENT = {
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


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub(pulls={7: Pull(7, head_sha=HEAD, head_owner="fork")})) as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path) -> CommentSettings:
    return CommentSettings(report=tmp_path / "report.json")


def environment(github: GitHub, folder: Path, event: dict[str, Any], name: str) -> dict[str, str]:
    file = folder / "event.json"
    file.write_text(json.dumps(event), encoding="utf-8")
    return {
        "GITHUB_REPOSITORY": "acme/app",
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_API_URL": github.url,
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_RUN_ID": "12",
        "GITHUB_TOKEN": "actions",
    }


def test_why_there_is_no_report(
    github: GitHub, settings: CommentSettings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is a text from elsewhere: Markdown in it is text, and a failure to post is an error."""
    around = environment(github, tmp_path, PULL_EVENT, "pull_request")
    why = replace(settings, failure="no case matches --case <img> (did you mean `a`?)")
    assert comment(why, around) is ExitCode.OK
    (posted,) = github.pulls[7].comments
    assert "## ⚠️ rubric-ci · Gate undecided: the run could not start" in posted.body
    assert "no case matches --case &lt;img&gt; (did you mean `a`?)" in posted.body
    assert capsys.readouterr().out == "comment on pull request #7 of acme/app created\n"
    with pytest.raises(CannotFindPullRequest):
        comment(why, environment(github, tmp_path, {}, "push"))


def test_why_the_run_of_a_fork_left_no_report(
    github: GitHub, settings: CommentSettings, tmp_path: Path
) -> None:
    around = environment(github, tmp_path, RUN_EVENT, "workflow_run")
    (tmp_path / "failure.json").write_text('{"failure": "c.yaml has problems: <img> @you"}')
    assert comment(settings, around) is ExitCode.OK
    (body,) = github.bodies(7)
    assert body == (
        "<!-- rubric-ci: default -->\n<!-- rubric-ci run 5.1 -->\n"
        "## ⚠️ rubric-ci · Gate undecided: the run could not start\n\n"
        "The pull request's own run says so; it is not verified.\n\n"
        "c.yaml has problems: &lt;img&gt; @&#8203;you"
    )


@pytest.mark.parametrize("text", ["{", "[]", '{"failure": 3}', '{"failure": ""}'])
def test_a_failure_that_says_nothing(
    github: GitHub, settings: CommentSettings, tmp_path: Path, text: str
) -> None:
    (tmp_path / "failure.json").write_text(text)
    with pytest.raises(CannotReadReport, match="does not say why there is no report"):
        comment(settings, environment(github, tmp_path, RUN_EVENT, "workflow_run"))


@pytest.mark.parametrize("draft", [False, True], ids=["ready", "a draft"])
def test_on_a_pull_request(
    github: GitHub,
    settings: CommentSettings,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    draft: bool,
) -> None:
    event = {"pull_request": {**PULL_EVENT["pull_request"], "draft": draft}}
    around = environment(github, tmp_path, event, "pull_request")
    for report in (RED, GREEN):
        settings.report.write_text(json_format.render(report), encoding="utf-8")
        assert comment(settings, around) is ExitCode.OK
        if report is RED:
            (red,) = github.bodies(7)
            assert f"https://github.example/acme/app/blob/{HEAD}/e.yaml#L9" in red
    page = "https://github.example/acme/app/pull/7#issuecomment-1"
    assert capsys.readouterr().out == (
        f"comment on pull request #7 of acme/app created: {page}\n"
        f"comment on pull request #7 of acme/app updated: {page}\n"
    )
    (body,) = github.bodies(7)
    assert "## ✅ Gate passes: the only case passes" in body
    assert "[run](https://github.example/acme/app/actions/runs/12)" in body
    assert "#artifacts" not in body


def test_the_last_line_links_the_page(
    github: GitHub, settings: CommentSettings, tmp_path: Path
) -> None:
    around = environment(github, tmp_path, RUN_EVENT, "workflow_run")
    settings.report.write_text(json_format.render(RED), encoding="utf-8")
    assert comment(replace(settings, page="report.html"), around) is ExitCode.OK
    (body,) = github.bodies(7)
    shown = [line for line in body.splitlines() if line and not line.startswith("<!--")]
    run = "https://github.example/acme/app/actions/runs/5"
    assert shown[-1] == (
        f"<sub>no model calls · 1.0 s · [run]({run}) · [Every answer, mark and quote]"
        f"({run}#artifacts): artifact `report.html`</sub>"
    )


@pytest.mark.parametrize(
    ("second", "done"),
    [
        (("12", "2"), "updated"),  # the run again
        (("13", "1"), "updated"),
        (("11", "2"), "left to a newer run"),  # an older push ends later
    ],
    ids=["another attempt", "a newer run", "an older run"],
)
def test_an_older_run_does_not_replace_the_comment_of_a_newer_one(
    github: GitHub,
    settings: CommentSettings,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    second: tuple[str, str],
    done: str,
) -> None:
    around = environment(github, tmp_path, PULL_EVENT, "pull_request")
    run, attempt = second
    for report, more in ((RED, {}), (GREEN, {"GITHUB_RUN_ID": run, "GITHUB_RUN_ATTEMPT": attempt})):
        settings.report.write_text(json_format.render(report), encoding="utf-8")
        assert comment(settings, around | more) is ExitCode.OK
    assert f"comment on pull request #7 of acme/app {done}: " in capsys.readouterr().out
    (body,) = github.bodies(7)
    assert ("❌" in body.splitlines()[2]) is (done != "updated")
    number = f"{run}.{attempt}" if done == "updated" else "12.1"
    assert body.splitlines()[1] == f"<!-- rubric-ci run {number} -->"


NOTHING = replace(a_report(), scope=Scope(base="the last common commit with `main` (0123456789)"))


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        pytest.param([NOTHING], [], id="no new comment"),
        pytest.param([RED, NOTHING], ["one line"], id="an existing one is updated"),
        pytest.param(
            [replace(NOTHING, notes=("Policy changed.",))], ["whole"], id="a note is shown"
        ),
    ],
)
def test_a_change_that_affects_no_case(
    github: GitHub,
    settings: CommentSettings,
    tmp_path: Path,
    reports: list[RunReport],
    expected: list[str],
) -> None:
    around = environment(github, tmp_path, PULL_EVENT, "pull_request")
    for report in reports:
        settings.report.write_text(json_format.render(report), encoding="utf-8")
        assert comment(settings, around) is ExitCode.OK
    shown = ["whole" if "<sub>" in body else "one line" for body in github.bodies(7)]
    assert shown == expected
    assert all("nothing to grade" in body for body in github.bodies(7))


def test_after_a_run_of_a_fork(github: GitHub, settings: CommentSettings, tmp_path: Path) -> None:
    around = environment(github, tmp_path, RUN_EVENT, "workflow_run")
    report = replace(RED, metadata={"head_sha": HEAD, "run_url": "https://evil.example"})
    settings.report.write_text(json_format.render(report), encoding="utf-8")
    comment(settings, around)
    (body,) = github.bodies(7)
    assert "evil" not in body
    assert f"https://github.example/acme/app/blob/{HEAD}/e.yaml#L9" in body
    assert "[run](https://github.example/acme/app/actions/runs/5)" in body


@pytest.mark.parametrize(
    ("head", "metadata", "changes", "message"),
    [
        pytest.param(
            "e" * 40, {}, {}, "the head of #7 is no longer aaaaaaaaaa, which the run graded",
            id="a newer push",
        ),
        pytest.param(
            HEAD, {"head_sha": "e" * 40}, {},
            "the report is for commit eeeeeeeeee, the run for aaaaaaaaaa", id="another report",
        ),
        pytest.param(
            HEAD, {}, {"pull_request": 1}, "the run belongs to #7, not to #1", id="another number"
        ),
    ],
)  # fmt: skip
def test_after_a_run_that_is_not_of_this_commit(
    github: GitHub,
    settings: CommentSettings,
    tmp_path: Path,
    head: str,
    metadata: dict[str, str],
    changes: dict[str, Any],
    message: str,
) -> None:
    github.pulls[7].head_sha = head
    around = environment(github, tmp_path, RUN_EVENT, "workflow_run")
    settings.report.write_text(
        json_format.render(replace(RED, metadata=metadata)), encoding="utf-8"
    )
    with pytest.raises(CannotFindPullRequest) as caught:
        comment(replace(settings, **changes), around)
    assert caught.value.message == message
    assert github.bodies(7) == []


def test_by_hand_without_a_number(github: GitHub, settings: CommentSettings) -> None:
    settings.report.write_text(json_format.render(RED), encoding="utf-8")
    around = {"GITHUB_TOKEN": "actions", "GITHUB_API_URL": github.url}
    with pytest.raises(CannotFindPullRequest) as caught:
        comment(replace(settings, repository="acme/app"), around)
    assert caught.value.message == "outside a workflow there is no pull request"


def test_by_hand(github: GitHub, settings: CommentSettings) -> None:
    settings.report.write_text(json_format.render(RED), encoding="utf-8")
    given = replace(settings, repository="acme/app", pull_request=7)
    comment(given, {"GITHUB_TOKEN": "actions", "GITHUB_API_URL": github.url})
    (body,) = github.bodies(7)
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
def test_check_run(
    github: GitHub, settings: CommentSettings, tmp_path: Path, report: Any, conclusion: str
) -> None:
    around = environment(github, tmp_path, PULL_EVENT, "pull_request")
    message = try_to_post(report, replace(settings, mode="off", check="evals"), around)
    assert message == ["check run evals created: https://github.example/acme/app/runs/1"]
    (check,) = github.checks
    assert (check["name"], check["head_sha"], check["conclusion"]) == ("evals", HEAD, conclusion)
    assert github.bodies(7) == []


@pytest.mark.parametrize(
    ("changes", "event", "message"),
    [
        pytest.param(
            {"GITHUB_TOKEN": ""}, PULL_EVENT,
            "not posted: GITHUB_TOKEN is not set, so nothing can be posted (set it in the step's "
            "`env:` to `${{ github.token }}`)", id="no token",
        ),
        pytest.param(
            {"GITHUB_TOKEN": "wrong"}, PULL_EVENT,
            "not posted: GitHub does not accept the token (401: Bad credentials) (set a token of "
            "this server: `GITHUB_TOKEN`, or the action's input `github-token`)", id="wrong token",
        ),
        pytest.param(
            {"GITHUB_TOKEN": "fork"}, PULL_EVENT,
            "not posted: GitHub denied the request (403: Resource not accessible by integration) "
            "(the job needs `permissions: {pull-requests: write}` (`checks: write` for a check "
            "run, `issues: write` for an issue); on a fork's pull request the token is read-only, "
            "use the pair of workflows in docs/reports.md)", id="read-only token",
        ),
        pytest.param(
            {}, {"ref": "refs/heads/main"},
            "not posted: the push event has no pull request "
            "(use the step summary, or `rubric-ci report comment --pull-request N`)",
            id="no pull request",
        ),
    ],
)  # fmt: skip
def test_best_effort_is_one_line(
    github: GitHub,
    settings: CommentSettings,
    tmp_path: Path,
    changes: dict[str, str],
    event: dict[str, Any],
    message: str,
) -> None:
    github.tokens["fork"] = Token(writes=False)
    name = "pull_request" if "pull_request" in event else "push"
    around = {**environment(github, tmp_path, event, name), **changes}
    assert try_to_post(RED, settings, around) == [message]
    assert github.bodies(7) == []


def test_a_run_that_was_overtaken_is_not_red(
    github: GitHub, settings: CommentSettings, tmp_path: Path
) -> None:
    github.pulls[7].head_sha = "e" * 40
    settings.report.write_text(json_format.render(RED), encoding="utf-8")
    around = environment(github, tmp_path, RUN_EVENT, "workflow_run")
    done = invoke(tmp_path, around, "report", "comment", str(settings.report))
    assert done.returncode == 0
    assert done.stderr == (
        "rubric-ci: the head of #7 is no longer aaaaaaaaaa, which the run graded\n"
        "  nothing to do: the run for the newer push takes over\n"
    )
    assert github.bodies(7) == []


def test_from_the_command_line(github: GitHub, settings: CommentSettings, tmp_path: Path) -> None:
    settings.report.write_text(json_format.render(RED), encoding="utf-8")
    around = {**environment(github, tmp_path, PULL_EVENT, "pull_request"), "PATH": ""}
    done = [
        invoke(tmp_path, around, "report", "comment", str(settings.report), *more)
        for more in ([], ["--mode", "new", "--check-run", "evals"], ["--pull-request", "9"])
    ]
    assert [run.returncode for run in done] == [0, 0, 2]
    assert len(github.bodies(7)) == 2
    assert [check["name"] for check in github.checks] == ["evals"]
    assert done[2].stderr == (
        "rubric-ci: GitHub cannot find pull request #9 of acme/app (404: Not Found)\n"
        "  check the name, and that the token can read it\n"
    )


def test_without_pygithub(
    github: GitHub, settings: CommentSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "github", None)
    around = environment(github, tmp_path, PULL_EVENT, "pull_request")
    (message,) = try_to_post(RED, settings, around)
    assert message == (
        "not posted: writing to GitHub needs PyGithub, which is missing "
        "(pip install 'rubric-ci[github]')"
    )


def test_a_report_that_is_none(settings: CommentSettings) -> None:
    with pytest.raises(CannotReadFile):
        comment(settings, {})
    settings.report.write_text("[]")
    with pytest.raises(CannotReadReport):
        comment(settings, {})
