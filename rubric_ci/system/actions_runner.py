"""The runner of GitHub Actions: its events, whether it reads our output, how the action restarts.

NOTE: `validate` imports this at every commit, so it needs nothing else.
"""

from collections.abc import Mapping
from typing import Final, Literal, NoReturn, TypeAlias

RESTART: Final = "RUBRIC_CI_RESTART"
"""Set by `hooks/action.py`: the command that starts it again, as JSON."""

REQUIREMENTS: Final = "RUBRIC_CI_REQUIREMENTS"

EventKind: TypeAlias = Literal["pull request", "merge group", "push"]

EVENTS: Final[dict[str, EventKind]] = {
    "pull_request": "pull request",
    "pull_request_target": "pull request",
    "pull_request_review": "pull request",
    "merge_group": "merge group",
    "push": "push",
}

HEAD_COMMIT: Final = (("pull_request", "head", "sha"), ("merge_group", "head_sha"), ("after",))
BASE_COMMIT: Final = (
    ("pull_request", "base", "sha"),
    ("merge_group", "base_sha"),
    ("before",),  # zeros for a new branch
)


def in_workflow(environment: Mapping[str, str]) -> bool:
    return environment.get("GITHUB_ACTIONS") == "true"


def in_other_ci(environment: Mapping[str, str]) -> bool:
    """Return True in a job of another CI system: most set `CI`, Azure Pipelines sets `TF_BUILD`."""
    known = (environment.get("CI", ""), environment.get("TF_BUILD", ""))
    return not in_workflow(environment) and any(each.lower() in {"true", "1"} for each in known)


def can_install(environment: Mapping[str, str]) -> bool:
    """Return True if the action can install the packages that are missing."""
    return bool(environment.get(RESTART))


def restart(environment: Mapping[str, str]) -> NoReturn:
    """Let the action install every package and start this command again, in this process."""
    import json
    import os
    import sys

    command = json.loads(environment[RESTART])
    known = {name: value for name, value in environment.items() if name != RESTART}
    known[REQUIREMENTS] = "judge"
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # NOTE: exec on Windows starts a second process and returns at once
        import subprocess

        sys.exit(subprocess.run(command, env=known, check=False).returncode)
    os.execve(command[0], command, known)  # noqa: S606 - there is no shell on purpose


def is_before_merge(event: str) -> bool:
    """Return True for events of a change: the default of `--policy-from` is `base`."""
    return EVENTS.get(event) in {"pull request", "merge group"}
