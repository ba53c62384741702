"""Changes to the grading in the configuration, and cases that another target answers."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from rubric_ci.errors import CannotConfigure
from rubric_ci.gate.differences.config_changes import config_changes
from rubric_ci.gate.differences.effect_of_each_key import direction_of
from rubric_ci.grading.resolve import choose_target, default_target
from rubric_ci.text.numbers import listed
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.config import Config, Target
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase

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
    yield from compare_changes(head, base, line_of)


def compare_changes(head: Config, base: Config, line_of: LineOf) -> Iterator[GradingChange]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moved:
    """A case that another target answers than at the base."""

    case: EvalCase
    before: Target
    after: Target
    leaves: bool  # a target that decides at the base, for one that does not


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
            deciding = base(was.file).gate.targets
            leaves = before.name in deciding and after.name not in deciding
            moved[key].append(_Moved(case=case, before=before, after=after, leaves=leaves))
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
        direction="weaker" if first.leaves else direction_of(first.before, first.after),
        about=listed([moved.case.id for moved in cases], 1),
        file=first.case.file,
        line=first.case.span.line,
        before=_shown(first.before),
        after=_shown(first.after),
    )


def _shown(target: Target) -> str:
    return f"{target.name} ({target.source})"
