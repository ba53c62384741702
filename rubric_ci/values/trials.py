"""The trials of a case, the result of all, and judge noise: one criterion with several marks.

Each trial is graded on its own. Judge noise is seen without labels.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING, Final, TypeVar

from rubric_ci.values.answers import identity
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.media import answer_pictures
from rubric_ci.values.results import (
    TIERS,
    Assessed,
    CaseResult,
    CriterionResult,
    Errored,
    EvaluatorResult,
    Graded,
    Skipped,
    Standing,
    Trial,
    with_verdict,
)
from rubric_ci.values.scoring import ASSERTION, DECIMALS, MarkValue, Verdict
from rubric_ci.values.usage import NOTHING_USED, Usage

if TYPE_CHECKING:  # the history reads reports without it
    from rubric_ci.values.evals import TrialRule

T = TypeVar("T", Trial, Graded)
_STANDINGS: tuple[Standing, ...] = ("fail", "borderline", "waived", "pass")

_TRIALS: Final = "; trials: "  # before the counts, in the reason of several


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionNoise:
    """How often a criterion has different marks of one answer: by votes, trials or nights."""

    file: str
    id: str
    text: str
    repeated: int  # answers that were marked several times
    differing: int  # of those, answers with different marks


def tier(verdict: Verdict) -> int:
    """Return the rank of a verdict, from 0; a higher one is better."""
    return TIERS.index(verdict)


def by_rank(trial: Trial | Graded) -> tuple[int, float]:
    """Return the sort key of a trial: its verdict, then its score."""
    return _STANDINGS.index(trial.status), trial.score


def kth_best(trials: Sequence[T], rank: int) -> T:
    """Return the trial of a rank, 1 for the best; the worst if there are fewer."""
    return sorted(trials, key=by_rank)[-min(rank, len(trials))]


def trials_of(case: Graded) -> Sequence[Trial]:
    """Return the trials of a case; one if it was answered once."""
    return case.trials or (replace(_trial(case), answer=case.answer or None),)


def first_trials(case: Graded) -> Sequence[Trial]:
    """Return the trials of a case without those that it was asked for again."""
    trials = trials_of(case)
    return trials[: len(trials) - case.further_trials]


def first_mean(case: Graded) -> float:
    scores = [trial.score for trial in first_trials(case)]
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
    """Return the mean score of cases, as it is shown; None without a case."""
    scores = [case.score for case in cases]
    return round(sum(scores) / len(scores), DECIMALS) if scores else None


def judge_noise(cases: Iterable[CaseResult]) -> tuple[CriterionNoise, ...]:
    """Return each criterion that was marked several times, the noisiest first."""
    counts: dict[tuple[str, str, str], list[bool]] = {}
    for case in with_verdict(cases):
        for criterion, marks in _repeats(case):
            differs = len({(type(mark), mark) for mark in marks}) > 1
            counts.setdefault((case.file, criterion.id, criterion.written), []).append(differs)
    found = [
        CriterionNoise(file=file, id=name, text=text, repeated=len(each), differing=sum(each))
        for (file, name, text), each in counts.items()
    ]
    return tuple(sorted(found, key=lambda each: -each.differing / each.repeated))


def hidden_marks(cases: Iterable[CaseResult]) -> Mapping[tuple[str, str, str], int]:
    """Return how many marks of each criterion have no answer: file, id and text to their count."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for case in with_verdict(cases):
        hidden = sum(trial.answer is None and bool(trial.marks) for trial in case.trials)
        for each in judged(case.evaluators):
            counts[case.file, each.id, each.written] += hidden
    return counts


def marks_of(evaluators: Sequence[EvaluatorResult]) -> tuple[MarkValue, ...]:
    """Return the mark of each criterion that a judge marked, in their order."""
    return tuple(criterion.mark for criterion in judged(evaluators))


def same_marks_again(
    now: Sequence[EvaluatorResult], was: Sequence[EvaluatorResult]
) -> tuple[MarkValue, ...]:
    """Return the earlier marks of equal criteria by the same judge; () if any is not its own.

    A mark with a vote from the cache is the earlier one itself.
    """
    is_cached = any(isinstance(each, Assessed) and each.cached_marks for each in now)
    return marks_of(was) if _asked(now) == _asked(was) and not is_cached else ()


def judged(evaluators: Sequence[EvaluatorResult]) -> Iterator[CriterionResult]:
    """Yield the criteria that a judge marked."""
    for each in evaluators:
        if isinstance(each, Assessed):
            yield from (one for one in each.criteria if one.kind != ASSERTION)


def _repeats(case: Graded) -> Iterator[tuple[CriterionResult, Sequence[MarkValue]]]:
    criteria = [*judged(case.evaluators)]
    for criterion in criteria:
        if len(criterion.votes) > 1 and not criterion.judges:
            yield criterion, criterion.votes
    answers: dict[str, list[tuple[MarkValue, ...]]] = {}
    for trial in case.trials:
        if trial.answer is not None and len(trial.marks) == len(criteria):
            answers.setdefault(identity(trial), []).append(trial.marks)
    if case.before and len(case.before.marks) == len(criteria):
        answers.setdefault(identity(case), []).extend(
            [case.before.marks, marks_of(case.evaluators)]
        )
    for several in answers.values():
        if len(several) > 1:
            yield from zip(criteria, zip(*several, strict=True), strict=True)


def _asked(evaluators: Sequence[EvaluatorResult]) -> list[tuple[str, str, str]]:
    return [
        (each.judge, criterion.id, criterion.text)
        for each in evaluators
        for criterion in judged([each])
    ]


def median_trial(results: Sequence[CaseResult], rule: "TrialRule | None" = None) -> CaseResult:
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


def _rank(rule: "TrialRule", trials: int) -> int:
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
