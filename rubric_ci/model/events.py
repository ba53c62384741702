"""The events of GitHub that have a base commit, and where their payloads name commits.

NOTE: `validate` imports this at every commit, so it needs nothing else.
"""

from typing import Final, Literal, TypeAlias

EventKind: TypeAlias = Literal["pull request", "merge group", "push"]

EVENTS: Final[dict[str, EventKind]] = {
    "pull_request": "pull request",
    "pull_request_target": "pull request",
    "pull_request_review": "pull request",
    "merge_group": "merge group",
    "push": "push",
}

HEAD_COMMIT: Final = (
    ("pull_request", "head", "sha"),
    ("merge_group", "head_sha"),
    ("after",),
)
BASE_COMMIT: Final = (
    ("pull_request", "base", "sha"),
    ("merge_group", "base_sha"),
    ("before",),  # zeros for a new branch
)


def is_before_merge(event: str) -> bool:
    """Return True for events of a change: the default of `--policy-from` is `base`."""
    return EVENTS.get(event) in {"pull request", "merge group"}
