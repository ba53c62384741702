"""The base that `run --against auto` compares with, for each event of a workflow; real git."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ENVIRONMENT, Checkout
from tests.cli.commands.test_run_against import cases
from tests.invoke import invoke

PULL_REQUEST = "the pull request's base branch"


def answering(side: str) -> dict[str, str]:
    return {"rubric-ci.yaml": f"targets: [{{name: default, provider: mock, response: {side}}}]\n"}


class Change:
    """`topic` left `main`, which moved on; `merge` is the merge commit that GitHub makes."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        files = {".gitignore": ".rubric-ci/\n", "evals/a.yaml": cases("one")}
        self.commits = {"start": checkout.commit(files | answering("hello"))}
        checkout.git("switch", "--quiet", "--create", "topic")
        self.commits["first"] = checkout.commit({"a.txt": "1"})
        self.commits["topic"] = checkout.commit(answering("bye"))
        checkout.git("switch", "--quiet", "main")
        self.commits["main"] = checkout.commit({"b.txt": "1"})
        checkout.git("switch", "--quiet", "--detach")
        checkout.git("merge", "--quiet", "--no-edit", "topic")
        self.commits["merge"] = checkout.git("rev-parse", "HEAD")
        for name in ("main", "HEAD"):
            checkout.git("update-ref", f"refs/remotes/origin/{name}", self.commits["main"])

    def against(self, at: str, event: str, payload: dict[str, Any], folder: Path) -> dict[str, Any]:
        """Check a commit out, run as the event would, and return the report."""
        self.checkout.git("switch", "--quiet", "--detach", self.commits[at])
        file = folder / "event.json"
        file.write_text(json.dumps(payload))
        workflow = {
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(file),
            "GITHUB_SHA": self.commits[at],
            "GITHUB_REF": "refs/heads/topic",
        }
        arguments = ("run", "evals", "--against", "auto", "--policy-from", "head")
        invoke(self.checkout.root, ENVIRONMENT | (workflow if event else {}), *arguments)
        report = self.checkout.root / ".rubric-ci/report.json"
        read: dict[str, Any] = json.loads(report.read_text())
        return read


@pytest.fixture
def change(checkout: Checkout) -> Change:
    return Change(checkout)


FOUND = {
    "pull_request": ("merge", "pull_request", "main", PULL_REQUEST),
    "pull_request, its own head": (
        "topic", "pull_request", "start", f"the last common commit with {PULL_REQUEST}",
    ),
    "pull_request, main moved after the event": ("merge", "moved", "main", PULL_REQUEST),
    "pull_request, its own head, and main moved": (
        "topic", "moved", "start", f"the last common commit with {PULL_REQUEST}",
    ),
    "push": ("topic", "push", "first", "the branch before the push"),
    "no event": ("topic", "", "start", "the last common commit with `origin/HEAD`"),
}  # fmt: skip


def payload(event: str, commits: dict[str, str]) -> dict[str, Any]:
    main, repository = commits["main"], {"repository": {"default_branch": "main"}}
    head = {"sha": commits["topic"], "ref": "topic", "repo": {"full_name": "o/r"}}
    pull = {"number": 1, "base": {"sha": main}, "head": head}
    payloads: dict[str, dict[str, Any]] = {
        "pull_request": {"pull_request": pull},
        "moved": {"pull_request": pull | {"base": {"sha": commits["start"]}}},
        "push": {"before": commits["first"], "after": commits["topic"]},
    }
    return repository | payloads.get(event, {})


@pytest.mark.parametrize(("at", "event", "base", "origin"), FOUND.values(), ids=FOUND)
def test_the_base_of_each_event(
    change: Change, tmp_path: Path, at: str, event: str, base: str, origin: str
) -> None:
    name = event.replace("moved", "pull_request")
    report = change.against(at, name, payload(event, change.commits), tmp_path)
    against, (case,) = report["against"], report["cases"]
    assert (against["ref"], against["commit"]) == ("auto", change.commits[base])
    assert against["origin"] == origin
    assert (case["change"], case["before"]["answer"]) == ("broken", "hello")


def test_the_reason_without_a_base(change: Change, tmp_path: Path) -> None:
    report = change.against("topic", "schedule", {}, tmp_path)
    (case,) = report["cases"]
    assert (report["against"]["commit"], report["verdict"]) == ("", "fail")
    reason = "no base: `schedule` events have no base commit"
    assert (case["change"], case["change_reason"]) == ("not-comparable", reason)
