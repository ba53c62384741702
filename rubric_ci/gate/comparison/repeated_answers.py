"""Equal answers of a side: one piece of evidence, however often they are repeated.

At temperature 0, with a seed or with a cache before the model, each trial of a case repeats one
answer. Any change of the prompt may then change the answers of some cases, for the worse in some
and for the better in others, and further trials of a case cannot show whether that was chance.
Such cases are *flipped*, and they are tested together: more of them for the worse than for the
better.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.values.config import LlmTarget, MockTarget, RecordedTarget, Target
from rubric_ci.values.media import of_answer
from rubric_ci.values.results import Graded, Trial, kth_best
from rubric_ci.values.trials import tier, trials_of

ENOUGH: Final = 3  # equal answers, from which on a case is taken to have no other
SHORT: Final = 40  # characters: two draws of such an answer, like a label, are often equal


def varies(target: Target) -> bool:
    """Return True for a model that is asked for another draw each time, by its options."""
    if not isinstance(target, LlmTarget) or target.endpoint.http:
        return False
    options = target.endpoint.options
    temperature = options.get("temperature", 1)
    return "seed" not in options and isinstance(temperature, int | float) and temperature > 0


def said(case: Graded, more: Sequence[Graded] = ()) -> list[Hashable]:
    """Return the answers of the first and of the further trials, with their work; None: unknown."""
    if not case.trials:
        return [*map(_said, (case, *more))]
    known = case.trace is None and not case.file_changes  # the trials keep no work
    first = [_answered(each) if known and each.answer else None for each in case.trials]
    return [*first, *map(_said, more)]


def _said(case: Graded) -> Hashable:
    steps = case.trace.steps if case.trace else ()
    work = [(step.tool, step.arguments, step.result) for step in steps]
    if not (case.answer or work or case.file_changes):
        return None
    return _answered(case, repr(work) if work else "", repr(case.file_changes or ""))


def _answered(answer: Graded | Trial, work: str = "", changes: str = "") -> Hashable:
    return answer.answer, work, changes, *(each.digest for each in of_answer(answer.media))


def counted_once(case: Graded, answers: Sequence[Hashable], target: Target) -> Graded:
    """Return the case with one trial of each answer: the lower median of equal answers."""
    if case.recorded or isinstance(target, MockTarget | RecordedTarget):
        return case  # its answer is a part of the change, and was not asked for
    groups: dict[Hashable, list[Trial]] = {}
    for number, (trial, answer) in enumerate(zip(trials_of(case), answers, strict=True)):
        once = answer is not None and not (varies(target) and len(trial.answer or "") <= SHORT)
        groups.setdefault(answer if once else number, []).append(trial)
    return replace(case, trials=tuple(map(_lower_median, groups.values())))


def each_once(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Return one trial of each answer that a report keeps, with its work.

    Whether its target varies is not known there, so that equal short answers count each time.
    """
    groups: dict[Hashable, list[Trial]] = {}
    for number, trial in enumerate(trials):
        groups.setdefault(_kept(trial) or number, []).append(trial)
    return tuple(map(_lower_median, groups.values()))


def _kept(trial: Trial) -> Hashable:
    if not trial.answer or len(trial.answer) <= SHORT:
        return None
    return _answered(trial, repr(trial.trace or ""), repr(trial.file_changes or ""))


def _lower_median(trials: Sequence[Trial]) -> Trial:
    return kth_best(trials, len(trials) // 2 + 1)


def is_fixed(case: Graded, once: Graded) -> bool:
    """Return True if all trials have one answer; `once`: the case with one trial of each."""
    return len(trials_of(case)) >= ENOUGH and len(trials_of(once)) == 1


def is_separated(low: Graded, high: Graded) -> bool:
    """Return True if every answer of `low` has a worse verdict than every one of `high`."""
    worst, best = (list(map(tier, (t.verdict for t in trials_of(side)))) for side in (low, high))
    return max(worst) < min(best)
