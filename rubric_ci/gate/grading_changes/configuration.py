"""Changes to the grading in the configuration: gate, judge, rules, targets, `depends_on`."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from rubric_ci.errors import CannotConfigure
from rubric_ci.gate.grading_changes.cases import narrowed
from rubric_ci.gate.grading_changes.targets import how_changes
from rubric_ci.gate.policy.policy_changes import policy_changes
from rubric_ci.grading.resolve import choose_target, default_target
from rubric_ci.text.numbers import listed
from rubric_ci.values.changes import Direction, GradingChange
from rubric_ci.values.config import Config, MockTarget, RecordedTarget, Target, assumed_dependencies
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase

LineOf: TypeAlias = Callable[[str], tuple[str, int]]
"""A key such as `gate.fail_on` or `targets.agent.depends_on` to its file and line."""


def config_changes(head: Config, base: Config, line_of: LineOf) -> Iterator[GradingChange]:
    """Yield the settings that grade otherwise, each at its line."""
    for change in policy_changes(head, base):
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
    yield from _targets(head, base, line_of)
    yield from how_changes(head, base, line_of)
    yield from _compared(head, base, line_of)


def _compared(head: Config, base: Config, line_of: LineOf) -> Iterator[GradingChange]:
    """Yield another list of targets that answer each case; without one, it is the case's own."""
    now, then = head.compare, base.compare
    if set(now) == set(then):
        return
    file, line = line_of("compare")
    yield GradingChange(
        kind="configuration",
        direction="weaker" if _deciding(then, base) - _deciding(now, base) else "changed",
        about="compare",
        file=file,
        line=line,
        before=", ".join(then),
        after=", ".join(now),
    )


def _deciding(compare: Sequence[str], base: Config) -> frozenset[str]:
    """Return the targets that decide: the one of a case without a list, else the gate's."""
    if not compare:
        return frozenset((default_target(base),))
    chosen = frozenset(base.gate.targets) if len(compare) > 1 else frozenset()
    return frozenset(compare) & chosen if chosen else frozenset(compare)


def _targets(head: Config, base: Config, line_of: LineOf) -> Iterator[GradingChange]:
    for name, then in base.targets.items():
        now = head.targets.get(name)
        if now is None:
            continue
        yield from _provider(name, now, then, line_of)
        assumed = all(side.depends_on == assumed_dependencies(side) for side in (now, then))
        if now.depends_on != then.depends_on and not assumed:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moved:
    """A case that another target answers than at the base."""

    case: EvalCase
    before: Target
    after: Target


def target_changes(
    pairs: Sequence[tuple[EvalCase, EvalCase]],
    head: Callable[[str], Config],
    base: Callable[[str], Config],
) -> Iterator[GradingChange]:
    """Yield one change per eval file and pair of targets; `pairs` are a case here and then."""
    moved: dict[tuple[str, ...], list[_Moved]] = defaultdict(list)
    for case, was in pairs:
        after, before = target_of(case, head), target_of(was, base)
        if after and before and after.name != before.name:
            key = case.file, before.name, after.name
            moved[key].append(_Moved(case=case, before=before, after=after))
    for cases in moved.values():
        yield _change(cases)


def target_of(case: EvalCase, config: Callable[[str], Config]) -> Target | None:
    """Return the target that answers a case; None: there is none."""
    try:
        return choose_target(case, config(case.file))
    except CannotConfigure:  # of the head: the run has reported it
        return None


def _change(cases: Sequence[_Moved]) -> GradingChange:
    first = cases[0]
    return GradingChange(
        kind="target",
        direction=answered(first.before, first.after),
        about=listed([moved.case.id for moved in cases], 1),
        file=first.case.file,
        line=first.case.span.line,
        before=_shown(first.before),
        after=_shown(first.after),
    )


def _shown(target: Target) -> str:
    return f"{target.name} ({answers_of(target)})"
