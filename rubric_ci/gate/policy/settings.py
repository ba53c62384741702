"""The settings that are policy: they decide who judges and when the gate fails.

One row per setting: its key, how it is read, which values are weaker, and what a change of it is to
the grading. A change to the policy takes effect after the merge: until then the base's holds.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, Final, NamedTuple

from rubric_ci.gate.policy.strength import (
    UNKNOWN,
    Order,
    chosen,
    connected,
    connection,
    demand,
    group_rate,
    held_options,
    left_out,
    maximum,
    minimum,
    pass_rate,
    price_held,
    priced,
    program,
    provider,
    words,
)
from rubric_ci.values.changes import GradingChangeKind
from rubric_ci.values.config import CliTarget, Config, Endpoint, LlmTarget, Target
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.json_value import JSON


class Side(NamedTuple):
    """A configuration, and what base and head say together."""

    config: Config
    judging: frozenset[str]  # targets that judge at the base or at the head
    kept: frozenset[str]  # targets with a model of the same provider, or one program, at both


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting, or one for each of several names (`*`)."""

    key: str
    field: str  # of `Config`, which is the base's as a whole; empty: a part of a target
    kind: GradingChangeKind | None  # None: it decides no verdict
    read: Callable[[Side], Mapping[str, JSON]]  # by key; settings that are not set are left out
    unset: Callable[[str], JSON] = lambda _: None  # the value of a key that is not set
    order: Order = UNKNOWN


def _gate(
    key: str, order: Order = UNKNOWN, read: Callable[[GateConfig], JSON] | None = None
) -> Setting:
    """Return a setting of the gate; its field has the name of its key, or `read` returns it."""
    value = read or (lambda gate: getattr(gate, key))
    return Setting(
        key=f"gate.{key}",
        field="gate",
        kind="gate",
        read=lambda side: _set({f"gate.{key}": value(side.config.gate)}),
        order=order,
    )


def _regression(key: str, order: Order = UNKNOWN) -> Setting:
    return Setting(
        key=f"regression.{key}",
        field="regression",
        kind="gate",  # which breaks count
        read=lambda side: {f"regression.{key}": getattr(side.config.regression, key)},
        order=order,
    )


def _untrusted(key: str) -> Setting:
    return Setting(
        key=f"untrusted.{key}",
        field="untrusted",
        kind=None,  # a case that is above a cap has no verdict
        read=lambda side: {f"untrusted.{key}": getattr(side.config.untrusted, key)},
    )


def _judge(key: str, order: Order = UNKNOWN) -> Setting:
    return Setting(
        key=f"judge.{key}",
        field="judge",
        kind="judge",
        read=lambda side: _set({f"judge.{key}": getattr(side.config.judge, key, None)}),
        order=order,
    )


def _rule_default(key: str) -> JSON:
    from rubric_ci.files.validation.rules import RULES  # with every rule; few change a severity

    rule = RULES.get(key.removeprefix("rules."))
    return rule.severity if rule else None


SETTINGS: Final = (
    _gate(
        "fail_on",
        words("never", "regression", "fail", "borderline"),
        lambda gate: gate.fail_on,
    ),
    _gate("thresholds.pass", minimum(), lambda gate: gate.thresholds.passing),
    _gate("thresholds.borderline", minimum(), lambda gate: gate.thresholds.borderline),
    _gate("min_kappa", minimum()),
    _gate("min_pass_rate", pass_rate()),
    Setting(
        key="gate.groups.*.min_pass_rate",
        field="gate",
        kind="gate",
        read=lambda side: {
            f"gate.groups.{tag}.min_pass_rate": rate
            for tag, rate in side.config.gate.groups.items()
        },
        order=group_rate(),
    ),
    _gate("max_waivers", maximum()),
    _gate("better_than", demand(), read=lambda gate: gate.better_than or None),
    _gate("tags", chosen(), read=lambda gate: list(gate.tags) or None),
    _gate("not_tags", left_out(), read=lambda gate: list(gate.not_tags) or None),
    _gate("targets", read=lambda gate: list(gate.targets) or None),
    _gate("on_weaker_grading", words("note", "fail")),
    _gate("on_changed_grading", words("note", "review", "fail")),
    _gate("require_rubrics", words(False, True)),
    _gate("require_verdict", words(False, True)),
    _regression("variants"),
    _regression("repeated", words("note", "broken")),
    _regression("cluster"),
    Setting(
        key="rules.*",
        field="rules",
        kind="rule",
        read=lambda side: {f"rules.{rule}": word for rule, word in side.config.rules.items()},
        unset=_rule_default,
        order=words("off", "notice", "warning", "error"),
    ),
    Setting(
        key="env.allow",
        field="env_allow",
        kind=None,
        read=lambda side: _set({"env.allow": list(side.config.env_allow) or None}),
    ),
    *(_untrusted(key) for key in ("max_cost_usd", "max_cases", "max_characters")),
    _judge("mode"),
    _judge("output"),
    _judge("evidence", words("warn", "strict")),
    _judge("votes"),
    _judge("canary", words(False, True)),
    _judge("images", words("off", "auto", "required")),
    Setting(
        key="judge.*",
        field="judge",
        kind="judge",
        read=lambda side: (
            {
                key: value
                for n, each in enumerate(side.config.judge.endpoints)
                for key, value in _options(f"judge.{n + 1}" if n else "judge", each).items()
            }
            if side.config.judge
            else {}
        ),
    ),
    Setting(
        key="targets.*.judge_target",
        field="",
        kind="judge",
        read=lambda side: {
            f"targets.{name}.judge_target": target.judge_target
            for name, target in side.config.targets.items()
            if target.judge_target
        },
    ),
    Setting(
        key="targets.*.*",
        field="",
        kind="judge",  # of a target that judges
        read=lambda side: {
            key: value
            for name, target in side.config.targets.items()
            if name in side.judging and isinstance(target, LlmTarget)
            for key, value in _options(f"targets.{name}", target.endpoint).items()
        },
    ),
    Setting(
        key="targets.*.*",
        field="",
        kind="target",  # of one that answers: where it is asked, and with which credential
        read=lambda side: {
            f"targets.{name}.{key}": value
            for name, target in side.config.targets.items()
            if name in side.kept - side.judging and isinstance(target, LlmTarget)
            for key, value in connection(target.endpoint).items()
        },
    ),
    Setting(
        key="targets.*.cost_per_run",
        field="",
        kind=None,  # a limit in dollars decides no verdict
        read=lambda side: _set(
            {
                f"targets.{name}.cost_per_run": target.cost_per_run
                for name, target in side.config.targets.items()
                if name in side.kept and isinstance(target, CliTarget)
            }
        ),
    ),
)


def governed(head: Config, base: Config, *, configured: bool) -> Config:
    """Return head's configuration under the policy of the base.

    `configured` is False if the base has no configuration, which leaves the judges of its targets.
    """
    targets = {name: _judged_as(target, base) for name, target in head.targets.items()}
    if not configured:
        kept = {**head.targets, **{name: targets[name] for name in targets.keys() & base.targets}}
        return replace(head, targets=kept, judges={**head.targets, **base.targets})
    taken: dict[str, Any] = {
        setting.field: getattr(base, setting.field) for setting in SETTINGS if setting.field
    }
    targets = {name: _connected(target, base) for name, target in targets.items()}
    mode = base.auto_mode  # part of `judge`
    return replace(head, targets=targets, judges=base.targets, auto_mode=mode, **taken)


def with_known_prices(head: Config, base: Config, is_listed: Callable[[str], bool]) -> Config:
    """Return the configuration without prices that a change sets for models of known price."""
    known = tuple(endpoints(base))
    targets = {
        name: priced(target, known, is_listed) if isinstance(target, LlmTarget) else target
        for name, target in head.targets.items()
    }
    return replace(head, targets=targets)


def _connected(target: Target, base: Config) -> Target:
    then = base.targets.get(target.name)
    if isinstance(target, CliTarget):
        known = then.agent if isinstance(then, CliTarget) else None
        held = held_options(target.agent, known) if target.agent else ()
        return replace(price_held(target, base), held=held)
    if not isinstance(target, LlmTarget):
        return target
    return connected(target, then if isinstance(then, LlmTarget) else None, endpoints(base))


def endpoints(config: Config) -> Iterator[Endpoint]:
    """Yield the models of a configuration: the judge and the targets."""
    if config.judge:
        yield from config.judge.endpoints
    for target in config.targets.values():
        if isinstance(target, LlmTarget):
            yield target.endpoint


def sides(head: Config, base: Config) -> tuple[Side, Side]:
    """Return the head and the base, each with the judging targets of both."""
    judging = judge_targets(base) | judge_targets(head)
    then, now = (_asked(config) for config in (base, head))
    kept = frozenset(name for name in then if then[name] == now.get(name))
    return Side(head, judging, kept), Side(base, judging, kept)


def _asked(config: Config) -> Mapping[str, str]:
    """Return the provider or the program of each target that has one."""
    found = {}
    for name, target in config.targets.items():
        if isinstance(target, LlmTarget):
            found[name] = f"model of {provider(target.endpoint)}"
        elif isinstance(target, CliTarget):
            found[name] = f"program {program(target)}"
    return found


def judge_targets(config: Config) -> frozenset[str]:
    """Return the names of the targets that judge."""
    return frozenset(
        target.judge_target for target in config.targets.values() if target.judge_target
    )


def _judged_as(target: Target, base: Config) -> Target:
    """Return the target with the judge that the base gives it; a new one may use a known judge."""
    if then := base.targets.get(target.name):
        return replace(target, judge_target=then.judge_target)
    known = target.judge_target in judge_targets(base)
    return target if known else replace(target, judge_target="")


def _options(owner: str, endpoint: Endpoint) -> Mapping[str, JSON]:
    facts: dict[str, JSON] = {"model": endpoint.model, "timeout_seconds": endpoint.timeout_seconds}
    if endpoint.identity:
        facts["auth"] = asdict(endpoint.identity)
    if command := endpoint.command:
        facts |= {"cli": command.cli or None, "model": command.model or None}
        facts |= {"command": list(command.argv) or None, "env": list(command.env) or None}
    return _set({f"{owner}.{key}": value for key, value in {**endpoint.options, **facts}.items()})


def _set(values: Mapping[str, JSON]) -> Mapping[str, JSON]:
    return {key: value for key, value in values.items() if value is not None}
