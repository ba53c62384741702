"""Trials: several answers to one case, each graded on its own, and their median result."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rubric_ci.model.llm_calls import NOTHING_USED, Usage
from rubric_ci.model.results import CaseResult, Errored, Graded, Skipped, Trial, VerdictWord

_TIERS: tuple[VerdictWord, ...] = ("fail", "borderline", "pass")


def median_trial(results: Sequence[CaseResult]) -> CaseResult:
    """Return the median trial, the lower of two; Errored unless most trials have a verdict.

    One trial's answer, marks, score and verdict are consistent; a mean of several is not.
    """
    if len(results) == 1 or isinstance(results[0], Skipped):
        return results[0]
    graded = [result for result in results if isinstance(result, Graded)]
    errored = [result for result in results if isinstance(result, Errored)]
    if len(graded) * 2 <= len(results):
        return _without_verdict(errored, results)
    by_verdict = sorted(graded, key=lambda g: (_TIERS.index(g.verdict), g.score))
    median = by_verdict[(len(graded) - 1) // 2]
    return replace(
        median,
        reason=median.reason + _trial_summary(graded, errored, len(results)),
        trials=tuple(Trial(verdict=g.verdict, score=g.score) for g in graded),
        usage=_spent(results),
    )


def with_further_trials(results: Sequence[CaseResult], more: Sequence[CaseResult]) -> CaseResult:
    """Return the median of all trials; further trials without a verdict take none away."""
    graded = [result for result in more if isinstance(result, Graded)]
    lost = [result for result in more if isinstance(result, Errored)]
    median = median_trial([*results, *graded])
    if not isinstance(median, Graded):
        return median
    reason = median.reason
    if lost:
        count = f"{len(lost)} of {len(more)} further trials"
        reason = f"{reason}; no verdict in {count}: {lost[-1].reason}"
    usage = median.usage + _spent(lost)
    return replace(median, reason=reason, usage=usage, further_trials=len(graded))


def _without_verdict(errored: Sequence[Errored], results: Sequence[CaseResult]) -> Errored:
    last = errored[-1]
    if len({error.reason for error in errored}) == 1 and len(errored) == len(results):
        return replace(last, usage=_spent(results))
    reason = f"no verdict in {len(errored)} of {len(results)} trials; last reason: {last.reason}"
    return replace(last, reason=reason, usage=_spent(results))


def _trial_summary(graded: Sequence[Graded], errored: Sequence[Errored], trials: int) -> str:
    counts = Counter(g.verdict for g in graded)
    summary = ""
    if len(counts) > 1:
        summary = "; trials: " + ", ".join(f"{counts[t]} {t}" for t in _TIERS if counts[t])
    if errored:
        summary += f"; no verdict in {len(errored)} of {trials} trials: {errored[-1].reason}"
    return summary


def _spent(results: Sequence[CaseResult]) -> Usage:
    used = (result.usage for result in results if not isinstance(result, Skipped))
    return sum(used, NOTHING_USED)
