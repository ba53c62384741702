"""Suspects: cases that are worse or better than at the base get further trials on both sides."""

from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, Protocol

from rubric_ci.gate.comparison import verdicts
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.trials import with_confirming_trials
from rubric_ci.model.comparison import Drop, RegressionConfig
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.results import CaseResult, Change, Errored, Graded
from rubric_ci.model.trials import trials_of
from rubric_ci.services.run.sides import Key

INTERRUPTED: Final = "the run was interrupted"
NOT_ASKED: Final = "better by its first trials; it is asked again once it is merged"
TOGETHER: Final = "worse, as most cases are: they were tested together, none was asked again"


class Sides(Protocol):
    """Base and head of a change, which can be asked again."""

    @property
    def config(self) -> RegressionConfig:
        """The budget of false alarms."""

    @property
    def trials(self) -> int:
        """The first trials of each case."""

    @property
    def can_ask(self) -> bool:
        """False if no further trial is possible."""

    @property
    def context(self) -> Any:
        """Where the head is answered; with `of_trial`."""

    @property
    def base_context(self) -> Any:
        """Where the base is answered."""

    def graded(
        self, tasks: Sequence[Task], context: Any, trials: int = 1
    ) -> Awaitable[Mapping[Key, CaseResult]]:
        """Return the results by file and id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One case on both sides."""

    head_task: Task
    base_task: Task
    head: CaseResult
    base: CaseResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """How the cases differ, after the further trials of those that seemed broken."""

    pairs: Mapping[Key, Pair]
    compared: Mapping[Key, Compared]
    further_trials: int = 0  # of a suspect and side, at most
    drop: Drop | None = None  # of all cases together


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suspect:
    """A case that is worse or better than at the base, and its further trials on both sides."""

    pair: Pair
    change: Change  # "broken" or "fixed", by its first trials
    first_head: Graded
    first_base: Graded
    more_head: list[CaseResult] = field(default_factory=list)
    more_base: list[CaseResult] = field(default_factory=list)

    @property
    def head(self) -> Graded:
        return with_confirming_trials(self.first_head, self.more_head)

    @property
    def base(self) -> Graded:
        return with_confirming_trials(self.first_base, self.more_base)

    @property
    def ordered(self) -> tuple[Graded, Graded]:
        """The side that is worse by the first trials, and the other."""
        return (self.head, self.base) if self.change == "broken" else (self.base, self.head)

    def more(self, is_head: bool) -> list[CaseResult]:
        """Return the further trials of a side."""
        return self.more_head if is_head else self.more_base

    def task(self, is_head: bool) -> Task:
        """Return what a side is asked."""
        return self.pair.head_task if is_head else self.pair.base_task

    def is_undecided(self, level: float, most: int) -> bool:
        """Return True if the trials that are left can both confirm and refute the change."""
        here, there = (most - len(self.more(is_head)) for is_head in (True, False))
        left = (here, there) if self.change == "broken" else (there, here)
        if not any(left) or not verdicts.may_be_broken(*self.ordered, level, left):
            return False
        return not verdicts.must_be_broken(*self.ordered, level, left)

    def asks_head(self, most: int) -> bool:
        """Return True if the head is asked next: the side that seems likelier to dissent."""
        if len(self.more_head) == most or len(self.more_base) == most:
            return len(self.more_base) == most
        low, high = self.ordered
        head_is_low = self.change == "broken"
        low_dissents, high_dissents = verdicts.dissents(low, high)
        if low_dissents == high_dissents:
            return len(self.more_head) <= len(self.more_base)
        return head_is_low == (low_dissents > high_dissents)

    @property
    def least_trials(self) -> int:
        """The trials of the side that has fewer."""
        return min(len(trials_of(self.head)), len(trials_of(self.base)))

    @property
    def lost(self) -> list[str]:
        """The reasons of the trials without a verdict."""
        more = (*self.more_head, *self.more_base)
        return [case.reason for case in more if not isinstance(case, Graded)]


def most_further_trials(tasks: Sequence[Task], sides: Sides) -> int:
    """Return how many further trials each of these cases gets on a side if all are suspects."""
    if not tasks or not sides.can_ask:
        return 0
    least = min(task.trials(sides.trials) for task in tasks)
    return verdicts.most_trials(len(tasks), least, verdicts.for_cases(sides.config))


async def confirm(
    sides: Sides,
    pairs: Mapping[Key, Pair],
    changes: Sequence[Change] = ("broken", "fixed"),
    drop: Drop | None = None,
) -> Confirmed:
    """Return how the pairs differ; a suspect has its verdict after its further trials.

    Breaks and fixes are asked apart: each has the whole budget of false alarms. What is not among
    `changes` is not asked again. Where most cases are worse and a `drop` of all counts, no
    suspected break is asked by itself.
    """
    compared = {key: _before_more(pair, changes) for key, pair in pairs.items()}
    found = Confirmed(pairs=pairs, compared=compared, drop=drop)
    for change in changes:
        suspects = _suspects(pairs, compared, change)
        found = await _confirm(sides, found, suspects) if suspects else found
    return found


def _before_more(pair: Pair, changes: Sequence[Change]) -> Compared:
    found = verdicts.compare(pair.head, pair.base)
    if found.change == "fixed" and "fixed" not in changes:
        return replace(found, reason=NOT_ASKED)
    return found


async def _confirm(sides: Sides, found: Confirmed, suspects: Mapping[Key, _Suspect]) -> Confirmed:
    least = min(each.least_trials for each in suspects.values())
    most = verdicts.most_trials(len(suspects), least, sides.config)
    if found.drop and found.drop.confirmed and _most_are_worse(found):
        together = Compared(change="suspected", reason=TOGETHER, suspected=True)
        worse = {key: together for key, each in suspects.items() if each.change == "broken"}
        if worse:
            return replace(found, compared={**found.compared, **worse})
    if why := _why_not_asked(sides, most):
        unconfirmed = {key: replace(found.compared[key], reason=why) for key in suspects}
        return replace(found, compared={**found.compared, **unconfirmed})
    level = verdicts.level_of(len(suspects), least, sides.config)
    asked = await _ask_again(sides, list(suspects.values()), level, most)
    concluded = {
        key: verdicts.conclude(each.change, each.head, each.base, level, each.lost)
        for key, each in suspects.items()
    }
    ended = {
        key: replace(each.pair, head=each.head, base=each.base) for key, each in suspects.items()
    }
    return replace(
        found,
        pairs={**found.pairs, **ended},
        compared={**found.compared, **concluded},
        further_trials=max(found.further_trials, asked),
    )


def _why_not_asked(sides: Sides, most: int) -> str:
    """Return why no suspect is asked again; "" if they are."""
    if not most:
        return "further trials are off"
    return "" if sides.can_ask else "not confirmed: no further trial was possible"


def _most_are_worse(found: Confirmed) -> bool:
    return verdicts.most_are_worse(
        [
            (pair.head, pair.base)
            for pair in found.pairs.values()
            if isinstance(pair.head, Graded) and isinstance(pair.base, Graded)
        ]
    )


def _suspects(
    pairs: Mapping[Key, Pair], compared: Mapping[Key, Compared], change: Change
) -> "Mapping[Key, _Suspect]":
    return {
        key: _Suspect(pair=pair, change=change, first_head=pair.head, first_base=pair.base)
        for key, pair in pairs.items()
        if compared[key].suspected and compared[key].change == change
        if isinstance(pair.head, Graded) and isinstance(pair.base, Graded)
    }


async def _ask_again(sides: Sides, suspects: Sequence[_Suspect], level: float, most: int) -> int:
    """Give the suspects one trial after the other; return how many each side was asked for.

    A suspect is left alone as soon as no further trial could confirm it, or refute it. The side
    that seems likelier to dissent is asked first: that order saves trials, and the test has those
    of both sides in the end.
    """
    known = max(each.pair.head_task.trials(sides.trials) for each in suspects)
    while groups := _groups(suspects, level, most):
        for (is_head, asked), group in groups.items():
            own = sides.context if is_head else sides.base_context
            tasks = [each.task(is_head) for each in group]
            found = await sides.graded(list(map(once, tasks)), replace(own, trial=known + asked))
            for each, task in zip(group, tasks, strict=True):
                each.more(is_head).append(_trial(task, found))
    return max(len(more) for each in suspects for more in (each.more_head, each.more_base))


def _groups(
    suspects: Sequence[_Suspect], level: float, most: int
) -> Mapping[tuple[bool, int], list[_Suspect]]:
    """Return the suspects that are undecided, by the side to ask and how often it was asked."""
    groups: dict[tuple[bool, int], list[_Suspect]] = defaultdict(list)
    for each in suspects:
        if each.is_undecided(level, most):
            is_head = each.asks_head(most)
            groups[is_head, len(each.more(is_head))].append(each)
    return dict(sorted(groups.items(), reverse=True))


def once(task: Task) -> Task:
    """Return the task with a single trial, whatever its case demands."""
    return replace(task, case=replace(task.case, trials=None))


def _trial(task: Task, results: Mapping[Key, CaseResult]) -> CaseResult:
    case = task.case
    return results.get(case.key) or Errored(
        file=case.file, line=case.span.line, id=case.id, reason=INTERRUPTED
    )
