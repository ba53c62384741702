"""Forged reports: what a fork's run uploads is computed again and never turns a check green."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.cli.commands.report_show_compare import comment
from rubric_ci.errors import CannotFindPullRequest, CannotReadReport
from rubric_ci.gate.report import json_format
from rubric_ci.github import comments_and_issues
from rubric_ci.github.rest_api import Server
from rubric_ci.reports.markdown import Links
from rubric_ci.values.command_settings import CommentSettings
from rubric_ci.values.diagnostics import Annotation
from rubric_ci.values.scope import Scope
from tests.contract.fake_github import BOT, Fault, GitHub, Pull, Token, User, serving
from tests.sample_reports import a_report, errored, graded

HEAD = "a" * 40
GREEN = a_report(graded("good", "pass"))
RED = a_report(graded("bad", "fail"))
MARKER = "<!-- rubric-ci: default -->\n"
OWN = "Graded by the pull request's own run, "
OF_FORK = f"{OWN}from a fork: the numbers are not verified."
Data = dict[str, Any]


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub(pulls={7: Pull(7, head_sha=HEAD)})) as server:
        yield server


def totals(**changes: Any) -> Callable[[Data], Data]:
    return lambda data: {**data, "totals": {**data["totals"], **changes}}


def gate(**changes: Any) -> Callable[[Data], Data]:
    return lambda data: {**data, "gate": {**data["gate"], **changes}}


def case(**changes: Any) -> Callable[[Data], Data]:
    return lambda data: {**data, "cases": [{**data["cases"][0], **changes}, *data["cases"][1:]]}


def top(**changes: Any) -> Callable[[Data], Data]:
    return lambda data: {**data, **changes}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (top(verdict="pass"), "verdict is pass, its cases give fail"),
        (top(cases=[]), "totals.graded is 1, its cases give 0"),
        (gate(holds=True), "gate.holds is true, its cases give false"),
        (totals(failed=0), "totals.failed is 0, its cases give 1"),
        (totals(passed=10**30), "totals.passed is 1000000000000000000…, its cases give 0"),
        (totals(score=1.0), "totals.score is 1.0, its cases give 0.0"),
        (totals(score=None), "totals.score is null, its cases give 0.0"),
        (totals(cached_marks=-5), "totals.cached_marks is -5, its cases give 0"),
        (totals(cost_usd="NaN"), "totals.cost_usd: must be a valid number"),
        (top(duration_seconds="-Infinity"), "duration_seconds: must be a valid number"),
        (top(beyond_cases={"calls": 2}), "totals.calls is 0, its cases give 2"),
        (gate(passing="inf"), "gate.passing: must be a valid number"),
        (case(score="nan"), "cases.0.score: must be a valid number"),
        (case(score=1.5), "score 1.5 is not between 0 and 1"),
        (case(verdict="pass"), "totals.passed is 0, its cases give 1"),
        (case(score=1.0, verdict="fail"), "totals.score is 0.0, its cases give 1.0"),
    ],
)
def test_a_report_that_contradicts_itself(change: Callable[[Data], Data], problem: str) -> None:
    text = json.dumps(change(json.loads(json_format.render(RED))))
    with pytest.raises(CannotReadReport) as caught:
        json_format.read(text, "r.json")
    assert caught.value.message == f"r.json: not a valid report: {problem}"


@pytest.mark.parametrize(
    ("verdict", "score", "gated_by"), [("pass", 0.2, ()), ("borderline", 0.9, ()), ("pass", 1, "c")]
)
def test_a_case_that_contradicts_itself(verdict: Any, score: float, gated_by: str) -> None:
    report = a_report(graded("x", verdict, score=score, gated_by=tuple(gated_by)))
    with pytest.raises(CannotReadReport, match=f"cases.0.verdict is {verdict}, its score and "):
        json_format.read(json_format.render(report))


def at(*path: str | int, value: Any) -> Callable[[Data], Data]:
    """Return a forgery that sets one value of a genuine report."""

    def forge(data: Data) -> Data:
        owner: Any = data
        for step in path[:-1]:
            owner = owner[step]
        owner[path[-1]] = value
        return data

    return forge


FAILED = ("cases", 2)  # angry-customer of the golden report: two gates are missed
RUBRIC = (*FAILED, "evaluators", 0)
FIRST = (*RUBRIC, "criteria", 0)
PASS = {"verdict": "pass", "score": 1.0}
GATES = "offers-next-step, empathy"


@pytest.mark.parametrize(
    ("forge", "problem"),
    [
        (at(*FAILED, "gated_by", value=["x"]), f"gated_by is x, its evaluators give {GATES}"),
        (at(*RUBRIC, "gated_by", value=[]), f"0.gated_by is empty, its criteria give {GATES}"),
        (at(*RUBRIC, "score", value=0.9), "evaluators.0.score is 0.9, its criteria give 0.35"),
        (at(*RUBRIC, "verdict", value="pass"), "verdict is pass, its score and gates give fail"),
        (at(*RUBRIC, "weight", value=0), "verdict is fail, but an evaluator that counts has no sc"),
        (at(*RUBRIC, "outcome", value="unassessed"), "but an evaluator that counts has no score"),
        (at(*FIRST, "mark", value=True), "criteria.0.normalised is 0.0, its mark gives 1.0"),
        (at(*FIRST, "normalised", value=1.0), "criteria.0.normalised is 1.0, its mark gives 0.0"),
        (at(*FIRST, "normalised", value=7.5), "criteria.0.normalised is 7.5, not between 0 and 1"),
        (at(*FIRST, "gated", value=False), "criteria.0.gated is false, its mark gives true"),
        (at(*FIRST, "gate", value=""), "criteria.0.gated is true, its mark gives false"),
        (at(*FIRST, "weight", value=100), "evaluators.0.score is 0.35, its criteria give 0.0"),
        (at(*RUBRIC, "criteria", 1, "mark", value=9), "criteria.1.normalised is 0.4, its mark gi"),
        (at(*RUBRIC, "criteria", 1, "mark", value=10**200), "normalised is 0.4, its mark gives"),
        (at(*RUBRIC, "criteria", 1, "gate", value="score >= 3"), "1.gated is true, its mark give"),
        (at("cases", 3, "evaluators", 1, "weight", value=0), "3.score is 0.799999, its evaluator"),
        (at(*FAILED, "trials", value=[PASS]), "verdict is fail, its trials give pass"),
        (at(*FAILED, "trials_to_pass", value=-3), "cases.2.trials_to_pass is -3 of 0 trials"),
        (at(*FAILED, "trials", value=[{**PASS, "score": 0.1}]), "trials.0.verdict is pass, not p"),
        (at(*FAILED, "before", value={"outcome": "graded", "verdict": "pass", "score": 0.9,
            "trials": [PASS]}), "before.score is 0.9, its trials give 1.0"),
        (at(*FAILED, "waived", value=["empathy"]), "cases.2.waived: no waiver for empathy"),
        (at(*FAILED, "without_waived", value="fail"), "without_waived is fail, its criteria give"),
        (at(*RUBRIC, "details", value={"n": float("nan")}), "NaN is not a finite number"),
    ],
)  # fmt: skip
def test_a_case_whose_marks_say_otherwise(forge: Callable[[Data], Data], problem: str) -> None:
    genuine = (Path(__file__).parents[1] / "golden/mixed.report.json").read_text(encoding="utf-8")
    json_format.read(genuine)
    data = forge(json.loads(genuine))
    for key in ("marks", "cached_marks"):
        data["totals"][key] = sum(
            each.get(key, 0)
            for one in data["cases"]
            for each in one.get("evaluators", ())
            if each["outcome"] == "assessed"
        )
    if data["cases"][2]["evaluators"][0]["outcome"] == "unassessed":
        data["cases"][2]["evaluators"][0]["reason"] = "forged"
    with pytest.raises(CannotReadReport) as caught:
        json_format.read(json.dumps(data))
    assert problem in caught.value.message


def test_an_error_may_have_no_errored_case() -> None:
    held = a_report(graded("x", "pass"), verdict="error", scope=Scope().narrowed("invalid"))
    text = json_format.render(held).replace('"holds": true', '"holds": false')
    assert json_format.read(text).verdict == "error"
    with pytest.raises(CannotReadReport, match="verdict is pass, its cases give error"):
        json_format.read(json_format.render(a_report(errored("x"), verdict="pass")))


def posted(
    github: GitHub,
    folder: Path,
    run: Data | None,
    *,
    report: Any = GREEN,
    repository: str | None = None,
    pull: Data | None = None,
) -> None:
    """Post a report as the command does after an event."""
    (folder / "report.json").write_text(json_format.render(report), encoding="utf-8")
    event = {"workflow_run": run} if run else {"pull_request": pull}
    (folder / "event.json").write_text(json.dumps(event), encoding="utf-8")
    environment = {
        "GITHUB_REPOSITORY": "acme/app",
        "GITHUB_EVENT_NAME": "workflow_run" if run else "pull_request_target",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": "actions",
    }
    settings = CommentSettings(
        report=folder / "report.json", check="evals", repository=repository or ""
    )
    comment(settings, environment)


def finished(**changes: Any) -> Data:
    repository = {"full_name": "acme/app", "owner": {"login": "acme"}}
    return {
        "id": 5,
        "head_sha": HEAD,
        "head_branch": "topic",
        "head_repository": repository,
        "event": "pull_request",
        "conclusion": "success",
        "html_url": "https://github.example/acme/app/actions/runs/5",
        **changes,
    }


FORK = {"full_name": "mallory/app", "owner": {"login": "acme"}}


@pytest.mark.parametrize(
    ("changes", "report", "conclusion", "line"),
    [
        ({}, GREEN, "success", ""),
        ({}, RED, "failure", ""),
        ({"head_repository": FORK}, GREEN, "neutral", OF_FORK),
        ({"head_repository": FORK}, RED, "failure", OF_FORK),
        ({"conclusion": "failure"}, GREEN, "neutral", f"{OWN}which ended with failure."),
        ({"conclusion": "cancelled"}, GREEN, "neutral", f"{OWN}which ended with cancelled."),
        ({"conclusion": None}, GREEN, "neutral", f"{OWN}which ended with no conclusion."),
    ],
)
def test_the_check_of_a_run(
    changes: Data, report: Any, conclusion: str, line: str, github: GitHub, tmp_path: Path
) -> None:
    posted(github, tmp_path, finished(**changes), report=report)
    (check,) = github.checks
    assert check["conclusion"] == conclusion
    for text in (check["output"]["summary"], *github.bodies(7)):
        assert [entry for entry in text.splitlines() if OWN in entry] == [f"> {line}"] * bool(line)


def test_the_check_of_a_fork_with_a_token(github: GitHub, tmp_path: Path) -> None:
    head = {"sha": HEAD, "repo": {"full_name": "mallory/app"}}
    posted(github, tmp_path, None, pull={"number": 7, "head": head})
    assert github.checks[0]["conclusion"] == "neutral"


@pytest.mark.parametrize(
    ("changes", "repository", "message"),
    [
        ({"head_branch": ""}, None, "the workflow run 5 has no head branch"),
        ({"head_repository": None}, None, "the workflow run 5 has no head owner"),
        ({}, "acme/other", "this workflow runs in acme/app, not in acme/other"),
    ],
)
def test_another_pull_request_is_not_reached(
    changes: Data, repository: str | None, message: str, github: GitHub, tmp_path: Path
) -> None:
    github.pulls[8] = Pull(8, head_sha=HEAD, head_owner="", head_branch="")
    with pytest.raises(CannotFindPullRequest) as caught:
        posted(github, tmp_path, finished(**changes), repository=repository)
    assert caught.value.message == message
    assert (github.bodies(7), github.bodies(8), github.checks) == ([], [], [])


@pytest.mark.parametrize(
    ("number", "requests", "last"),
    [(500, 10, "t"), (501, 10, "2 more"), (5_000, 10, "4,501 more"), (51, 2, "t")],
)
def test_annotations_are_limited(number: int, requests: int, last: str, github: GitHub) -> None:
    entry = Annotation(
        level="error", rule="fail", subject=("x",), file="e", line=1, title="t", message="m"
    )
    comments_and_issues.create_check_run(
        Server(api_url=github.url, token="actions"),
        "acme/app",
        HEAD,
        name="evals",
        conclusion="failure",
        title="t",
        summary="s",
        annotations=[entry] * number,
    )
    (check,) = github.checks
    assert check["requests"] == requests
    assert len(check["output"]["annotations"]) == min(number, 500)
    assert check["output"]["annotations"][-1]["title"] == last


OTHER_BOT = User("echo-bot[bot]", "Bot")
SAME_NAME = User("github-actions[bot]", "User")


@pytest.mark.parametrize("author", [OTHER_BOT, SAME_NAME, User("mallory"), None], ids=str)
def test_the_marker_of_another_author(author: User | None, github: GitHub) -> None:
    github.say(7, author, f"{MARKER}forged")
    for body in ("first", "second"):
        write(github, "actions", body)
    assert github.bodies(7) == [f"{MARKER}forged", f"{MARKER}second"]


def test_an_app_knows_its_own_slug(github: GitHub) -> None:
    github.tokens["app"] = Token(User("evals-app[bot]", "Bot"))
    github.say(7, BOT, f"{MARKER}of the workflow")
    for body in ("first", "second"):
        write(github, "app", body)
    assert github.bodies(7) == [f"{MARKER}of the workflow", f"{MARKER}second"]


def test_without_graphql_the_token_is_the_workflows(github: GitHub) -> None:
    github.say(7, OTHER_BOT, f"{MARKER}forged")
    github.say(7, BOT, f"{MARKER}first")
    github.faults.append(Fault("POST", "graphql", status=404))
    write(github, "actions", "second")
    assert github.bodies(7) == [f"{MARKER}forged", f"{MARKER}second"]


def write(github: GitHub, token: str, body: str) -> None:
    place = comments_and_issues.Place(repository="acme/app", pull_request=7)
    server = Server(api_url=github.url, token=token)
    comments_and_issues.post(server, place, [body], mode="update", failing=True)


@pytest.mark.parametrize(
    ("file", "linked"),
    [
        ("evals/a.yaml", True),
        ("a..b/..c/d...yaml", True),
        ("../../../../settings", False),
        ("evals/../../x", False),
        ("evals\\..\\x", False),
        ("..", False),
    ],
)
def test_a_link_stays_below_the_commit(file: str, linked: bool) -> None:
    place = Links(blob="https://github.example/acme/app/blob/abc").place(file, 3, "x")
    assert place.startswith("[") == linked
