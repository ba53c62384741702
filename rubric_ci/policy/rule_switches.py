"""The rule switches that `validate` follows: the base's on a pull request in CI."""

from collections.abc import Iterator

from rubric_ci.policy.changes import change_notes, rule_changes
from rubric_ci.policy.source import find_policy, under
from rubric_ci.project.change import BaseOptions, open_change
from rubric_ci.project.project import Project


def under_policy(project: Project, policy_from: str) -> tuple[Project, tuple[str, ...]]:
    """Return the project under the rule switches of its policy, and what to show of them.

    A policy with errors keeps the switches that can be read, so that a change can repair it.
    Raises CannotReadPolicy if the policy cannot be read.
    """
    change = open_change(project.root, BaseOptions(policy_from=policy_from))
    policy = find_policy(project, policy_from, change)
    if policy is None:
        return project, ()
    return under(project, policy), tuple(_notes(project, policy))


def _notes(own: Project, policy: Project) -> Iterator[str]:
    if policy.config_name:
        title = f"Policy (rule switches) is that of {policy.origin}"
        yield from change_notes(title, list(rule_changes(own.rules, policy.rules)))
    elif own.rules:
        yield f"{policy.origin} has no configuration: this change sets the rules"
