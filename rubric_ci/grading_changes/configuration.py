"""Changes to the grading in the configuration: gate, judge, rules, targets, `depends_on`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from rubric_ci.grading_changes.cases import compared, narrowed
from rubric_ci.model.config import Config, MockTarget, RecordedTarget, Target
from rubric_ci.model.grading_changes import Direction, GradingChange, GradingChangeKind
from rubric_ci.policy.settings import policy_changes

LineOf: TypeAlias = Callable[[str], tuple[str, int]]
"""A key such as `gate.fail_on` or `targets.agent.depends_on` to its file and line."""

_STRICTNESS: Final = ("never", "regression", "fail", "borderline")
_SEVERITIES: Final = ("off", "notice", "warning", "error")
_HIGHER_IS_STRONGER: Final = (
    "gate.thresholds.pass",
    "gate.thresholds.borderline",
    "gate.min_kappa",
    "regression.false_alarms",
)
_SAFEGUARDS: Final[Mapping[str, Sequence[str]]] = {
    "judge.evidence": ("warn", "strict"),
    "judge.canary": ("False", "True"),
    "gate.on_weaker_grading": ("note", "fail"),
    "gate.fail_on": _STRICTNESS,
}
"""Settings with ordered values, the weakest first."""


def config_changes(head: Config, base: Config, line_of: LineOf) -> Iterator[GradingChange]:
    """Yield the settings that grade otherwise, each at its line."""
    for change in policy_changes(head, base):
        kind = _kind(change.key)
        if kind is None:
            continue
        file, line = line_of(change.key)
        before, after = _written(change.before), _written(change.after)
        yield GradingChange(
            kind=kind,
            direction=_direction(change.key, before, after, head, base),
            about=change.key,
            file=file,
            line=line,
            before=before,
            after=after,
        )
    yield from _targets(head, base, line_of)


def _written(value: str) -> str:
    return "" if value == "(none)" else value


def _kind(key: str) -> GradingChangeKind | None:
    owner = key.partition(".")[0]
    kinds: Mapping[str, GradingChangeKind] = {
        "gate": "gate",
        "judge": "judge",
        "rules": "rule",
        "regression": "gate",  # which breaks count
        "targets": "judge",  # the targets that judge
    }
    return kinds.get(owner)


def _direction(key: str, before: str, after: str, head: Config, base: Config) -> Direction:
    if key in _SAFEGUARDS:
        return _by_order(_SAFEGUARDS[key], before, after)
    if key.startswith("rules."):
        return _by_order(_SEVERITIES, before or "warning", after or "warning")
    if key in _HIGHER_IS_STRONGER:
        return compared(_number(before, 0), _number(after, 0))
    if key == "gate.max_waivers":
        return compared(-_number(before, float("inf")), -_number(after, float("inf")))
    if key.endswith(".min_pass_rate"):
        return _rate(key, before, after, head, base)
    return "changed"


def _by_order(order: Sequence[str], before: str, after: str) -> Direction:
    if before not in order or after not in order:
        return "changed"
    return compared(order.index(before), order.index(after))


def _number(text: str, missing: float) -> float:
    return float(text) if text else missing


def _rate(key: str, before: str, after: str, head: Config, base: Config) -> Direction:
    """Return the direction of a pass rate.

    Without one no case may fail, so a rate that tolerates failures is weaker; a group in a
    configuration that has a rate for all cases adds a demand.
    """
    whole = {head.gate.min_pass_rate, base.gate.min_pass_rate} - {None}
    missing = 0.0 if key.startswith("gate.groups.") and whole else 0.999999
    return compared(_number(before, missing), _number(after, missing))


def _targets(head: Config, base: Config, line_of: LineOf) -> Iterator[GradingChange]:
    for name, then in base.targets.items():
        now = head.targets.get(name)
        if now is None:
            continue
        yield from _provider(name, now, then, line_of)
        if now.depends_on != then.depends_on:
            key = f"targets.{name}.depends_on"
            file, line = line_of(key)
            yield GradingChange(
                kind="depends-on",
                direction=narrowed(then.depends_on, now.depends_on),
                about=key,
                file=file,
                line=line,
                before=_globs(then.depends_on),
                after=_globs(now.depends_on),
            )


def _provider(name: str, now: Target, then: Target, line_of: LineOf) -> Iterator[GradingChange]:
    before, after = answers_of(then), answers_of(now)
    if before == after:
        return
    file, line = line_of(f"targets.{name}")
    yield GradingChange(
        kind="recording",
        direction=answered(then, now),
        about=f"targets.{name}",
        file=file,
        line=line,
        before=before,
        after=after,
    )


def answered(then: Target, now: Target) -> Direction:
    """Return the direction if other answers are graded; those that are written down are weaker."""
    was, is_now = (isinstance(target, RecordedTarget | MockTarget) for target in (then, now))
    if was is is_now:
        return "changed"
    return "weaker" if is_now else "stronger"


def answers_of(target: Target) -> str:
    """Return where the answers come from; recorded and fixed ones with their source."""
    match target:
        case RecordedTarget(answers=path):
            return f"recorded: {path}"
        case MockTarget(response=text):
            return f"fixed: {text}"
        case _:
            return "asked"


def _globs(globs: Sequence[str] | None) -> str:
    return "every file" if globs is None else ", ".join(globs)
