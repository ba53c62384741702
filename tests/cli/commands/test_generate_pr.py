"""`generate rubrics --pr` in workflow runs: the state of GitHub afterwards."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from rubric_ci.files.editing.fixes import unified
from tests.checkout import Checkout
from tests.contract.fake_github import GitHub, Pull, serving
from tests.generating import AFTER, CONFIG, EVAL, GOOD, Project
from tests.hooks.composite import outputs

OURS = "rubric-ci/rubrics-main"
WRITE = "run it again, or write these rubrics yourself; the log names every case"
FILES = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
MESSAGE = "evals: add rubrics to 1 case\n\nx\n\nRubric-CI: generate rubrics"


class Run:
    """A repository, its remote on a fake GitHub, and workflow runs in a clone of it."""

    def __init__(self, project: Project, remote: Checkout, github: GitHub) -> None:
        self.project = project
        self.checkout = project.checkout
        self.remote = remote
        self.github = github
        self.arguments: tuple[str, ...] = ()

    def push(self, *branches: str) -> None:
        self.checkout.git("push", "--quiet", "--force", str(self.remote.root), *branches)

    def generate(self, event: str, payload: dict[str, Any], **environment: str) -> Result:
        file = self.checkout.root.parent / "event.json"
        file.write_text(json.dumps({"repository": {"default_branch": "main"}, **payload}))
        facts = {
            "GITHUB_REPOSITORY": "acme/app",
            "GITHUB_API_URL": self.github.url,
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(file),
            "GITHUB_TOKEN": "actions",
            "GITHUB_SHA": self.checkout.git("rev-parse", "HEAD"),
            "GITHUB_REF": "refs/heads/main",
            **environment,
        }
        return self.project.generate("--pr", *self.arguments, **facts)

    def on_pull_request(
        self, head: str = "topic", repository: str = "acme/app", **environment: str
    ) -> Result:
        sha = self.checkout.git("rev-parse", head)
        source = {"sha": sha, "ref": head, "repo": {"full_name": repository}}
        payload = {"pull_request": {"number": 7, "head": source, "base": {"sha": sha}}}
        return self.generate("pull_request", payload, **environment)

    def on_schedule(self) -> Result:
        return self.generate("schedule", {"schedule": "0 3 * * *"})


@pytest.fixture
def run(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    monkeypatch.chdir(checkout.root)
    project = Project(checkout)
    project.record(refund=GOOD)
    remote = checkout.clone(tmp_path / "remote.git", "--bare")
    with serving(GitHub(pulls={7: Pull(7)})) as github:
        github.hold(remote.root)
        yield Run(project, remote, github)


def move_on(run: Run) -> None:
    """Push a commit that the checkout does not have."""
    sha = run.checkout.git("rev-parse", "HEAD")
    run.checkout.commit({"more.txt": "m\n"})
    run.push("topic")
    run.checkout.git("reset", "--quiet", "--hard", sha)


def show(checkout: Checkout, name: str) -> str:
    return checkout.git("show", name) + "\n"


def test_a_commit_on_the_branch_of_the_pull_request(run: Run) -> None:
    run.checkout.git("switch", "--quiet", "--detach")  # as actions/checkout leaves it
    done = run.on_pull_request()
    assert (done.exit_code, done.stderr.splitlines()[1:]) == (0, [])
    assert show(run.remote, "topic:evals/a.yaml") == AFTER
    assert run.remote.git("rev-list", "--count", "main..topic") == "1"
    assert run.remote.git("log", "-1", "--format=%B", "topic").endswith(
        "- evals/a.yaml: refund\n\nRubric-CI: generate rubrics"
    )
    made = run.remote.git("rev-parse", "topic")
    assert done.stdout.endswith(f"committed {made[:10]} on topic\n")


def test_no_second_commit_is_added(run: Run) -> None:
    run.checkout.git("commit", "--quiet", "--allow-empty", "--message", MESSAGE)
    run.push("topic")
    done = run.on_pull_request()
    said = "the last commit on `topic` is from rubric-ci; not adding another\n"
    assert (done.exit_code, done.stdout) == (0, said)
    assert run.project.file.read_text() == EVAL


@pytest.mark.parametrize(
    "facts",
    [{"repository": "fork/app"}, {"GITHUB_ACTOR": "dependabot[bot]"}],
    ids=["fork", "dependabot"],
)
def test_a_token_that_may_not_write_costs_nothing(run: Run, facts: dict[str, str]) -> None:
    done = run.on_pull_request(**facts)
    said = "nothing is drafted: the token of this pull request is read-only\n"
    assert (done.exit_code, done.stdout) == (0, said)
    assert run.github.requests == []
    assert run.project.file.read_text() == EVAL


def protect(run: Run) -> None:
    run.github.hold(run.remote.root, protected=["topic"])


REFUSED: dict[str, tuple[Callable[[Run], object], str, str, str]] = {
    "a protected branch": (protect, "topic", "actions", "--pr: `topic` is protected\n"),
    "the default branch": (lambda _: None, "main", "actions", "`main`, is the default branch"),
    "a branch that is gone": (
        lambda run: run.remote.git("branch", "--quiet", "-D", "topic"),
        *("topic", "actions", "--pr: the branch `topic` no longer exists\n"),
    ),
    "no token": (lambda _: None, "topic", "", "--pr: GITHUB_TOKEN is not set\n"),
}


@pytest.mark.parametrize(("prepare", "head", "token", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(
    run: Run, prepare: Callable[[Run], object], head: str, token: str, message: str
) -> None:
    prepare(run)
    done = run.on_pull_request(head, GITHUB_TOKEN=token)
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr
    assert run.project.file.read_text() == EVAL


def test_a_branch_that_has_moved_on(run: Run) -> None:
    move_on(run)
    done = run.on_pull_request()
    said = "`topic` has newer commits; the run for that push takes over\n"
    assert (done.exit_code, done.stdout) == (0, said)


def test_a_merge_commit_that_changed_the_file_is_a_conflict(run: Run) -> None:
    run.checkout.git("switch", "--quiet", "--detach")
    run.checkout.commit({"evals/a.yaml": "# from main\n" + EVAL})
    done = run.on_pull_request()
    assert done.exit_code == 2
    assert "--pr: evals/a.yaml differs between commit " in done.stderr
    assert run.remote.git("rev-list", "--count", "main..topic") == "0"


def test_a_permission_that_is_missing(run: Run) -> None:
    run.github.tokens["actions"] = type(run.github.tokens["actions"])(writes=False)
    done = run.on_pull_request()
    assert done.exit_code == 2
    assert "--pr: GitHub denied the request (403: Resource not accessible" in done.stderr
    assert "`permissions: {contents: write, pull-requests: write}`" in done.stderr


def test_a_schedule_opens_one_pull_request(run: Run) -> None:
    run.checkout.git("switch", "--quiet", "main")
    done = run.on_schedule()
    assert done.exit_code == 0
    url = "https://github.example/acme/app/pull/8"
    assert done.stdout.endswith(f"pull request created: {url}\n")
    assert show(run.remote, f"{OURS}:evals/a.yaml") == AFTER
    assert show(run.remote, "main:evals/a.yaml") == EVAL
    assert run.github.pulls[8].title == "evals: add rubrics to 1 case"
    assert run.github.pulls[8].base == "main"
    assert "- `evals/a.yaml`: `refund`\n" in run.github.pulls[8].body

    run.checkout.git("checkout", "--quiet", ".")
    again = run.on_schedule()
    assert (again.exit_code, again.stdout) == (0, f"the drafts for these cases are in {url}\n")

    run.checkout.commit({"evals/b.yaml": EVAL.replace("refund", "new").replace("hours", "h")})
    run.push("main")
    run.project.record(refund=GOOD, new=GOOD)
    third = run.on_schedule()
    assert third.stdout.endswith(f"pull request updated: {url}\n")
    assert run.remote.git("rev-list", "--count", f"main..{OURS}") == "1"
    assert run.github.pulls[8].title == "evals: add rubrics to 2 cases"
    assert set(run.github.pulls) == {7, 8}


def test_each_suite_has_its_own_pull_request(run: Run) -> None:
    other = EVAL.replace("refund", "new").replace("hours", "h")
    run.checkout.git("switch", "--quiet", "main")
    run.checkout.commit({"evals/b.yaml": other})
    run.push("main")
    run.project.record(refund=GOOD, new=GOOD)
    for number, path in ((8, "evals/a.yaml"), (9, "evals/b.yaml")):
        run.arguments = (path,)
        url = f"https://github.example/acme/app/pull/{number}"
        assert run.on_schedule().stdout.endswith(f"pull request created: {url}\n")
        run.checkout.git("checkout", "--quiet", ".")
        again = run.on_schedule()
        assert again.stdout == f"the drafts for these cases are in {url}\n"
    assert {pull.head_branch for number, pull in run.github.pulls.items() if number > 7} == {
        f"{OURS}-evals-a-yaml",
        f"{OURS}-evals-b-yaml",
    }


def test_a_branch_on_which_others_work_is_left_to_them(run: Run) -> None:
    run.checkout.git("switch", "--quiet", "--create", OURS, "main")
    run.checkout.commit({"evals/a.yaml": AFTER})
    run.push(OURS)
    run.checkout.git("switch", "--quiet", "main")
    done = run.on_schedule()
    said = f"`{OURS}` has commits that are not from rubric-ci; it is left unchanged\n"
    assert (done.exit_code, done.stdout) == (0, said)


def test_a_repository_that_allows_no_pull_requests(run: Run) -> None:
    run.github.proposes = False
    run.checkout.git("switch", "--quiet", "main")
    done = run.on_schedule()
    assert done.exit_code == 2
    assert "GitHub Actions is not permitted to create or approve pull requests" in done.stderr
    assert "Settings, Actions, General" in done.stderr


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"GITHUB_REF": "refs/tags/v1"}, "--pr: `refs/tags/v1` is not a branch"),
        ({"GITHUB_TOKEN": ""}, "--pr: GITHUB_TOKEN is not set"),
        ({"GITHUB_REPOSITORY": ""}, "--pr works only in a workflow run of GitHub Actions"),
    ],
)
def test_no_place_for_a_pull_request(run: Run, environment: dict[str, str], message: str) -> None:
    done = run.generate("workflow_dispatch", {}, **environment)
    assert done.exit_code == 2
    assert message in done.stderr
    assert run.project.file.read_text() == EVAL


def test_a_commit_in_a_job_is_not_made_on_the_default_branch(run: Run) -> None:
    event = run.checkout.root.parent / "event.json"
    event.write_text(json.dumps({"repository": {"default_branch": "topic"}}))
    facts = {"GITHUB_REPOSITORY": "acme/app", "GITHUB_EVENT_PATH": str(event)}
    done = run.project.generate("--commit", **facts)
    assert done.exit_code == 2
    assert done.stderr.startswith("rubric-ci: --commit: `topic` is the default branch")
    assert run.project.file.read_text() == EVAL


def test_nothing_to_do_asks_github_nothing(run: Run) -> None:
    run.checkout.commit({"evals/a.yaml": AFTER, "rubric-ci.yaml": CONFIG})
    done = run.on_pull_request()
    assert (done.exit_code, done.stdout) == (0, "nothing to do: every case has rubrics\n")
    assert run.github.requests == []


@pytest.mark.parametrize(
    ("setup", "code", "line"),
    [
        ("protected", 2, "--pr: `topic` is protected (Use an unprotected branch, or --commit.)"),
        (
            "no draft",
            3,
            f"1 case without a usable draft: evals/a.yaml: refund: no draft: {{}} ({WRITE})",
        ),
    ],
)
def test_a_workflow_shows_why(run: Run, setup: str, code: int, line: str, tmp_path: Path) -> None:
    if setup == "protected":
        protect(run)
    else:
        run.project.record(refund="I cannot")
    known = {name: str(tmp_path / name) for name in FILES}
    known |= {"GITHUB_ACTIONS": "true", "RUBRIC_CI_GENERATE_RUBRICS_POLICY_FROM": "head"}
    done = run.on_pull_request(**known)
    assert done.exit_code == code
    [annotation] = [each for each in done.stdout.splitlines() if each.startswith("::error")]
    begin, _, end = line.partition("{}")
    shown = annotation.removeprefix("::error title=rubric-ci::")
    assert (shown.startswith(begin), shown.endswith(end)) == (True, True), shown
    assert f"\n{shown}\n" in (tmp_path / "GITHUB_OUTPUT").read_text()
    assert "## ⚠️ rubric-ci · `generate" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()


def test_a_workflow_gets_the_pull_request_and_the_diff(run: Run, tmp_path: Path) -> None:
    known = {name: str(tmp_path / name) for name in FILES}
    known |= {"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.example"}
    run.checkout.git("switch", "--quiet", "main")
    payload = {"schedule": "0 3 * * *"}
    assert run.generate("schedule", payload, **known).exit_code == 0
    commit = run.remote.git("rev-parse", OURS)
    expected = {
        "changed": "true",
        "commit": commit,
        "pull-request-url": "https://github.example/acme/app/pull/8",
        "pull-request-number": "8",
    }
    assert outputs((tmp_path / "GITHUB_OUTPUT").read_text()) == expected
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text() == (
        "## rubric-ci \xb7 1 case got rubrics\n\n"
        f"[Pull request](https://github.example/acme/app/pull/8) \xb7 commit `{commit[:10]}`\n\n"
        f"```diff\n{unified('evals/a.yaml', EVAL, AFTER).rstrip()}\n```\n"
    )
    run.checkout.git("checkout", "--quiet", "--", ".")
    assert run.generate("schedule", payload, **known).exit_code == 0
    again = outputs((tmp_path / "GITHUB_OUTPUT").read_text())
    assert again == expected | {"changed": "false", "commit": ""}
