"""GitHub's facts about a request to grade a pull request: who asked, when, at which commit.

Times are of GitHub's server: the dates of a commit are its author's to choose.
"""

from datetime import datetime
from typing import Any
from urllib.parse import quote

from rubric_ci.github.rest_api import ApiError, Server, connected, with_retries
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
