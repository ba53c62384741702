"""A pull request as the runner checks it out: base, head and merge commit, a clone of depth 2."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.checkout import Checkout
from tests.security.hostile_pull_requests.objects import Objects

ROOT = Path(__file__).parents[3]
WORKFLOW = ROOT / ".github/workflows/gate.yml"

Files = Mapping[str, str | None]
"""Texts by path; None deletes a file of the base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A clone of the merge commit, and the environment of the step that grades it."""

    clone: Checkout
    environment: Mapping[str, str]


def open_pull_request(
    folder: Path, base: Files, head: Files, *, fork: bool = False, depth: int = 2
) -> PullRequest:
    """Commit base, head and merge, clone the merge commit as actions/checkout does.

    The clone is written without the three programs of git that clone a repository.
    """
    before = {name: text for name, text in base.items() if text is not None}
    after = {name: text for name, text in {**before, **head}.items() if text is not None}
    later = {"README.md": "The base branch went on.\n"}
    clone = Checkout.create(folder / "clone")
    kept, lacking = Objects(clone.root / ".git/objects"), Objects(None)
    first = lacking.commit(before)
    topic = (kept if depth > 1 else lacking).commit(after, first)
    tip = (kept if depth > 1 else lacking).commit(before | later, first)
    merge = kept.commit(after | later, tip, topic)
    ends = (tip, topic) if depth > 1 else (merge,)
    written = {
        "shallow": "".join(f"{end}\n" for end in sorted(ends)),
        "refs/heads/merge": f"{merge}\n",
        "refs/remotes/origin/merge": f"{merge}\n",
        "HEAD": "ref: refs/heads/merge\n",
    }
    clone.write({f".git/{name}": text for name, text in written.items()})
    clone.git("reset", "--quiet", "--hard")
    event = folder / "event.json"
    event.write_text(json.dumps(_payload(tip, topic, fork=fork)), encoding="utf-8")
    step = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_REF": "refs/pull/7/merge",
        "GITHUB_REPOSITORY": "acme/app",
        "GITHUB_SHA": merge,
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_WORKSPACE": str(clone.root),
    }
    return PullRequest(clone=clone, environment=step | inputs(fork=fork))


def inputs(*, fork: bool) -> dict[str, str]:
    """Return the options that the gate gives, as the action passes them on."""
    given, names = _given(), _names()
    assert {"changed-since", "against", "offline"} <= given.keys() & names.keys()
    evaluated = {**given, "offline": str(fork).lower(), "max-cost-usd": "5", "env": ""}
    return {names[key]: str(value) for key, value in evaluated.items() if key in names}


@cache
def _given() -> Mapping[str, Any]:
    """Return the inputs that the gate gives to the action, its own with their defaults."""
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    steps = (step["with"] for step in job["steps"] if "rubric-ci/" in step.get("uses", ""))
    (given,) = (each for each in steps if each["command"] == "run")
    own = workflow[True]["workflow_call"]["inputs"]  # YAML reads `on` as a boolean
    defaults = {f"${{{{ inputs.{name} }}}}": each["default"] for name, each in own.items()}
    return {name: defaults.get(value, value) for name, value in given.items()}


@cache
def _names() -> Mapping[str, str]:
    """Return the variable in which the action passes on each input for `run`."""
    (step,) = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    return {
        value.removeprefix("${{ inputs.").removesuffix(" }}"): name
        for name, value in step["env"].items()
        if name.startswith("RUBRIC_CI_RUN_")
    }


def _payload(base: str, head: str, *, fork: bool) -> Any:
    owner = "stranger/app" if fork else "acme/app"
    pull = {
        "number": 7,
        "base": {"sha": base, "ref": "main"},
        "head": {"sha": head, "ref": "topic", "repo": {"full_name": owner}},
    }
    return {"pull_request": pull, "repository": {"default_branch": "main"}}
