"""Regressed cases within a budget of false alarms: suspects, their trials and their p-values.

The reference is a report with many trials of each case. A case is a suspect if its trials are
mostly below the reference's, and only suspects get further trials. A suspect is confirmed
by an exact rank-sum test on all its trials, adjusted for all cases (Holm). Other cases count
as p = 1: stopping early can only accept, so that asking suspects again, in two stages, needs no
correction.

The test assumes that, without a change, trials of the reference and of the head are exchangeable:
same judge, prompt and rubric, and every trial judged independently. Equal answers count once, so
that a case for which a side repeats one answer is never broken alone; the mean shows the loss of
many such cases. The further trials of a suspect are of its night, so they cannot show whether the
night or the case is worse. Against a pinned reference a case is broken once two nights in a row are
worse: the second tests only the cases that were worse in the first.
"""

from collections.abc import Mapping, Sequence, Set
from math import fsum
from statistics import median_low
from typing import Final

from rubric_ci.gate.comparison import repeated_answers
from rubric_ci.text.statistics import significance
from rubric_ci.text.statistics.significance import Observation
from rubric_ci.values.comparison import CaseKey, RegressionConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import CaseResult, Graded, Trial
from rubric_ci.values.scoring import DECIMALS
from rubric_ci.values.trials import first_trials, tier, trials_of

SUSPICIOUS: Final = 0.75  # probability of superiority from which a case is a suspect
AGAIN: Final = 0.01
"""Share of `false_alarms` that is the level of the cases that were worse in the night before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The trials of one case in the head and in the reference."""

    head: tuple[Observation, ...]
    reference: tuple[Observation, ...]
    repeats: bool = False  # a side has one answer, however often it was asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """The p-values of the suspects, and the suspects with too few trials for their level."""

    level: float
    p_values: Mapping[CaseKey, float]  # adjusted for all cases, or last night's suspects
    undecided: frozenset[CaseKey]
    repeating: frozenset[CaseKey] = frozenset()  # suspects of which a side repeats one answer
    before: frozenset[CaseKey] | None = None  # worse the night before; None: one run decides

    def worse(self, key: CaseKey) -> bool:
        """Return True if the case is worse than the reference in this run."""
        return self.p_values.get(key, 1.0) <= self.level

    def confirmed(self, key: CaseKey) -> bool:
        """Return True if the case is broken: worse, also in the night before where it is known."""
        return self.worse(key) and (self.before is None or key in self.before)


def pair(head: Graded, reference: Graded, config: RegressionConfig) -> Pair:
    """Return the trials of both, of the reference `reference_trials` at most.

    Equal answers of a side count once. A recorded answer was not drawn, and counts each time.
    """
    sides = trials_of(head), first_trials(reference)[: config.reference_trials]
    if head.recorded:
        return Pair(head=observations(sides[0]), reference=observations(sides[1]))
    here, there = map(repeated_answers.each_once, sides)
    return Pair(
        head=observations(here),
        reference=observations(there),
        repeats=any(
            len(once) == 1 and len(every) >= repeated_answers.ENOUGH
            for once, every in zip((here, there), sides, strict=True)
        ),
    )


def pools_enough(reference: Sequence[CaseResult], config: RegressionConfig) -> bool:
    """Return True if most cases of the reference have `reference_trials` trials."""
    return 1 < config.reference_trials <= trials_per_case(reference)


def trials_per_case(cases: Sequence[CaseResult]) -> int:
    """Return the median number of first trials of the graded cases; 0 without one."""
    counts = [len(first_trials(case)) for case in cases if isinstance(case, Graded)]
    return median_low(counts) if counts else 0


def further_trials(
    head: CaseResult,
    reference: CaseResult | None,
    config: RegressionConfig,
    *,
    worse_before: bool = False,
) -> int:
    """Return how many more trials a case needs: those up to the next stage for a suspect, else 0.

    A suspect is asked up to `confirm` trials; one that still is a suspect, up to twice as many, as
    is a case that was worse in the night before. One that repeats an answer is asked no more.
    """
    if not isinstance(head, Graded) or not isinstance(reference, Graded):
        return 0
    trials = len(trials_of(head))
    stage = config.confirm
    if worse_before and stage > 1:
        return max(0, 2 * stage - trials)
    if trials >= stage and head.further_trials:
        stage *= 2
    missing, found = max(0, stage - trials), pair(head, reference, config)
    return missing if _is_suspect(found, config.tolerance) and not found.repeats else 0


def confirm_cases(
    pairs: Mapping[CaseKey, Pair],
    config: RegressionConfig,
    before: frozenset[CaseKey] | None = None,
) -> Tested:
    """Test every case at half of `false_alarms`; the other half belongs to the mean score.

    `before`: the cases that were worse in the night before; None: one run decides.
    """
    suspects = [key for key, each in pairs.items() if _is_suspect(each, config.tolerance)]
    p_values = [significance.p_value_below(pairs[k].head, pairs[k].reference) for k in suspects]
    adjusted = dict(zip(suspects, significance.holm(p_values, len(pairs)), strict=True))
    level = config.false_alarms / 2
    open_ones = [key for key, p_value in adjusted.items() if p_value > level]
    repeating = {key for key in open_ones if pairs[key].repeats}
    undecided = {key for key in open_ones if _too_few(pairs[key], len(pairs), level)} - repeating
    repeated = _tested_again(pairs, before or frozenset(), config)
    again = {key for key, p_value in repeated.items() if p_value <= AGAIN * config.false_alarms}
    shown = {key: repeated[key] for key in again if adjusted.get(key, 1.0) > level}
    return Tested(
        level=level,
        p_values={**adjusted, **shown},
        undecided=frozenset(undecided - again),
        repeating=frozenset(repeating - again),
        before=before,
    )


def _tested_again(
    pairs: Mapping[CaseKey, Pair], before: Set[CaseKey], config: RegressionConfig
) -> Mapping[CaseKey, float]:
    """Return the p-values of the cases that were worse in the night before, for these alone."""
    known = [key for key in pairs if key in before]
    keys = [key for key in known if _fell(pairs[key], config.tolerance)]
    p_values = [significance.p_value_below(pairs[key].head, pairs[key].reference) for key in keys]
    return dict(zip(keys, significance.holm(p_values, len(known)), strict=True))


def observations(trials: Sequence[Trial]) -> tuple[Observation, ...]:
    """Return verdict tier and score of each trial, as the tests compare them."""
    return tuple((tier(trial.verdict), round(trial.score, DECIMALS)) for trial in trials)


def _is_suspect(pair: Pair, tolerance: float) -> bool:
    share = significance.share_below(pair.head, pair.reference)
    return share >= SUSPICIOUS and _fell(pair, tolerance)


def _fell(pair: Pair, tolerance: float) -> bool:
    """Return True if the mean verdict is lower, or the mean score by more than the tolerance."""
    (tier, score), (tier_before, score_before) = map(_means, (pair.head, pair.reference))
    return tier < tier_before or round(score_before - score, DECIMALS) > tolerance


def _means(trials: Sequence[Observation]) -> tuple[float, float]:
    tiers, scores = zip(*trials, strict=True)
    return fsum(tiers) / len(trials), fsum(scores) / len(trials)


def _too_few(pair: Pair, cases: int, level: float) -> bool:
    return cases * significance.least_p_value(len(pair.head), len(pair.reference)) > level
