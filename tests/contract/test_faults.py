"""Faults of GitHub, over real HTTP: one line each, and nothing is written twice."""

import errno
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.github.comments_and_issues import Mode, Place, post
from rubric_ci.github.rest_api import BACKOFF, ApiError, Server
from tests import platforms
from tests.contract.fake_github import BOT, Fault, GitHub, Token, serving

PLACE = Place(repository="acme/app", pull_request=7)
COMMENTS = "/issues/7/comments"


@pytest.fixture
def waits() -> list[float]:
    """The seconds that are waited between attempts, without a wait."""
    return []


def write(
    github: GitHub,
    waits: list[float],
    *,
    mode: Mode = "update",
    token: str = "actions",
    place: Place = PLACE,
    timeout_seconds: int = 20,
) -> str:
    server = Server(
        api_url=github.url,
        token=token,
        timeout_seconds=timeout_seconds,
        backoff=replace(BACKOFF, jitter=lambda: 0.5),
        sleep=waits.append,
    )
    return post(server, place, ["body"], mode=mode, failing=True).done


def refusal(github: GitHub, waits: list[float] | None = None, **options: Any) -> str:
    with pytest.raises(ApiError) as caught:
        write(github, [] if waits is None else waits, **options)
    assert "\n" not in caught.value.message + caught.value.hint
    return caught.value.message


def faults(*status: int, method: str = "POST", **changes: Any) -> list[Fault]:
    return [Fault(method, COMMENTS, code, **changes) for code in status]


DENIED = "GitHub denied the request (403: Resource not accessible by integration)"
CANNOT_FIND = "GitHub cannot find pull request #{} (404: Not Found)"


@pytest.mark.parametrize(
    ("options", "message", "methods"),
    [
        ({"token": "nobody"}, "GitHub does not accept the token (401: Bad credentials)", ["GET"]),
        ({"token": "fork"}, DENIED, ["GET", "POST"]),
        ({"place": replace(PLACE, pull_request=99)}, CANNOT_FIND.format("99 of acme/app"), ["GET"]),
        (
            {"place": replace(PLACE, repository="acme/other")},
            CANNOT_FIND.format("7 of acme/other"),
            ["GET"],
        ),
    ],
    ids=["wrong token", "may only read", "no such pull request", "no such repository"],
)
def test_what_is_wrong(
    github: GitHub, options: dict[str, Any], message: str, methods: list[str]
) -> None:
    github.tokens["fork"] = Token(writes=False)
    assert refusal(github, **options) == message
    place = options.get("place", PLACE)
    path = f"/repos/{place.repository}/issues/{place.pull_request}/comments"
    assert github.requests == [f"{method} {path}" for method in methods]
    assert github.bodies(7) == []


def test_a_request_for_the_server_of_another_test_is_refused_and_fails_the_test() -> None:
    github = GitHub()
    with pytest.raises(AssertionError, match="the server of another test"):
        _meet_a_stray_request(github)
    assert github.requests == []


def _meet_a_stray_request(github: GitHub) -> None:
    with serving(github):
        other = GitHub(url=github.url.replace(github.own_path, "/other"))
        assert refusal(other) == "GitHub rejected the request (421: Misdirected Request)"


@pytest.mark.parametrize(
    ("status", "message"), [(429, "Too many"), (403, "You have exceeded a secondary rate limit")]
)
def test_waits_as_asked(github: GitHub, waits: list[float], status: int, message: str) -> None:
    github.faults = faults(status, message=message, headers={"Retry-After": "7"})
    assert write(github, waits) == "created"
    assert waits == [9.0]
    assert len(github.bodies(7)) == 1


def test_does_not_wait_for_an_hour(github: GitHub, waits: list[float]) -> None:
    github.faults = faults(429, message="Too many", headers={"Retry-After": "3600"})
    assert refusal(github, waits) == "GitHub's rate limit is exceeded (429: Too many)"
    assert waits == []


def test_waits_for_the_reset_of_the_limit(github: GitHub, waits: list[float]) -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + 30)}
    github.faults = faults(403, message="API rate limit exceeded", headers=headers)
    assert write(github, waits) == "created"
    assert len(waits) == 1
    assert 25 < waits[0] <= 32


def test_gives_up_after_three_attempts(github: GitHub, waits: list[float]) -> None:
    github.faults = faults(500, 502, 503, 500, message="Server Error", method="GET")
    assert refusal(github, waits) == "GitHub failed (503: Server Error)"
    assert waits == [2.0, 4.0]
    assert len(github.faults) == 1


@pytest.mark.parametrize(
    "body",
    ["<html>Sign in</html>", "[]", "{}", "null", "", "7", '[{"id": {}}]', "[null]", '{"a": '],
    ids=str,
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_answer_that_is_none_of_githubs(github: GitHub, method: str, body: str) -> None:
    github.faults = [Fault(method, COMMENTS, 200, body=body) for _ in range(3)]
    try:
        outcome: str = write(github, [])  # some of it can be read as an answer
    except ApiError as error:
        outcome = error.message
    unread = (f"unexpected response from {github.url}: ", "GitHub rejected the request (400")
    assert outcome.startswith(("created", "updated", *unread))


LOCKED = "Unprocessable: issue is locked"
BAD_GATEWAY, SIGN_IN = "<html>Bad Gateway</html>", "<html>Sign in</html>"


@pytest.mark.parametrize(
    ("each", "message"),
    [
        (Fault("POST", COMMENTS, 422, LOCKED), f"GitHub rejected the request (422: {LOCKED})"),
        (Fault("POST", COMMENTS, 502, body=BAD_GATEWAY), "GitHub failed (502: no message)"),
        (
            Fault("GET", COMMENTS, 200, body=SIGN_IN),
            "unexpected response from {}: string indices must be integers, not 'str'",
        ),
    ],
    ids=["a locked conversation", "an answer without JSON", "a proxy is named"],
)
def test_what_a_refusal_says(github: GitHub, each: Fault, message: str) -> None:
    github.faults = [each] * 3
    assert refusal(github) == message.format(github.url)


@pytest.mark.parametrize(
    ("fault", "done"),
    [
        ({"status": 500, "happens": True}, "unchanged"),
        ({"status": 429, "headers": {"Retry-After": "1"}}, "created"),
    ],
    ids=["its answer got lost: found again", "it was turned away: written"],
)
def test_one_comment(github: GitHub, fault: dict[str, Any], done: str) -> None:
    github.faults = [Fault("POST", COMMENTS, **fault)]
    assert write(github, []) == done
    assert len(github.bodies(7)) == 1


def test_a_comment_that_is_deleted_meanwhile(github: GitHub) -> None:
    github.say(7, BOT, f"{PLACE.marker}\nold")
    github.faults = [Fault("PATCH", "/issues/comments/1", 404, "Not Found")]
    assert refusal(github) == "GitHub cannot find pull request #7 of acme/app (404: Not Found)"


def test_comments_of_nobody_and_without_text(github: GitHub) -> None:
    github.say(7, None, f"{PLACE.marker}\nof a deleted account")
    github.say(7, BOT, "")
    assert [write(github, []), write(github, [])] == ["created", "unchanged"]
    assert len(github.bodies(7)) == 3


def test_no_answer_in_time(github: GitHub, waits: list[float]) -> None:
    github.faults = [Fault("GET", COMMENTS, delay=1.5) for _ in range(3)]
    assert refusal(github, waits, timeout_seconds=1) == f"{github.url} did not answer within 1 s"
    assert waits == [2.0, 4.0]


@platforms.MESSAGES
def test_nobody_there() -> None:
    refused = f"[Errno {errno.ECONNREFUSED}] Connection refused"  # the number is the system's
    with _closed_port() as port:
        message = refusal(GitHub(url=f"http://127.0.0.1:{port}"))
    assert message == f"cannot connect to http://127.0.0.1:{port}: {refused}"


@contextmanager
def _closed_port() -> Iterator[int]:
    """A port that is taken and does not listen."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
