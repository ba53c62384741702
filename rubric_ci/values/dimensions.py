"""Dimensions: the tags of criteria, each with its score over the graded cases."""

from collections.abc import Iterable, Iterator
from math import fsum

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import (
    Assessed,
    BaseResult,
    CaseResult,
    CriterionResult,
    EvaluatorResult,
    weighed,
    with_verdict,
)
from rubric_ci.values.scoring import DECIMALS, rubric_score, total_points


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """The mean score of the criteria with one tag, over the graded cases that have one."""

    tag: str
    cases: int
    score: float
    before: float | None = None  # of the same cases; None: not compared


def dimensions(cases: Iterable[CaseResult]) -> tuple[Dimension, ...]:
    """Return the score of each tag of criteria, in the order of the tags."""
    graded = with_verdict(cases)
    tags = {tag for case in graded for each in _criteria(case.evaluators) for tag in each.tags}
    return tuple(each for tag in sorted(tags) if (each := dimension(graded, tag)) is not None)


def dimension(cases: Iterable[CaseResult], tag: str) -> Dimension | None:
    """Return the score of the criteria with a tag; None: no graded case has one that counts."""
    graded = with_verdict(cases)
    scores = [(case, tag_score(case.evaluators, tag)) for case in graded]
    known = [(case, score) for case, score in scores if score is not None]
    if not known:
        return None
    then = [_before(case.before, tag) for case, _ in known if case.before]
    before = [score for score in then if score is not None]
    compared = len(before) == len(known)
    return Dimension(
        tag=tag,
        cases=len(known),
        score=_mean([score for _, score in known]),
        before=_mean(before) if compared else None,
    )


def _before(base: BaseResult, tag: str) -> float | None:
    return tag_score(base.evaluators, tag) if base.evaluators else base.tags.get(tag)


def by_tag(evaluators: Iterable[EvaluatorResult]) -> dict[str, float]:
    """Return the score of each tag of criteria of one case."""
    given = [*evaluators]
    tags = sorted({tag for each in _criteria(given) for tag in each.tags})
    scores = {tag: tag_score(given, tag) for tag in tags}
    return {tag: score for tag, score in scores.items() if score is not None}


def tag_score(evaluators: Iterable[EvaluatorResult], tag: str) -> float | None:
    """Return the score of the criteria with a tag that apply; None: none counts."""
    parts = weighed(each for each in _criteria(evaluators) if tag in each.tags)
    return rubric_score(parts) if total_points(parts) else None


def _criteria(evaluators: Iterable[EvaluatorResult]) -> Iterator[CriterionResult]:
    for each in evaluators:
        if isinstance(each, Assessed) and each.weight > 0:
            yield from each.criteria


def _mean(scores: list[float]) -> float:
    return round(fsum(scores) / len(scores), DECIMALS)
