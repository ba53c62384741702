"""`rubric-ci authorize` in a workflow run: who asked, with which right, at which commit."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.invoke import invoke
from tests.sample_project import clean_environment
from tests.services.publish.words import LATER, SEEN, GitHub, github

SHOP = "ana/shop"
COMMENT = {
    "action": "created",
    "issue": {"number": 7, "pull_request": {"url": "x"}},
    "comment": {"id": 5, "body": "/rubric-ci run", "user": {"login": "ana"}},
    "sender": {"login": "ana", "type": "User"},
}
LABEL = {
    "action": "labeled",
    "label": {"name": "rubric-ci"},
    "pull_request": {"number": 7, "head": {"sha": SEEN, "repo": {"full_name": "eve/shop"}}},
    "sender": {"login": "ana", "type": "User"},
}
DISPATCH = {
    "inputs": {"pull-request": "7", "sha": SEEN},
    "sender": {"login": "ana", "type": "User"},
}
EVENTS = {"issue_comment": COMMENT, "pull_request_target": LABEL, "workflow_dispatch": DISPATCH}


@pytest.fixture
def hub() -> Iterator[GitHub]:
    with github() as state:
        state.labels = [("2026-11-01T10:00:00Z", "ana", "rubric-ci")]
        state.hung = {"rubric-ci"}
        yield state


def authorize(
    hub: GitHub,
    folder: Path,
    *options: str,
    event: str = "issue_comment",
    payload: dict[str, Any] | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    (folder / "event.json").write_text(json.dumps(payload or EVENTS[event]))
    (folder / "output").write_text("")
    known = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": hub.url,
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_REPOSITORY": SHOP,
        "GITHUB_TOKEN": "t",
    }
    return invoke(folder, clean_environment() | known | environment, "authorize", *options)


AUTHORIZED = f"sha={SEEN}\npull-request=7\ncase=\nagain=false\nby=ana\n"


@pytest.mark.parametrize("event", EVENTS)
def test_the_word_of_a_person_names_the_commit(event: str, hub: GitHub, tmp_path: Path) -> None:
    done = authorize(hub, tmp_path, event=event)
    assert (done.returncode, done.stdout) == (0, AUTHORIZED)
    assert f"\n{SEEN}\n" in (tmp_path / "output").read_text()


WORDS = {
    "one case": ("/rubric-ci run refund*", "case=refund*\nagain=false"),
    "again": ("  /rubric-ci rerun\nthank you", "case=\nagain=true"),
}


@pytest.mark.parametrize(("said", "expected"), WORDS.values(), ids=WORDS)
def test_words(said: str, expected: str, hub: GitHub, tmp_path: Path) -> None:
    hub.said = said
    assert expected in authorize(hub, tmp_path).stdout


def test_a_listed_person_need_not_push(hub: GitHub, tmp_path: Path) -> None:
    hub.author = ("Eve", "User")
    assert authorize(hub, tmp_path, "--allow", "eve").returncode == 0


def pushed(time: str) -> dict[str, Any]:
    """Return the state after a second push at this time of the day."""
    first = ("2026-11-01T09:00:00Z", SEEN)
    return {"head": LATER, "pushes": [(f"2026-11-01T{time}Z", LATER), first]}


COMMENTED, LABELLED = "issue_comment", "pull_request_target"
AT_TEN = "2026-11-01T10:00:00Z"
EVE = "`eve` may not push to ana/shop, and is not listed"
MOVED = "the head of #7 is bbbbbbbbbb, and it was aaaaaaaaaa then"


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a stranger": ({"author": ("eve", "User")}, COMMENTED, EVE),
    "a maintainer who lost access": ({"rights": {}}, COMMENTED, EVE.replace("eve", "ana")),
    "an app": ({"author": ("b[bot]", "Bot")}, COMMENTED, "`b[bot]` is an app, and not a person"),
    "an edited comment": ({"edited": "2026-11-01T10:00:01Z"}, COMMENTED, "the comment was edited"),
    "a forged comment": ({"said": "Nice work"}, COMMENTED, "the comment is not a command"),
    "a commit that came later": (pushed("10:00:01"), COMMENTED, MOVED),
    "a commit of the same second": (pushed("10:00:00"), COMMENTED, MOVED),
    "a push that GitHub does not know": (
        {"pushes": []},
        COMMENTED,
        "the head of #7 is aaaaaaaaaa, and when it came is not known",
    ),
    "a closed one": ({"state": "closed"}, COMMENTED, "#7 is closed, or its branch is gone"),
    "a label of a stranger": ({"labels": [(AT_TEN, "eve", "rubric-ci")]}, LABELLED, EVE),
    "a label before a commit": (pushed("11:00:00"), LABELLED, MOVED),
    "another head than was typed": (
        {"head": LATER},
        "workflow_dispatch",
        f"`sha` is not the head of #7, which is {LATER}",
    ),
}


@pytest.mark.parametrize(("state", "event", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused(
    state: dict[str, Any], event: str, reason: str, hub: GitHub, tmp_path: Path
) -> None:
    for name, value in state.items():
        setattr(hub, name, value)
    done = authorize(hub, tmp_path, event=event)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == f"not authorized: {reason}"
    assert (tmp_path / "output").read_text() == ""
    assert not any("reactions" in write for write in hub.writes)


OUR_LABEL = "only the label `rubric-ci` counts, when it is added"
PAYLOADS: dict[str, tuple[str, dict[str, Any], str]] = {
    "an edit": (
        *(COMMENTED, COMMENT | {"action": "edited"}),
        "only a new comment counts, not an edited one",
    ),
    "an issue": (
        *(COMMENTED, COMMENT | {"issue": {"number": 7}}),
        "the comment is not on a pull request",
    ),
    "another label": (LABELLED, LABEL | {"label": {"name": "bug"}}, OUR_LABEL),
    "a push": (LABELLED, LABEL | {"action": "synchronize"}, OUR_LABEL),
    "no inputs": (
        "workflow_dispatch",
        {"sender": {"login": "ana", "type": "User"}},
        "the inputs `pull-request` and `sha` are needed",
    ),
    "another event": ("push", {"x": 1}, "no person asks by the event `push`"),
}


@pytest.mark.parametrize(("event", "payload", "reason"), PAYLOADS.values(), ids=PAYLOADS)
def test_events_that_are_no_word(
    event: str, payload: dict[str, Any], reason: str, hub: GitHub, tmp_path: Path
) -> None:
    done = authorize(hub, tmp_path, event=event, payload=payload)
    assert (done.returncode, done.stdout) == (1, f"not authorized: {reason}\n")
    assert hub.writes == []


@pytest.mark.parametrize("event", ["issue_comment", "pull_request_target"])
def test_each_word_is_good_for_one_run(event: str, hub: GitHub, tmp_path: Path) -> None:
    assert authorize(hub, tmp_path, event=event).returncode == 0
    again = authorize(hub, tmp_path, event=event)
    reason = "this word was used before: each is good for one run"
    assert (again.returncode, again.stdout) == (1, f"not authorized: {reason}\n")


def test_a_run_that_is_started_again_needs_a_new_word(hub: GitHub, tmp_path: Path) -> None:
    done = authorize(hub, tmp_path, event="workflow_dispatch", GITHUB_RUN_ATTEMPT="2")
    reason = "a run that is started again needs a new word: each is good for one run"
    assert (done.returncode, done.stdout) == (1, f"not authorized: {reason}\n")


def test_help_and_a_late_commit_are_answered_in_the_comment(hub: GitHub, tmp_path: Path) -> None:
    hub.said = "/rubric-ci help"
    assert authorize(hub, tmp_path).returncode == 1
    hub.said, hub.head = "/rubric-ci run", LATER
    assert authorize(hub, tmp_path).returncode == 1
    help_text, late = (body.partition("\n")[2] for body in hub.comments)
    assert help_text.startswith("`/rubric-ci run` grades this pull request")
    assert late.strip() == (
        "Not graded: bbbbbbbbbb may have come after the word of @ana. Look at it, and ask again."
    )


def test_a_stranger_changes_no_comment(hub: GitHub, tmp_path: Path) -> None:
    hub.author, hub.said = ("eve", "User"), "/rubric-ci help"
    assert authorize(hub, tmp_path).returncode == 1
    assert hub.writes == []


def test_without_an_event_it_is_refused(hub: GitHub, tmp_path: Path) -> None:
    done = authorize(hub, tmp_path, GITHUB_REPOSITORY="")
    assert done.returncode == 2
    assert "this command reads the event of a workflow run" in done.stderr
