"""The trials of a case, and judge noise: equal answers and criteria with different marks.

Judge noise is seen without labels.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import TypeVar

from rubric_ci.values.answers import identity
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.media import answer_pictures
from rubric_ci.values.results import (
    TIERS,
    Assessed,
    CaseResult,
    CriterionResult,
    EvaluatorResult,
    Graded,
    Standing,
    Trial,
    with_verdict,
)
from rubric_ci.values.scoring import ASSERTION, DECIMALS, MarkValue, Verdict

T = TypeVar("T", Trial, Graded)
_STANDINGS: tuple[Standing, ...] = ("fail", "borderline", "waived", "pass")


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
    return case.trials or (
        Trial(
            verdict=case.verdict,
            score=case.score,
            without_waived=case.without_waived,
            answer=case.answer or None,
            trace=case.trace,
            file_changes=case.file_changes,
            media=answer_pictures(case.media),
        ),
    )


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
