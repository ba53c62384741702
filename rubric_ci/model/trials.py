"""The trials of a case: all of them, and the first ones, which alone tell its mean.

Only cases with low scores get further trials, so that a mean over all trials rises with them.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import fsum
from typing import Final

from rubric_ci.model.results import TIERS, Graded, Trial, kth_best
from rubric_ci.model.scoring import Verdict

DECIMALS: Final = 6


def tier(verdict: Verdict) -> int:
    """Return the rank of a verdict, from 0; a higher one is better."""
    return TIERS.index(verdict)


def trials_of(case: Graded) -> Sequence[Trial]:
    """Return the trials of a case; one if it was answered once."""
    return case.trials or (
        Trial(verdict=case.verdict, score=case.score, answer=case.answer or None),
    )


def first_trials(case: Graded) -> Sequence[Trial]:
    """Return the trials of a case without those that a suspected regression was given."""
    trials = trials_of(case)
    return trials[: len(trials) - case.further_trials]


def without_first_trials(case: Graded) -> Graded:
    """Return a case with its further trials alone, and their lower median."""
    new = case.trials[len(case.trials) - case.further_trials :]
    median = kth_best(new, len(new) - (len(new) - 1) // 2)
    return replace(
        case, verdict=median.verdict, score=median.score, trials=tuple(new), further_trials=0
    )


def first_mean(case: Graded, most: int | None = None) -> float:
    """Return the mean score of the first trials of a case, of `most` at most."""
    scores = [trial.score for trial in first_trials(case)[:most]]
    return round(fsum(scores) / len(scores), DECIMALS)


def first_result(case: Graded) -> Trial:
    """Return the verdict and score that a case had before its further trials."""
    if not case.further_trials:
        return Trial(verdict=case.verdict, score=case.score, without_waived=case.without_waived)
    first, every = first_trials(case), len(case.trials)
    if case.trials_to_pass:
        return kth_best(first, case.trials_to_pass * len(first) // every)
    return kth_best(first, len(first) - (len(first) - 1) // 2)


def mean_score(cases: Sequence[Graded]) -> float | None:
    """Return the mean score of cases, each before its further trials; None without a case."""
    scores = [first_result(case).score for case in cases]
    return round(sum(scores) / len(scores), DECIMALS) if scores else None
