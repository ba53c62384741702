"""The runner of GitHub Actions: its events, its variables, and how the action restarts.

Also where a job, of any CI system, sets a variable that is missing: the line and the command.
NOTE: `validate` imports this at every commit, so it needs nothing else.
"""

import re
from collections.abc import Mapping
from pathlib import Path
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


_PUBLIC: Final = re.compile(r"_(?:BASE|ENDPOINT|REGION|PROJECT|LOCATION)$")
_CALLS_OURS: Final = re.compile(r"uses: *[\"']?rubric-ci/rubric-ci/\.github/workflows/")


def is_public(name: str) -> bool:
    """Return True for a variable that is not a secret, such as the address of a server."""
    return bool(_PUBLIC.search(name))


def in_a_job(environment: Mapping[str, str]) -> bool:
    return in_workflow(environment) or in_other_ci(environment)


def command_to_set(name: str) -> str:
    """Return the command that sets a secret or a variable of a GitHub repository."""
    return f"gh {'variable' if is_public(name) else 'secret'} set {name}"


def how_to_set(name: str, environment: Mapping[str, str]) -> str:
    """Return how a job gets a variable; empty: this is not a job."""
    if in_workflow(environment):
        file, text = _workflow(environment)
        (line, keys), place = _line(name, text), file or "the workflow"
        given = re.compile(rf"\b{re.escape(name)}\s*[=:]")
        if any(
            "${{" in each[at.end() :] for each in text.splitlines() if (at := given.search(each))
        ):
            return f"run `{command_to_set(name)}`: {line} in {keys} of {place} has no value"
        return f"run `{command_to_set(name)}`, and add {line} to {keys} in {place}"
    if in_other_ci(environment):
        return f"set {name} among the variables of the CI job"
    return ""


def workflow_file(environment: Mapping[str, str]) -> str:
    """Return the file of the workflow that runs, such as `.github/workflows/evals-gate.yml`."""
    path = environment.get("GITHUB_WORKFLOW_REF", "").partition("@")[0]
    _, found, name = path.partition("/.github/workflows/")
    return f".github/workflows/{name}" if found else ""


def _workflow(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the file of the workflow that runs, and its text; empty: it is not in the checkout."""
    file = workflow_file(environment)
    try:
        path = Path(environment.get("GITHUB_WORKSPACE", "")) / file
        return file, path.read_text(encoding="utf-8") if file else ""
    except (OSError, ValueError):
        return file, ""


def _line(name: str, text: str) -> tuple[str, str]:
    """Return the line that passes a variable on, and where: in a workflow that calls, in a step."""
    value = f"${{{{ {'vars' if is_public(name) else 'secrets'}.{name} }}}}"
    if _CALLS_OURS.search(text):
        return f"`{name}={value}`", "`secrets: env:`"
    return f"`{name}: {value}`", "`env:` of the step"
