"""The comments of a pull request after each step, by GitHub's own contract."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.errors import CannotFindPullRequest, PullRequestSuperseded
from rubric_ci.github import comments_and_issues
from rubric_ci.github.actions import FinishedRun
from rubric_ci.github.comments_and_issues import Mode, Place, post
from rubric_ci.github.rest_api import ApiError, Server
from rubric_ci.values.diagnostics import Annotation
from tests.contract.fake_github import BOT, GitHub, Pull, Token, User

PLACE = Place(repository="acme/app", pull_request=7)
MARKER = "<!-- rubric-ci: default -->\n"
RUN = FinishedRun(
    id=1, head_sha="f" * 40, head_branch="fix/ä", head_owner="fork", event="pull_request", url=""
)


def server(github: GitHub, token: str = "actions") -> Server:
    return Server(api_url=github.url, token=token)


def write(
    github: GitHub, *bodies: str, mode: Mode = "update", failing: bool = True, key: str = "default"
) -> str:
    place = Place(repository="acme/app", pull_request=7, key=key)
    return post(server(github), place, bodies, mode=mode, failing=failing).done


def test_the_second_push_updates_the_comment(contract: GitHub) -> None:
    contract.say(7, User("ann"), "looks good")
    done = [write(contract, body) for body in ("first", "second", "second")]
    assert done == ["created", "updated", "unchanged"]
    assert contract.bodies(7) == ["looks good", f"{MARKER}second"]
    assert contract.pulls[7].comments[1].edits == 1


def test_the_comment_is_found_on_the_last_page(contract: GitHub) -> None:
    for number in range(205):
        contract.say(7, User("ann"), f"chat {number}")
    write(contract, "first")
    contract.say(7, User("ann"), "more chat")
    assert write(contract, "second") == "updated"
    assert sum(body.startswith(MARKER) for body in contract.bodies(7)) == 1
    assert contract.bodies(7)[205] == f"{MARKER}second"


def test_a_marker_of_somebody_else_is_not_ours(contract: GitHub) -> None:
    contract.say(7, User("mallory"), f"{MARKER}fake")
    contract.say(7, BOT, f"quoting\n{MARKER}")
    assert write(contract, "ours") == "created"
    assert contract.bodies(7) == [f"{MARKER}fake", f"quoting\n{MARKER}", f"{MARKER}ours"]


def test_a_token_of_a_person_knows_its_own_comment(contract: GitHub) -> None:
    contract.tokens["pat"] = Token(User("ann"))
    contract.say(7, BOT, f"{MARKER}of the bot")
    for body in ("first", "second"):
        post(server(contract, "pat"), PLACE, [body], mode="update", failing=True)
    assert contract.bodies(7) == [f"{MARKER}of the bot", f"{MARKER}second"]


def test_keys_keep_comments_apart(contract: GitHub) -> None:
    write(contract, "a", key="suite a")
    write(contract, "b", key="suite-b --> <b>")
    write(contract, "c", key="suite/a")
    write(contract, "a2", key="suite a")
    assert contract.bodies(7) == [
        "<!-- rubric-ci: suite a -->\na2",
        "<!-- rubric-ci: suite-b --%3E %3Cb%3E -->\nb",
        "<!-- rubric-ci: suite/a -->\nc",
    ]


@pytest.mark.parametrize(
    ("mode", "runs", "bodies"),
    [
        pytest.param("update", [True, False], ["1"], id="update"),
        pytest.param("off", [True, True], [], id="off"),
        pytest.param("on-failure", [False, False], [], id="on-failure, green"),
        pytest.param("on-failure", [False, True], ["1"], id="on-failure, turned red"),
        pytest.param("on-failure", [True, False], ["1"], id="on-failure, fixed"),
    ],
)
def test_modes(contract: GitHub, mode: Mode, runs: list[bool], bodies: list[str]) -> None:
    for number, failing in enumerate(runs):
        write(contract, str(number), mode=mode, failing=failing)
    assert contract.bodies(7) == [MARKER + body for body in bodies]


def test_what_is_too_long_is_shed(contract: GitHub) -> None:
    assert write(contract, "x" * 70_000, "y" * 66_000, "small") == "created"
    assert write(contract, "x" * 70_000, "smaller") == "updated"
    assert contract.bodies(7) == [f"{MARKER}smaller"]


def test_too_long_whatever_is_shed(contract: GitHub) -> None:
    with pytest.raises(ApiError) as caught:
        write(contract, "x" * 70_000, "x" * 66_000)
    assert caught.value.message == (
        "GitHub rejected the request "
        "(422: Validation Failed; body is too long (maximum is 65536 characters))"
    )


def test_the_pull_request_of_a_finished_run(contract: GitHub) -> None:
    contract.pulls[8] = Pull(8, head_sha="f" * 40, head_owner="fork", head_branch="fix/ä")
    assert comments_and_issues.pull_request_of(server(contract), "acme/app", RUN) == 8


def test_a_pull_request_that_moved_on_is_left_alone(contract: GitHub) -> None:
    contract.pulls[8] = Pull(8, head_sha="e" * 40, head_owner="fork", head_branch="fix/ä")
    with pytest.raises(PullRequestSuperseded) as caught:
        comments_and_issues.pull_request_of(server(contract), "acme/app", RUN)
    message = "the head of #8 is no longer ffffffffff, which the run graded"
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("event", "error", "hint"),
    [
        ("pull_request", PullRequestSuperseded, "nothing to do: it was closed meanwhile"),
        ("push", CannotFindPullRequest, "the run was for a push event"),
    ],
)
def test_a_run_without_a_pull_request(
    contract: GitHub, event: str, error: type[CannotFindPullRequest], hint: str
) -> None:
    with pytest.raises(CannotFindPullRequest) as caught:
        comments_and_issues.pull_request_of(server(contract), "acme/app", replace(RUN, event=event))
    assert type(caught.value) is error
    assert caught.value.message == "no open pull request of acme/app has the head fork:fix/ä"
    assert caught.value.hint == hint


@pytest.mark.parametrize(("number", "requests"), [(0, 1), (50, 1), (51, 2), (120, 3)], ids=str)
def test_fifty_annotations_at_a_time(contract: GitHub, number: int, requests: int) -> None:
    facts: Any = {"level": "error", "rule": "fail", "subject": ("a",), "file": "evals/a.yaml"}
    remarks = [
        Annotation(line=line + 1, title="t" * 300, message="m", **facts) for line in range(number)
    ]
    url = comments_and_issues.create_check_run(
        server(contract),
        "acme/app",
        "f" * 40,
        name="rubric-ci",
        conclusion="failure",
        title="fail: 1 of 2",
        summary="text",
        annotations=remarks,
    )
    assert url == "https://github.example/acme/app/runs/1"
    (check,) = contract.checks
    ended = (check["status"], check["conclusion"], check["requests"])
    assert ended == ("completed", "failure", requests)
    shown = [
        (each["start_line"], each["annotation_level"]) for each in check["output"]["annotations"]
    ]
    assert shown == [(line, "failure") for line in range(1, number + 1)]
