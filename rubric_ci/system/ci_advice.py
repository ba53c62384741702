"""Where a variable that is missing is set: in a job, the line and the command; else nothing."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rubric_ci.system.actions_runner import in_other_ci, in_workflow

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
