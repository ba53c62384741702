"""Trials: several answers to one case, each graded on its own, and the result of all."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.values.answers import identity
from rubric_ci.values.evals import TrialRule
from rubric_ci.values.media import answer_pictures
from rubric_ci.values.results import (
    TIERS,
    CaseResult,
    Errored,
    Graded,
    Skipped,
    Trial,
    with_verdict,
)
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.trials import by_rank, kth_best, marks_of
from rubric_ci.values.usage import NOTHING_USED, Usage

_TRIALS: Final = "; trials: "  # before the counts, in the reason of several


def median_trial(results: Sequence[CaseResult], rule: TrialRule | None = None) -> CaseResult:
    """Return the median trial, the lower of two; Errored unless most trials have a verdict.

    With a rule, `passes` of `count` trials must pass: the result is the trial of that rank, the
    best first, or Errored if the trials without a verdict could change it.
    One trial's answer, marks, score and verdict are consistent; a mean of several is not.
    """
    if isinstance(results[0], Skipped) or (len(results) == 1 and rule is None):
        return results[0]
    graded = with_verdict(results)
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


def with_more(first: Graded, more: Sequence[CaseResult]) -> Graded:
    """Return a case with the answers that it was asked for again: the median trial of all.

    Answers without a verdict take none away. Of the first trials only the chosen one is known with
    its marks: another one that is the median has none.
    """
    graded = with_verdict(more)
    if not graded:
        return replace(first, usage=first.usage + _spent(more))
    trials = (*(first.trials or _with_repeated_marks([first, *graded])[:1]), *map(_trial, graded))
    rule = first.trials_to_pass, len(first.trials)
    rank = -(-rule[0] * len(trials) // rule[1]) if rule[0] else len(trials) - (len(trials) - 1) // 2
    median = kth_best(trials, rank)
    known = (each for each in (first, *graded) if by_rank(each) == by_rank(median))
    own = next(known, None) or _with_trial(first, median)
    return replace(
        own,
        reason=own.reason.partition(_TRIALS)[0] + _trial_summary(trials, [], len(trials)),
        waived=tuple(sorted({name for g in (first, *graded) for name in g.waived})),
        trials=trials,
        trials_to_pass=rank if rule[0] else 0,
        further_trials=len(graded),
        usage=first.usage + _spent(more),
    )


def _with_trial(case: Graded, trial: Trial) -> Graded:
    return replace(
        case,
        verdict=trial.verdict,
        score=trial.score,
        without_waived=trial.without_waived,
        answer=trial.answer or "",
        trace=trial.trace,
        file_changes=trial.file_changes,
        reason="its median answer",
        gated_by=(),
        evaluators=(),
    )


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
        media=answer_pictures(graded.media),
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


def _trial_summary(
    graded: Sequence[Graded | Trial], errored: Sequence[Errored], trials: int
) -> str:
    counts = Counter(g.verdict for g in graded)
    summary = ""
    if len(counts) > 1:
        summary = _TRIALS + ", ".join(f"{counts[t]} {t}" for t in TIERS if counts[t])
    if errored:
        summary += f"; no verdict in {len(errored)} of {trials} trials: {errored[-1].reason}"
    return summary


def _spent(results: Sequence[CaseResult]) -> Usage:
    used = (result.usage for result in results)
    return sum(used, NOTHING_USED)
