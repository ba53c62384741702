"""Breaks that kept answers of the base show: they count if fresh answers show them as well.

Further trials of the base come from the cache of the default branch where it has them, and cost
nothing. They are of another day, and a model behind an alias or the judge may have moved since:
then the base fails as well today, and the change is not to blame.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from rubric_ci.gate.comparison import verdicts
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.trial_results import with_confirming_trials
from rubric_ci.services.run.sides import Key, without_cache
from rubric_ci.services.run.suspect import Suspect, once
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.results import CaseResult, Graded


class Sides(Protocol):
    """The base of a change, which can be asked again."""

    @property
    def config(self) -> RegressionConfig:
        """The budget of false alarms."""

    @property
    def context(self) -> Any:
        """Where the head is answered."""

    @property
    def base_context(self) -> Any:
        """Where the base is answered."""

    def graded(
        self, tasks: Sequence[Task], context: Any, trials: int = 1
    ) -> Awaitable[Mapping[Key, CaseResult]]:
        """Return the results by file and id."""


async def hold_against_today(
    sides: Sides, suspects: Mapping[Key, Suspect], concluded: Mapping[Key, Compared]
) -> Mapping[Key, Compared]:
    """Return the conclusions, after the base answered again where kept answers show a break.

    The cases share half of the budget of false alarms: all of them may be of the world, and the
    trials of the head that are tested again chose them.
    """
    kept = {
        key: each
        for key, each in suspects.items()
        if concluded[key].change == "broken" and each.has_kept_trials
    }
    if not kept or sides.context.side.reuse:  # then the head's answers are kept ones as well
        return concluded
    half = replace(sides.config, false_alarms=sides.config.false_alarms / 2)
    most = verdicts.most_trials(len(kept), 1, half)
    level = verdicts.level_of(len(kept), 1, half)
    for number in range(most):
        lacking = [each for each in kept.values() if number + len(each.asked_today) < most]
        if not lacking:
            break
        context = replace(without_cache(sides.base_context), trial=number)
        results = await sides.graded([once(each.pair.base_task) for each in lacking], context)
        for each in lacking:
            if result := results.get(each.pair.base_task.case.key):
                each.today.append(result)
    return {**concluded, **{key: _of_today(each, level) for key, each in kept.items()}}


def _of_today(suspect: Suspect, level: float) -> Compared:
    every = [*suspect.asked_today, *suspect.today]
    graded = [each for each in every if isinstance(each, Graded)]
    if not graded:
        reason = f"suspected, and the base gave no new answer: {_problem(every)}"
        return Compared(change="not-comparable", reason=reason, suspected=True)
    head, base = suspect.head, with_confirming_trials(_alone(graded[0]), graded[1:])
    seen = verdicts.seen(head, base, "at the base today")
    if verdicts.is_broken(head, base, level):
        return Compared(change="broken", reason=f"confirmed: {seen}", suspected=True)
    found = verdicts.same(head) if head.verdict == base.verdict else Compared(change="unchanged")
    return Compared(change=found.change, reason=f"not confirmed: {seen}", suspected=True)


def _alone(case: Graded) -> Graded:
    return replace(case, trials=(), further_trials=0)


def _problem(results: Sequence[CaseResult]) -> str:
    return next((each.reason for each in results if each.reason), "it was not graded")
