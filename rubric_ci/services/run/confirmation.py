"""Suspects: cases that are worse or better than at the base get further trials on both sides.

A case that repeats one answer is not asked often: further trials show nothing. It is flipped, and
the flipped cases are tested together.
"""

from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, Protocol

from rubric_ci.gate.comparison import verdicts
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.grading.resolve import Task
from rubric_ci.services.run.kept_trials import hold_against_today
from rubric_ci.services.run.sides import Key
from rubric_ci.services.run.suspect import Pair, Suspect, once
from rubric_ci.values.comparison import Drop, RegressionConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import GateConfig, is_gating
from rubric_ci.values.results import CaseResult, Change, Errored, Graded

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
    def gate(self) -> GateConfig:
        """The gate, which may be about some cases only."""

    @property
    def can_ask(self) -> bool:
        """False if no further trial is possible."""

    @property
    def context(self) -> Any:
        """Where the head is answered; with `of_trial`."""

    @property
    def base_context(self) -> Any:
        """Where the base is answered."""

    def kept_trials(self, task: Task, first: int, most: int) -> int:
        """Return how many trials of the base, from `first` on, are in the cache."""

    def graded(
        self, tasks: Sequence[Task], context: Any, trials: int = 1
    ) -> Awaitable[Mapping[Key, CaseResult]]:
        """Return the results by file and id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """How the cases differ, after the further trials of those that seemed broken."""

    pairs: Mapping[Key, Pair]
    compared: Mapping[Key, Compared]
    further_trials: int = 0  # of a suspect and side, at most
    drop: Drop | None = None  # of all cases together, or of the flipped ones
    flipped: Mapping[Key, Change] = field(default_factory=dict)  # broken or fixed, by one answer


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

    Breaks and fixes are asked apart: each has the whole budget of false alarms. Cases with a change
    that is not in `changes` are not asked again. Where most cases are worse and a `drop` of all
    counts, no suspected break is asked separately.
    """
    compared = {key: _before_more(pair, changes) for key, pair in pairs.items()}
    found = Confirmed(pairs=pairs, compared=compared, drop=drop)
    for change in changes:
        suspects = _suspects(pairs, compared, change)
        found = await _confirm(sides, found, suspects) if suspects else found
    if not found.flipped:
        return found
    breaks = len(_suspects(pairs, compared, "broken"))
    return await _with_flips(sides, found, changes, breaks)


def _before_more(pair: Pair, changes: Sequence[Change]) -> Compared:
    found = verdicts.compare(pair.head, pair.base)
    if found.change == "fixed" and "fixed" not in changes:
        return replace(found, reason=NOT_ASKED)
    return found


async def _confirm(sides: Sides, found: Confirmed, suspects: Mapping[Key, Suspect]) -> Confirmed:
    least = min(each.least_trials for each in suspects.values())
    most = verdicts.most_trials(len(suspects), least, sides.config)
    if _is_confirmed(found.drop) and _most_are_worse(found):
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
        key: verdicts.conclude(
            each.change, each.head, each.base, counted=each.counted, level=level, lost=each.lost
        )
        for key, each in suspects.items()
    }
    concluded = dict(await hold_against_today(sides, suspects, concluded))
    flipped = {key: each.change for key, each in suspects.items() if each.is_flipped}
    ended = {
        key: replace(each.pair, head=each.head, base=each.base) for key, each in suspects.items()
    }
    return replace(
        found,
        pairs={**found.pairs, **ended},
        compared={**found.compared, **concluded},
        further_trials=max(found.further_trials, asked),
        flipped={**found.flipped, **flipped},
    )


async def _with_flips(
    sides: Sides, found: Confirmed, changes: Sequence[Change], breaks: int
) -> Confirmed:
    """Return the result of all flipped cases together.

    They have the share of the budget of the suspected breaks that they are. Fixes are asked again
    where they could outweigh the breaks.
    """
    share = len(_flipped(sides, found, "broken")) / max(1, breaks)
    level = sides.config.false_alarms * share
    if "fixed" not in changes and _is_confirmed(_drop_of_flips(sides, found, level)):
        fixes = _suspects(found.pairs, found.compared, "fixed")
        found = await _confirm(sides, found, fixes) if fixes else found
    flips = _drop_of_flips(sides, found, level)
    drop = max((found.drop, flips), key=lambda each: (_is_confirmed(each), each is not None))
    worse, better = (len(_flipped(sides, found, change)) for change in ("broken", "fixed"))
    together = verdicts.flipped_together(worse, better, counts=_is_confirmed(drop))
    told = {key: _told(found, key, together) for key in found.flipped}
    return replace(found, compared={**found.compared, **told}, drop=drop)


def _is_confirmed(drop: Drop | None) -> bool:
    return drop is not None and drop.confirmed


def _told(found: Confirmed, key: Key, together: Compared) -> Compared:
    head, base = found.pairs[key].head, found.pairs[key].base
    assert isinstance(head, Graded)  # noqa: S101 - it is flipped
    assert isinstance(base, Graded)  # noqa: S101 - as above
    reason = f"flipped: {verdicts.seen(head, base, 'at the base')}, {together.reason}"
    change = together.change if found.flipped[key] == "broken" else "flaky"
    return replace(together, change=change, reason=reason)


def _drop_of_flips(sides: Sides, found: Confirmed, level: float) -> Drop | None:
    worse, better = (_flipped(sides, found, change) for change in ("broken", "fixed"))
    pairs = [each for each in _graded(found) if is_gating(each[0], sides.gate)]
    return verdicts.drop_of_flips(pairs, worse, better, level)


def _flipped(sides: Sides, found: Confirmed, change: Change) -> list[Graded]:
    """Return the flipped cases that the gate is about."""
    heads = [found.pairs[key].head for key, each in found.flipped.items() if each == change]
    return [h for h in heads if isinstance(h, Graded) and is_gating(h, sides.gate)]


def _why_not_asked(sides: Sides, most: int) -> str:
    """Return why no suspect is asked again; "" if they are."""
    if not most:
        return "further trials are off"
    return "" if sides.can_ask else "not confirmed: no further trial was possible"


def _most_are_worse(found: Confirmed) -> bool:
    return verdicts.most_are_worse(_graded(found))


def _graded(found: Confirmed) -> list[tuple[Graded, Graded]]:
    return [
        (pair.head, pair.base)
        for pair in found.pairs.values()
        if isinstance(pair.head, Graded) and isinstance(pair.base, Graded)
    ]


def _suspects(
    pairs: Mapping[Key, Pair], compared: Mapping[Key, Compared], change: Change
) -> Mapping[Key, Suspect]:
    return {
        key: Suspect(pair=pair, change=change, first_head=pair.head, first_base=pair.base)
        for key, pair in pairs.items()
        if compared[key].suspected and compared[key].change == change
        if isinstance(pair.head, Graded) and isinstance(pair.base, Graded)
    }


async def _ask_again(sides: Sides, suspects: Sequence[Suspect], level: float, most: int) -> int:
    """Give the suspects one trial after the other; return how many each side was asked for.

    A suspect is left alone as soon as no further trial could confirm it, or refute it. The side
    that seems likelier to dissent is asked first: that order saves trials, and the test has those
    of both sides in the end. Kept answers of the base cost nothing, and come first.
    """
    known = max(each.pair.head_task.trials(sides.trials) for each in suspects)
    suspects = [
        replace(each, kept=sides.kept_trials(once(each.pair.base_task), known, most))
        for each in suspects
    ]
    while groups := _groups(suspects, level, most):
        for (is_head, asked), group in groups.items():
            own = sides.context if is_head else sides.base_context
            tasks = [each.task(is_head) for each in group]
            found = await sides.graded(list(map(once, tasks)), replace(own, trial=known + asked))
            for each, task in zip(group, tasks, strict=True):
                each.more(is_head).append(_trial(task, found))
    return max(len(more) for each in suspects for more in (each.more_head, each.more_base))


def _groups(
    suspects: Sequence[Suspect], level: float, most: int
) -> Mapping[tuple[bool, int], list[Suspect]]:
    """Return the suspects that are undecided, by the side to ask and how often it was asked."""
    groups: dict[tuple[bool, int], list[Suspect]] = defaultdict(list)
    for each in suspects:
        if each.is_undecided(level, most):
            is_head = each.asks_head(most)
            groups[is_head, len(each.more(is_head))].append(each)
    return dict(sorted(groups.items(), reverse=True))


def _trial(task: Task, results: Mapping[Key, CaseResult]) -> CaseResult:
    case = task.case
    return results.get(case.key) or Errored(
        file=case.file, line=case.span.line, id=case.id, reason=INTERRUPTED
    )
