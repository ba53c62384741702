"""Whether a person asked to grade a stranger's commit, and which one; see the page of the docs.

The event only says where to look. The person, their permission, the words, the times and the commit
are read from GitHub, now: the dates of a commit are its author's to choose. Each word is good for
one run of one commit.
"""

import os
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

import click

from rubric_ci.errors import CannotConfigure, ExitCode, UserError
from rubric_ci.github import comments_and_issues
from rubric_ci.github.actions import number_of, read_event, read_payload, set_outputs
from rubric_ci.github.comments_and_issues import Place
from rubric_ci.github.rest_api import ApiError, Server, build_server, connected, with_retries
from rubric_ci.text import escape
from rubric_ci.text.escape import error_line
from rubric_ci.values.command_settings import AuthorizeSettings
from rubric_ci.values.dataclass import dataclass

NOT_FOUND = 404


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A person's word, as GitHub keeps it."""

    login: str
    is_person: bool  # False: an app
    at: datetime
    text: str = ""  # of a comment
    edited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A pull request as it is now."""

    head_sha: str
    head_branch: str
    head_repository: str  # owner/name; empty: it was deleted
    is_open: bool


def pull_request(server: Server, repository: str, number: int) -> Proposed:
    """Return a pull request; raises ApiError if it cannot be read."""
    found = _get_json(server, f"/repos/{repository}/pulls/{number}")
    head = found["head"]
    return Proposed(
        head_sha=str(head["sha"]),
        head_branch=str(head["ref"]),
        head_repository=str((head["repo"] or {}).get("full_name", "")),
        is_open=found["state"] == "open",
    )


def comment(server: Server, repository: str, number: int) -> Asked:
    found = _get_json(server, f"/repos/{repository}/issues/comments/{number}")
    return Asked(
        login=str(found["user"]["login"]),
        is_person=found["user"]["type"] == "User",
        at=_time(found["created_at"]),
        text=str(found["body"] or ""),
        edited=found["created_at"] != found["updated_at"],
    )


def labelled(server: Server, repository: str, number: int, label: str) -> Asked | None:
    """Return the person who last put a label on a pull request; None: no one did."""
    page, last = 1, None
    while events := _get_json(server, f"/repos/{repository}/issues/{number}/events?page={page}"):
        named = (each for each in events if each["event"] == "labeled")
        last = next((e for e in reversed([*named]) if e["label"]["name"] == label), last)
        page += 1
    if last is None:
        return None
    actor = last["actor"]
    person = actor["type"] == "User"
    return Asked(login=str(actor["login"]), is_person=person, at=_time(last["created_at"]))


def may_write(server: Server, repository: str, login: str) -> bool:
    """Return True if a person may push to a repository now."""
    path = f"/repos/{repository}/collaborators/{quote(login)}/permission"
    try:
        return _get_json(server, path)["permission"] in {"admin", "write"}
    except ApiError as error:
        if error.status == NOT_FOUND:
            return False
        raise


def head_at(server: Server, pull: Proposed, when: datetime) -> str:
    """Return the commit that the branch of a pull request had before a time; empty: not known."""
    branch = quote(f"refs/heads/{pull.head_branch}", safe="")
    entries = _get_json(server, f"/repos/{pull.head_repository}/activity?ref={branch}&per_page=100")
    before = (each for each in entries if _time(each["timestamp"]) < when)
    latest = max(before, key=lambda each: _time(each["timestamp"]), default=None)
    return str(latest["after"]) if latest else ""


def use_comment(server: Server, repository: str, number: int) -> bool:
    """Mark a comment as used; return False if it was used before."""
    path = f"/repos/{repository}/issues/comments/{number}/reactions"
    with connected(server, f"comment {number} of {repository}") as client:
        status, _, _ = client.requester.requestJson("POST", path, input={"content": "rocket"})
    if status not in {200, 201}:
        raise ApiError(
            f"GitHub does not accept a reaction to the comment ({status})", status=status
        )
    return status == 201  # 200: our reaction was there


def take_label(server: Server, repository: str, number: int, label: str) -> bool:
    """Remove a label; return False if it was gone."""
    path = f"/repos/{repository}/issues/{number}/labels/{quote(label, safe='')}"
    with connected(server, f"pull request #{number} of {repository}") as client:
        status, _, _ = client.requester.requestJson("DELETE", path)
    if status not in {200, NOT_FOUND}:
        raise ApiError(f"GitHub does not let the label be removed ({status})", status=status)
    return status == 200


def _get_json(server: Server, path: str) -> Any:
    def attempt() -> Any:
        with connected(server, path.partition("?")[0]) as client:
            _, found = client.requester.requestJsonAndCheck("GET", path)
            return found

    return with_retries(server, attempt)


def _time(text: Any) -> datetime:
    return datetime.fromisoformat(str(text))


HELP: Final = (
    "`/rubric-ci run` grades this pull request, `/rubric-ci run CASE` one case (a glob over ids), "
    "`/rubric-ci rerun` asks the judge again, `/rubric-ci help` shows this."
)
LONGEST_CASE: Final = 200


class NotAuthorized(UserError):
    """Nobody who may asked for this run; `answer` is the sentence for the comment, or empty."""

    def __init__(self, message: str, answer: str = "") -> None:
        super().__init__(message)
        self.answer = answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorized:
    """The commit and cases that the next job may grade."""

    sha: str
    pull_request: int
    case: str = ""  # a glob over case ids; empty: all
    again: bool = False  # cached judgements are not read
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A slash command."""

    case: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The people who may ask, and the label that asks."""

    repository: str
    people: Collection[str] = ()  # besides those who may push
    label: str = "rubric-ci"


def authorize(settings: AuthorizeSettings) -> ExitCode:
    """Set the outputs of the step; exit 1 with the reason if no one with the right asked for it."""
    environment = os.environ
    event, payload = read_event(environment), read_payload(environment)
    if event is None:
        raise CannotConfigure(
            "this command reads the event of a workflow run", "run it in GitHub Actions"
        )
    server = build_server(environment)
    rules = Rules(repository=event.repository, people=settings.allow, label=settings.label)
    attempt = environment.get("GITHUB_RUN_ATTEMPT", "1")
    try:
        found = decide(server, rules, event.name, payload, int(attempt or 1))
    except NotAuthorized as refused:
        click.echo(escape.log_line(f"not authorized: {refused.message}"))
        number = number_of(payload, "issue", "number")
        if refused.answer and number is not None and settings.comment:
            place = Place(repository=event.repository, pull_request=number, key=settings.key)
            _answer(refused.answer, server, place)
        return ExitCode.GATE
    outputs = {
        "sha": found.sha,
        "pull-request": str(found.pull_request),
        "case": found.case,
        "again": str(found.again).lower(),
        "by": found.by,
    }
    for name, value in outputs.items():
        click.echo(escape.log_line(f"{name}={value}"))
    if file := environment.get("GITHUB_OUTPUT"):
        set_outputs(file, outputs)
    return ExitCode.OK


def _answer(text: str, server: Server, place: Place) -> None:
    """Put the sentence into the one comment, for a person who may ask; no one else changes it."""
    try:
        posted = comments_and_issues.post(server, place, [f"{text}\n"], mode="update", failing=True)
    except UserError as error:
        click.echo(escape.log_line(f"not posted: {error_line(error)}"))
    else:
        click.echo(escape.log_line(f"comment on {place.about} {posted.done}"))


def decide(
    server: Server, rules: Rules, event: str, payload: Mapping[str, Any], attempt: int = 1
) -> Authorized:
    """Return the request of a person; raises NotAuthorized with the reason."""
    if attempt > 1:
        raise NotAuthorized(
            "a run that is started again needs a new word: each is good for one run"
        )
    match event:
        case "issue_comment":
            return _by_comment(server, rules, payload)
        case "pull_request_target":
            return _by_label(server, rules, payload)
        case "workflow_dispatch":
            return _by_dispatch(server, rules, payload)
        case _:
            raise NotAuthorized(f"no person asks by the event `{event}`")


def read_word(text: str) -> Word | None:
    """Return the command in the first line of a comment; None: there is none.

    Raises NotAuthorized, with the help as the answer, for an unknown word.
    """
    name, *words = text.strip().partition("\n")[0].split() or [""]
    if name != "/rubric-ci":
        return None
    match words:
        case ["run"]:
            return Word()
        case ["run", case] if len(case) <= LONGEST_CASE and case.isprintable():
            return Word(case=case)
        case ["rerun"]:
            return Word(again=True)
        case _:
            raise NotAuthorized("the comment asks for help, or for an unknown command", HELP)


def _by_comment(server: Server, rules: Rules, payload: Mapping[str, Any]) -> Authorized:
    number, place = number_of(payload, "comment", "id"), number_of(payload, "issue", "number")
    issue = payload.get("issue")
    if payload.get("action") != "created" or number is None or place is None:
        raise NotAuthorized("only a new comment counts, not an edited one")
    if not isinstance(issue, Mapping) or not issue.get("pull_request"):
        raise NotAuthorized("the comment is not on a pull request")
    request = comment(server, rules.repository, number)
    if not request.text.lstrip().startswith("/rubric-ci"):
        raise NotAuthorized("the comment is not a command")
    _check_right(server, rules, request.login, is_person=request.is_person)
    if request.edited:
        raise NotAuthorized(
            "the comment was edited", "Edited comments do not count: write a new one."
        )
    word = read_word(request.text)
    if word is None:
        raise NotAuthorized("the comment is not a command")
    pull = _unchanged(server, rules, place, request)
    _once(lambda: use_comment(server, rules.repository, number))
    return Authorized(
        sha=pull.head_sha, pull_request=place, case=word.case, again=word.again, by=request.login
    )


def _by_label(server: Server, rules: Rules, payload: Mapping[str, Any]) -> Authorized:
    place, label = number_of(payload, "pull_request", "number"), payload.get("label")
    name = label.get("name") if isinstance(label, Mapping) else None
    if payload.get("action") != "labeled" or name != rules.label or place is None:
        raise NotAuthorized(f"only the label `{rules.label}` counts, when it is added")
    request = labelled(server, rules.repository, place, rules.label)
    if request is None:
        raise NotAuthorized(f"no one added the label `{rules.label}`")
    _check_right(server, rules, request.login, is_person=request.is_person)
    pull = _unchanged(server, rules, place, request)
    _once(lambda: take_label(server, rules.repository, place, rules.label))
    return Authorized(sha=pull.head_sha, pull_request=place, by=request.login)


def _by_dispatch(server: Server, rules: Rules, payload: Mapping[str, Any]) -> Authorized:
    """Return the commit that a person typed: it must still be the head."""
    inputs, sender = payload.get("inputs"), payload.get("sender")
    given = inputs if isinstance(inputs, Mapping) else {}
    who = sender if isinstance(sender, Mapping) else {}
    login, place = str(who.get("login", "")), str(given.get("pull-request", ""))
    if not place.isdecimal() or not login:
        raise NotAuthorized("the inputs `pull-request` and `sha` are needed")
    _check_right(server, rules, login, is_person=who.get("type") == "User")
    pull = _open_pull(server, rules, int(place))
    if given.get("sha") != pull.head_sha:
        raise NotAuthorized(f"`sha` is not the head of #{place}, which is {pull.head_sha}")
    return Authorized(sha=pull.head_sha, pull_request=int(place), by=login)


def _check_right(server: Server, rules: Rules, login: str, *, is_person: bool) -> None:
    if not is_person:
        raise NotAuthorized(f"`{login}` is an app, and not a person")
    named = login.casefold() in {each.casefold() for each in rules.people}
    if not named and not may_write(server, rules.repository, login):
        raise NotAuthorized(f"`{login}` may not push to {rules.repository}, and is not listed")


def _open_pull(server: Server, rules: Rules, number: int) -> Proposed:
    pull = pull_request(server, rules.repository, number)
    if not pull.is_open or not pull.head_repository:
        raise NotAuthorized(f"#{number} is closed, or its branch is gone")
    return pull


def _unchanged(server: Server, rules: Rules, number: int, request: Asked) -> Proposed:
    """Return the pull request if its head is the one that the person saw."""
    pull = _open_pull(server, rules, number)
    seen = head_at(server, pull, request.at)
    if seen != pull.head_sha:
        now = escape.commit(pull.head_sha)
        what = f"it was {escape.commit(seen)} then" if seen else "when it came is not known"
        raise NotAuthorized(
            f"the head of #{number} is {now}, and {what}",
            f"Not graded: {now} may have come after the word of @{request.login}. Look at it, and "
            "ask again.",
        )
    return pull


def _once(use: Callable[[], bool]) -> None:
    if not use():
        raise NotAuthorized("this word was used before: each is good for one run")
