"""Settings of two configurations that differ: of the policy, and of the way to an answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from rubric_ci.gate.differences.case_changes import moves
from rubric_ci.gate.differences.effect_of_each_key import Row
from rubric_ci.gate.differences.move import Move
from rubric_ci.values.changes import Direction, GradingChange, GradingChangeKind
from rubric_ci.values.config import Config
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.hosts import CREDENTIALS
from rubric_ci.values.json_value import JSON
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.walk import ABSENT, Path, differences

FREE: Final = frozenset(
    (
        *("frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens"),
        *("metadata", "min_p", "modalities", "n", "parallel_tool_calls", "prediction"),
        *("presence_penalty", "reasoning_effort", "repetition_penalty", "response_format", "seed"),
        *("service_tier", "stop", "stop_sequences", "store", "temperature", "thinking"),
        *("tool_choice", "tools", "top_k", "top_logprobs", "top_p", "user", "verbosity"),
        *("input_cost_per_token", "output_cost_per_token"),
        *("input_cost_per_second", "output_cost_per_second"),
    )
)
"""Options that are sent as data, or are prices. An option that is not listed is the base's."""
_SECRET: Final = CREDENTIALS - {"api_base", "base_url", "url_before"}
_SECRET_ENDS: Final = ("_key", "_secret", "_token", "password")


def connection(endpoint: Endpoint) -> Mapping[str, JSON]:
    return {key: value for key, value in endpoint.options.items() if key not in FREE}


def judge_targets(config: Config) -> frozenset[str]:
    return frozenset(
        target.judge_target for target in config.targets.values() if target.judge_target
    )


def is_secret(key: str) -> bool:
    name = key.rpartition(".")[2].lower()
    return name in _SECRET or (name.endswith(_SECRET_ENDS) and "_cost_per_" not in name)


MAX_SHOWN: Final = 120  # characters of a value
_RENAMED: Final = {"argv": "command", "identity": "auth"}
_OF_BASE: Final = (["cost_per_run"], ["program", "env"])
_INNER: Final = frozenset(("endpoint", "options", "http", "program"))  # not written by a user


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChange:
    """A setting with another value; values are texts to show."""

    key: str  # "gate.fail_on"
    before: str  # "": it was not set
    after: str
    direction: Direction = "changed"
    kind: GradingChangeKind | None = None  # None: it decides no verdict
    is_policy: bool = True  # it takes effect after the merge


def config_changes(head: Config, base: Config) -> Iterator[ConfigChange]:
    """Yield the settings that differ, in the order of their keys, each once."""
    found: dict[tuple[str, str | None], ConfigChange] = {}
    walked = differences(base, head, opened=True)
    for row, move in moves("config", walked, base=base, head=head):
        for change in _changes(row, move):
            one = found.setdefault((change.key, change.kind), change)
            before, after = one.before or change.before, change.after or one.after
            found[change.key, change.kind] = replace(one, before=before, after=after)
    for name in measures_of(head, base) & (base.targets.keys() - head.targets.keys()):
        was = base.targets[name].answered_by or "written down"
        found[f"targets.{name}", "target"] = ConfigChange(
            key=f"targets.{name}", before=was, after="", kind="target", is_policy=False
        )
    yield from sorted(found.values(), key=lambda change: change.key)


def _changes(row: Row, move: Move) -> Iterator[ConfigChange]:
    kind, is_policy = row.kind, row.effect == "policy"
    if move.path[0] == "targets" and row.pattern != "targets.*.judge_target":
        kind, is_policy = _of_target(row, move)
    if row.effect == "none" or (kind is None and not is_policy):
        return
    key = row.shown or key_of(move.path)
    before, after = (_value(each, key) for each in (move.before, move.after))
    if before == after:  # the default, written down
        return
    for direction, was, now in row.told(replace(move, before=before, after=after)):
        secret = is_secret(key)
        yield ConfigChange(
            key=key,
            before="***" if secret else _shown(was),
            after="***" if secret else _shown(now),
            direction=direction,
            kind=kind,
            is_policy=is_policy,
        )


def _of_target(row: Row, move: Move) -> tuple[GradingChangeKind | None, bool]:
    """Return the kind of a change of a target, and whether the base's setting holds."""
    base, head, (_, name, *rest) = move.base, move.head, move.path
    judges = name in judge_targets(base) | judge_targets(head)
    if judges and rest[:1] == ["endpoint"] and rest[1:2] != ["http"]:
        return "judge", True
    if name not in base.targets or name not in head.targets:
        return None, False
    if name in measures_of(head, base) and row.effect == "under test":
        return "target", False
    if rest[:2] == ["endpoint", "options"] and rest[2] not in FREE:
        own = rest[2] == "api_base" and head.targets[name].program
        return "target", _is_kept(name, move) and not own  # of one that a run starts: the run's
    if rest in _OF_BASE:
        return "target", _is_kept(name, move)
    # A setting of the same kind of target is of what is written down, or of how it is asked.
    written_down = rest and row.kind == "target" and head.targets[name].is_at_hand
    return "recording" if written_down else row.kind, False


def _is_kept(name: str, move: Move) -> bool:
    """Return True for a target with a model of one provider, or one program, on both sides."""
    then, now = (config.targets[name].credential_of for config in (move.base, move.head))
    return bool(then) and then == now


def measures_of(head: Config, base: Config) -> frozenset[str]:
    """Return the names of the targets that must be exceeded; nothing of them is under test."""
    return frozenset((head.gate.better_than, base.gate.better_than)) - {""}


def key_of(path: Path) -> str:
    """Return the key of a setting, as a user writes it."""
    match path:
        case ("judge", "others", number, *rest):
            return ".".join(["judge", str(int(number) + 2), *_written(rest)])
        case ("judge" | "targets", *rest):
            return ".".join([path[0], *_written(rest)])
        case _:
            return ".".join(path)


def _written(steps: list[str]) -> list[str]:
    inner = {*_INNER, *({"command"} if steps[-1:] != ["command"] else ())}
    return [_RENAMED.get(step, step) for step in steps if step not in inner]


def _value(value: object, key: str) -> object:
    """Return a value as orders compare it; a rule that is not set has its default."""
    if value is not ABSENT:
        return value
    if key.startswith("rules."):
        from rubric_ci.files.validation.rules import RULES  # with every rule; few change one

        rule = RULES.get(key.removeprefix("rules."))
        return rule.severity if rule else None
    return None


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"


def policy_changes(head: Config, base: Config) -> Iterator[ConfigChange]:
    return (change for change in config_changes(head, base) if change.is_policy)


def change_notes(title: str, changes: Sequence[ConfigChange]) -> tuple[str, ...]:
    """Return the lines that a report shows of changes; none without changes."""
    shown = (change_note(each.key, each.before, each.after) for each in changes)
    return (title, *shown) if changes else ()


def change_note(key: str, before: str, after: str) -> str:
    moved = f"{before or '(none)'} → {after or '(none)'}"
    return f"Policy change, in effect after the merge: {key}: {moved}"


LineOf: TypeAlias = Callable[[str], tuple[str, int]]
"""A key such as `gate.fail_on` or `targets.agent.depends_on` to its file and line."""


def setting_changes(head: Config, base: Config, line_of: LineOf) -> Iterator[GradingChange]:
    """Yield the settings that grade otherwise, each at its line."""
    for change in config_changes(head, base):
        if change.kind is None:
            continue
        file, line = line_of(change.key)
        yield GradingChange(
            kind=change.kind,
            direction=change.direction,
            about=change.key,
            file=file,
            line=line,
            before=change.before,
            after=change.after,
        )
