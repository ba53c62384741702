"""The variance that the judge adds to the score of a case, from votes that differ."""

from collections.abc import Iterable, Iterator
from math import fsum

from rubric_ci.model.mark_value import ASSERTION, CANNOT_ASSESS, CHECKLIST, SCORE_RANGE, MarkValue
from rubric_ci.model.results import Assessed, CaseResult, CriterionResult, Graded


def judge_variance(cases: Iterable[CaseResult]) -> float | None:
    """Return the mean over cases; None without a case whose criteria all have several votes.

    With K votes on each criterion, the variance of the score is taken as Σ w² s² / (K (Σ w)²),
    where s² is the variance among the votes: criteria are independent, and a majority or median
    varies as a mean does. Assertions do not vary. Levels have no known scale in a report, so their
    cases are left out.
    """
    graded = [case for case in cases if isinstance(case, Graded)]
    known = [found for case in graded for found in _of_case(case)]
    return round(fsum(known) / len(known), 6) if known else None


def _of_case(case: Graded) -> Iterator[float]:
    rubrics = [e for e in case.evaluators if isinstance(e, Assessed) and e.criteria and e.weight]
    total = fsum(e.weight for e in case.evaluators)
    judged = [c for e in rubrics for c in e.criteria if c.kind != ASSERTION]
    if judged and all(map(_is_voted, judged)):
        yield fsum((e.weight / total) ** 2 * _of_rubric(e.criteria) for e in rubrics)


def _of_rubric(criteria: Iterable[CriterionResult]) -> float:
    from statistics import variance  # few runs have votes, and it loads the random numbers

    voted = [(c.weight, [_normalised(vote) for vote in c.votes or (0, 0)]) for c in criteria]
    weighed = [(weight, variance(votes) / len(votes)) for weight, votes in voted]
    total = fsum(weight for weight, _ in weighed)
    return fsum((weight / total) ** 2 * each for weight, each in weighed)


def _is_voted(criterion: CriterionResult) -> bool:
    return len(criterion.votes) > 1 and criterion.kind in {CHECKLIST, SCORE_RANGE}


def _normalised(vote: MarkValue) -> float:
    if vote == CANNOT_ASSESS:
        return 0.0
    return float(vote) if isinstance(vote, bool) else float(vote) / 10
