"""The roles that a workflow runs in: whose change it is, the event, secrets and rights."""

from dataclasses import dataclass
from typing import Any, Literal

MAIN, QUEUE = "refs/heads/main", "refs/heads/gh-readonly-queue/main/pr-7-0123456"
DEPENDABOT = "dependabot[bot]"

Event = Literal["pull_request", "merge_group", "push", "schedule", "workflow_dispatch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One way in which GitHub starts a workflow of acme/app."""

    event: Event = "pull_request"
    head: str = "acme/app"  # the repository that the change comes from
    is_fork: bool = False  # of anything: the head's repository, and ours if it is the same
    author: str = "acme"
    actor: str = "acme"

    @property
    def is_trusted(self) -> bool:
        """Whether GitHub gives the run secrets and a token that writes."""
        withheld = self.event in {"pull_request", "push"} and self.actor == DEPENDABOT
        return self.head == "acme/app" and not withheld


ROLES = {
    "base": Role(),
    "fork": Role(head="someone/app", is_fork=True, author="someone", actor="someone"),
    "copy-that-is-no-fork": Role(head="someone/app"),
    "in-a-forked-repository": Role(is_fork=True),
    "dependabot": Role(author=DEPENDABOT, actor=DEPENDABOT),
    "commit-on-dependabots-branch": Role(author=DEPENDABOT),
    "merge-group": Role(event="merge_group"),
    "push": Role(event="push"),
    "push-by-dependabot": Role(event="push", actor=DEPENDABOT),
    "schedule": Role(event="schedule"),
    "dispatch": Role(event="workflow_dispatch"),
}


def payload(role: Role, base: str, head: str, merge: str) -> dict[str, Any]:
    """Return the event as GitHub sends it, in the fields that something reads."""
    ours = role.is_fork and role.head == "acme/app"
    repository = {"full_name": "acme/app", "default_branch": "main", "fork": ours}
    common: dict[str, Any] = {"repository": repository}
    match role.event:
        case "pull_request":
            return common | {"number": 7, "pull_request": pull_request(role, base, head)}
        case "merge_group":
            group = {"base_sha": base, "base_ref": MAIN, "head_sha": merge, "head_ref": QUEUE}
            return common | {"action": "checks_requested", "merge_group": group}
        case "push":
            return common | {"ref": MAIN, "before": "0" * 40, "after": base}
        case "schedule":
            return common | {"schedule": "43 2 * * *"}
        case "workflow_dispatch":
            return common | {"ref": MAIN, "inputs": {}}


def pull_request(role: Role, base: str, head: str) -> dict[str, Any]:
    """Return the pull request of an event."""
    repository = {"full_name": role.head, "fork": role.is_fork, "owner": owner(role)}
    return {
        "number": 7,
        "user": {"login": role.author},
        "head": {"sha": head, "ref": "topic", "repo": repository},
        "base": {"sha": base, "ref": "main"},
    }


def finished(role: Role, head: str, conclusion: str) -> dict[str, Any]:
    """Return the event `workflow_run` of a run that has ended."""
    changes = role.event in {"pull_request", "merge_group"}
    run = {
        "id": 1,
        "event": role.event,
        "conclusion": conclusion,
        "head_sha": head,
        "head_branch": "topic" if changes else "main",
        "head_repository": {"full_name": role.head, "owner": owner(role)},
        "html_url": "https://github.com/acme/app/actions/runs/1",
    }
    return {"workflow_run": run, "repository": {"full_name": "acme/app", "default_branch": "main"}}


def owner(role: Role) -> dict[str, str]:
    """Return the owner of the repository that a change comes from."""
    return {"login": role.head.partition("/")[0]}
