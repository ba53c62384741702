"""The settings of the policy that a change would set otherwise."""

from collections.abc import Iterator, Mapping, Sequence

from rubric_ci.gate.differences.config_changes import ConfigChange, config_changes
from rubric_ci.values.config import Config


def policy_changes(head: Config, base: Config) -> Iterator[ConfigChange]:
    """Yield the settings that differ between two configurations, in the order of their keys."""
    return (change for change in config_changes(head, base) if change.is_policy)


def rule_changes(head: Mapping[str, str], base: Mapping[str, str]) -> Iterator[ConfigChange]:
    """Yield the rule switches that differ, in the order of their names."""
    yield from policy_changes(Config(rules=head), Config(rules=base))


def change_notes(title: str, changes: Sequence[ConfigChange]) -> tuple[str, ...]:
    """Return the lines that a report shows of changes; none without changes."""
    shown = (change_note(each.key, each.before, each.after) for each in changes)
    return (title, *shown) if changes else ()


def change_note(key: str, before: str, after: str) -> str:
    """Return the line about one change."""
    moved = f"{before or '(none)'} → {after or '(none)'}"
    return f"Policy change, in effect after the merge: {key}: {moved}"
