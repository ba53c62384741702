"""Trials: several answers to one case, each graded on its own, and the result of all."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rubric_ci.values.answers import identity
from rubric_ci.values.evals import TrialRule
from rubric_ci.values.llm_calls import NOTHING_USED, Usage
from rubric_ci.values.media import of_answer
from rubric_ci.values.results import TIERS, CaseResult, Errored, Graded, Skipped, Trial, kth_best
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.trials import marks_of


def median_trial(results: Sequence[CaseResult], rule: TrialRule | None = None) -> CaseResult:
    """Return the median trial, the lower of two; Errored unless most trials have a verdict.

    With a rule, `passes` of `count` trials must pass: the result is the trial of that rank, the
    best first, or Errored if the trials without a verdict could change it.
    One trial's answer, marks, score and verdict are consistent; a mean of several is not.
    """
    if isinstance(results[0], Skipped) or (len(results) == 1 and rule is None):
        return results[0]
    graded = [result for result in results if isinstance(result, Graded)]
    errored = [result for result in results if isinstance(result, Errored)]
    rank = _rank(rule, len(results)) if rule else len(graded) - (len(graded) - 1) // 2
    if not _is_decided(graded, len(errored), rank if rule else None):
        return _without_verdict(errored, results)
    chosen = kth_best(graded, rank)
    return replace(
        chosen,
        reason=chosen.reason + _trial_summary(graded, errored, len(results)),
        waived=tuple(sorted({name for g in graded for name in g.waived})),
        trials=_with_repeated_marks(graded),
        trials_to_pass=rank if rule else 0,
        usage=_spent(results),
    )


def with_further_trials(
    results: Sequence[CaseResult], more: Sequence[CaseResult], rule: TrialRule | None = None
) -> CaseResult:
    """Return the result of all trials; further trials without a verdict take none away."""
    graded = [result for result in more if isinstance(result, Graded)]
    lost = [result for result in more if isinstance(result, Errored)]
    median = median_trial([*results, *graded], rule)
    if not isinstance(median, Graded):
        return median
    reason = median.reason
    if lost:
        count = f"{len(lost)} of {len(more)} further trials"
        reason = f"{reason}; no verdict in {count}: {lost[-1].reason}"
    usage = median.usage + _spent(lost)
    return replace(median, reason=reason, usage=usage, further_trials=len(graded))


def with_confirming_trials(first: Graded, more: Sequence[CaseResult]) -> Graded:
    """Return a suspect with further trials: the median of all, unless it was a median before."""
    if first.trials:
        graded = [result for result in more if isinstance(result, Graded)]
        added = tuple(_trial(g) for g in graded)
        spent = first.usage + _spent(more)
        trials = first.trials + added
        return replace(first, trials=trials, further_trials=len(graded), usage=spent)
    result = with_further_trials([first], more)
    assert isinstance(result, Graded)  # noqa: S101 - most of the trials that count have a verdict
    return result


def without_work_of_trials(result: CaseResult) -> CaseResult:
    """Return a result whose trials have their texts only: nothing else of them is marked."""
    if not isinstance(result, Graded) or not result.trials:
        return result
    trials = tuple(replace(each, trace=None, file_changes=()) for each in result.trials)
    return replace(result, trials=trials)


def _with_repeated_marks(graded: Sequence[Graded]) -> tuple[Trial, ...]:
    """Return the trials; trials with one answer keep their marks, which should not differ."""
    answers = [identity(g) for g in graded]
    times = Counter(answers)
    return tuple(
        replace(_trial(g), marks=marks_of(g.evaluators)) if times[answer] > 1 else _trial(g)
        for g, answer in zip(graded, answers, strict=True)
    )


def _trial(graded: Graded) -> Trial:
    return Trial(
        verdict=graded.verdict,
        score=graded.score,
        without_waived=graded.without_waived,
        answer=graded.answer,
        trace=graded.trace,
        file_changes=graded.file_changes,
        media=of_answer(graded.media),
    )


def _rank(rule: TrialRule, trials: int) -> int:
    """Return how many of the trials must pass; further trials keep the share, rounded up."""
    return -(-rule.passes * trials // rule.count)


def _is_decided(graded: Sequence[Graded], errored: int, rank: int | None) -> bool:
    """Return True if the trials without a verdict could not change the case's verdict."""
    if rank is None:
        return len(graded) > errored
    at_worst: Verdict = kth_best(graded, rank).verdict if rank <= len(graded) else "fail"
    at_best: Verdict = kth_best(graded, rank - errored).verdict if rank > errored else "pass"
    return bool(graded) and at_worst == at_best


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
        summary = "; trials: " + ", ".join(f"{counts[t]} {t}" for t in TIERS if counts[t])
    if errored:
        summary += f"; no verdict in {len(errored)} of {trials} trials: {errored[-1].reason}"
    return summary


def _spent(results: Sequence[CaseResult]) -> Usage:
    used = (result.usage for result in results if not isinstance(result, Skipped))
    return sum(used, NOTHING_USED)
