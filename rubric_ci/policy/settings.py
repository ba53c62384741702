"""The policy of a run: what decides who judges and when the gate fails.

Policy is the judge, the gate, the budget of false alarms, the rule switches, the variables that may
be substituted, and which targets judge. A change to it takes effect after the merge: until then the
base's holds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Final

from rubric_ci.model.config import (
    CREDENTIALS,
    Config,
    Endpoint,
    JudgeConfig,
    LlmTarget,
    Target,
)
from rubric_ci.model.json_value import JSON

MAX_SHOWN: Final = 120  # characters of a value in a note

_SECRET: Final = CREDENTIALS - {"api_base", "base_url"}
_SECRET_ENDS: Final = ("_key", "_secret", "_token", "password")
_ABSENT: Final = "(none)"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """A setting of the policy that a change would set otherwise."""

    key: str  # "gate.fail_on"
    before: str
    after: str


def governed(head: Config, base: Config, *, configured: bool) -> Config:
    """Return head's configuration under the policy of the base.

    `configured` is False if the base has no configuration, which leaves the judges of its targets.
    """
    targets = {name: _judged_as(target, base) for name, target in head.targets.items()}
    if not configured:
        kept = {**head.targets, **{name: targets[name] for name in targets.keys() & base.targets}}
        return replace(head, targets=kept, judges={**head.targets, **base.targets})
    return replace(
        head,
        judge=base.judge,
        targets=targets,
        judges=base.targets,
        gate=base.gate,
        regression=base.regression,
        rules=base.rules,
        env_allow=base.env_allow,
    )


def endpoints(config: Config) -> Iterator[Endpoint]:
    """Yield the models of a configuration: the judge and the targets."""
    if config.judge:
        yield config.judge.endpoint
    for target in config.targets.values():
        if isinstance(target, LlmTarget):
            yield target.endpoint


def policy_changes(head: Config, base: Config) -> Iterator[PolicyChange]:
    """Yield the settings that differ between two configurations, in the order of their keys."""
    judges = set(_judge_targets(base)) | set(_judge_targets(head))
    then, now = (dict(_settings(config, judges)) for config in (base, head))
    for key in sorted(then.keys() | now.keys()):
        before, after = then.get(key, _ABSENT), now.get(key, _ABSENT)
        if before != after:
            shown = ("***", "***") if _is_secret(key) else (_shown(before), _shown(after))
            yield PolicyChange(key=key, before=shown[0], after=shown[1])


def rule_changes(head: Mapping[str, str], base: Mapping[str, str]) -> Iterator[PolicyChange]:
    """Yield the rule switches that differ, in the order of their names."""
    for name in sorted(head.keys() | base.keys()):
        before, after = base.get(name, _ABSENT), head.get(name, _ABSENT)
        if before != after:
            yield PolicyChange(key=f"rules.{name}", before=_shown(before), after=_shown(after))


def change_notes(title: str, changes: Sequence[PolicyChange]) -> tuple[str, ...]:
    """Return the lines that a report shows of changes; none without changes."""
    shown = (
        f"Policy change, in effect after the merge: {each.key}: {each.before} → {each.after}"
        for each in changes
    )
    return (title, *shown) if changes else ()


def _is_secret(key: str) -> bool:
    name = key.rpartition(".")[2].lower()
    return name in _SECRET or (name.endswith(_SECRET_ENDS) and "_cost_per_" not in name)


def _judged_as(target: Target, base: Config) -> Target:
    """Return the target with the judge that the base gives it; a new one may use a known judge."""
    if then := base.targets.get(target.name):
        return replace(target, judge_target=then.judge_target)
    known = target.judge_target in set(_judge_targets(base))
    return target if known else replace(target, judge_target="")


def _judge_targets(config: Config) -> Iterator[str]:
    return (target.judge_target for target in config.targets.values() if target.judge_target)


def _settings(config: Config, judges: set[str]) -> Iterator[tuple[str, str]]:
    """Yield every setting of the policy by its key, unset ones left out."""
    thresholds = config.gate.thresholds
    gate = {
        "fail_on": config.gate.fail_on.value,
        "thresholds.pass": thresholds.passing,
        "thresholds.borderline": thresholds.borderline,
        "min_kappa": config.gate.min_kappa,
        "min_pass_rate": config.gate.min_pass_rate,
        "max_waivers": config.gate.max_waivers,
        "on_weaker_grading": config.gate.on_weaker_grading,
        **{f"groups.{tag}.min_pass_rate": rate for tag, rate in config.gate.groups.items()},
    }
    yield from _flat("gate", gate)
    yield from _flat("regression", asdict(config.regression))
    yield from _flat("rules", config.rules)
    yield from _flat("env", {"allow": ", ".join(config.env_allow) or None})
    if config.judge:
        yield from chain(_endpoint("judge", config.judge.endpoint), _judge(config.judge))
    for name, target in config.targets.items():
        yield from _flat(f"targets.{name}", {"judge_target": target.judge_target or None})
        if name in judges and isinstance(target, LlmTarget):
            yield from _endpoint(f"targets.{name}", target.endpoint)


def _judge(judge: JudgeConfig) -> Iterator[tuple[str, str]]:
    own = {name: getattr(judge, name) for name in ("mode", "output", "evidence", "votes", "canary")}
    return _flat("judge", own)


def _endpoint(owner: str, endpoint: Endpoint) -> Iterator[tuple[str, str]]:
    facts = {"model": endpoint.model, "timeout_seconds": endpoint.timeout_seconds}
    return _flat(owner, {**endpoint.options, **facts})


def _flat(owner: str, values: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    return ((f"{owner}.{key}", str(value)) for key, value in values.items() if value is not None)


def _shown(value: str) -> str:
    text = " ".join(value.split())
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
