"""The settings of the policy that a change would set otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rubric_ci.gate.policy.settings import SETTINGS, Setting, Side, sides
from rubric_ci.gate.policy.strength import Move
from rubric_ci.values.changes import Direction, GradingChangeKind
from rubric_ci.values.config import CREDENTIALS, Config
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON

MAX_SHOWN: Final = 120  # characters of a value in a note

_SECRET: Final = CREDENTIALS - {"api_base", "base_url"}
_SECRET_ENDS: Final = ("_key", "_secret", "_token", "password")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """A setting of the policy with another value; values are texts to show."""

    key: str  # "gate.fail_on"
    before: str  # "": it was not set
    after: str
    direction: Direction = "changed"
    kind: GradingChangeKind | None = None  # None: it decides no verdict


def policy_changes(head: Config, base: Config) -> Iterator[PolicyChange]:
    """Yield the settings that differ between two configurations, in the order of their keys."""
    now, then = sides(head, base)
    found = (change for setting in SETTINGS for change in _changes(setting, now, then))
    yield from sorted(found, key=lambda change: change.key)


def rule_changes(head: Mapping[str, str], base: Mapping[str, str]) -> Iterator[PolicyChange]:
    """Yield the rule switches that differ, in the order of their names."""
    yield from policy_changes(Config(rules=head), Config(rules=base))


def change_notes(title: str, changes: Sequence[PolicyChange]) -> tuple[str, ...]:
    """Return the lines that a report shows of changes; none without changes."""
    shown = (change_note(each.key, each.before, each.after) for each in changes)
    return (title, *shown) if changes else ()


def change_note(key: str, before: str, after: str) -> str:
    """Return the line about one change."""
    moved = f"{before or '(none)'} → {after or '(none)'}"
    return f"Policy change, in effect after the merge: {key}: {moved}"


def _changes(setting: Setting, head: Side, base: Side) -> Iterator[PolicyChange]:
    then, now = setting.read(base), setting.read(head)
    for key in {**then, **now}:
        before, after = (side.get(key, setting.unset(key)) for side in (then, now))
        if before != after:
            move = Move(before=before, after=after, base=base.config, head=head.config)
            yield PolicyChange(
                key=key,
                before="***" if _is_secret(key) else _shown(before),
                after="***" if _is_secret(key) else _shown(after),
                direction=setting.order.direction(move),
                kind=setting.kind,
            )


def _is_secret(key: str) -> bool:
    name = key.rpartition(".")[2].lower()
    return name in _SECRET or (name.endswith(_SECRET_ENDS) and "_cost_per_" not in name)


def _shown(value: JSON) -> str:
    if value is None:
        return ""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
