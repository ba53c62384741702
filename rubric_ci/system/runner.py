"""Whether a runner of GitHub Actions reads what this process prints."""

from collections.abc import Mapping


def in_workflow(environment: Mapping[str, str]) -> bool:
    """Return True in a job of GitHub Actions."""
    return environment.get("GITHUB_ACTIONS") == "true"
