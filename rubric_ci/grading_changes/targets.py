"""Changes to the grading: cases that another target answers, by name or by default."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rubric_ci.errors import CannotConfigure
from rubric_ci.grading.resolve import choose_target
from rubric_ci.grading_changes.configuration import answered, answers_of
from rubric_ci.model.config import Config, Target
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.grading_changes import GradingChange


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
        after, before = _target(case, head), _target(was, base)
        if after and before and after.name != before.name:
            key = case.file, before.name, after.name
            moved[key].append(_Moved(case=case, before=before, after=after))
    for cases in moved.values():
        yield _change(cases)


def _target(case: EvalCase, config: Callable[[str], Config]) -> Target | None:
    try:
        return choose_target(case, config(case.file))
    except CannotConfigure:  # of the head: the run has reported it
        return None


def _change(cases: Sequence[_Moved]) -> GradingChange:
    first = cases[0]
    more = f" and {len(cases) - 1:,} more" if len(cases) > 1 else ""
    return GradingChange(
        kind="target",
        direction=answered(first.before, first.after),
        about=f"{first.case.id}{more}",
        file=first.case.file,
        line=first.case.span.line,
        before=_shown(first.before),
        after=_shown(first.after),
    )


def _shown(target: Target) -> str:
    return f"{target.name} ({answers_of(target)})"
