"""How many votes `--votes auto` adds.

It takes one vote, and two more where moving any single mark by one step could change the verdict.
After that it stops as soon as no completion to five votes can change the verdict, so that the
verdict is that of five votes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import assert_never

from rubric_ci.judge.voting import NoMajority, elect, tally
from rubric_ci.model.mark_value import CANNOT_ASSESS, MarkValue
from rubric_ci.model.rubric import Check, Judged, Judgement, Levelled, Mark, Rubric, Scored
from rubric_ci.model.scoring import Thresholds, Verdict, score

PANEL = 5  # votes at most
SECOND_STEP = 2  # votes after the first


def more_votes(
    rubric: Rubric, votes: Sequence[Judgement], asked: int, thresholds: Thresholds
) -> int:
    """Return how many votes to add; `asked` counts lost votes as well."""
    if asked >= PANEL:
        return 0
    if asked == 1:
        return SECOND_STEP if _one_step_matters(rubric, votes[0], thresholds) else 0
    return 0 if _is_decided(rubric, votes, asked, thresholds) else 1


def _one_step_matters(rubric: Rubric, vote: Judgement, thresholds: Thresholds) -> bool:
    verdict = _verdict(rubric, vote, thresholds)
    return any(
        _verdict(rubric, _with_mark(vote, criterion, value), thresholds) != verdict
        for criterion in rubric.judged
        for value in _one_step_away(criterion, vote[criterion.id].value)
    )


def _one_step_away(criterion: Judged, value: MarkValue) -> Sequence[MarkValue]:
    """Return the neighbours of a mark; after `cannot_assess`, every mark is one."""
    scale = _scale(criterion)
    if value == CANNOT_ASSESS:
        return scale
    place = scale.index(value)
    return [*scale[max(0, place - 1) : place], *scale[place + 1 : place + 2]]


def _is_decided(
    rubric: Rubric, votes: Sequence[Judgement], asked: int, thresholds: Thresholds
) -> bool:
    """Return True if no further vote can change the verdict."""
    now = tally(rubric, votes, asked)
    if isinstance(now, NoMajority):
        return False
    lowest = highest = now
    for criterion in rubric.judged:
        given = [vote[criterion.id] for vote in votes]
        for mark in _reachable(criterion, given, PANEL - asked):
            if isinstance(mark, NoMajority):
                return False
            # The verdict is monotonic in each mark, so two judgements bound all.
            if _rank(criterion, mark) < _rank(criterion, lowest[criterion.id]):
                lowest = _with_mark(lowest, criterion, mark.value)
            if _rank(criterion, mark) > _rank(criterion, highest[criterion.id]):
                highest = _with_mark(highest, criterion, mark.value)
    return _verdict(rubric, lowest, thresholds) == _verdict(rubric, highest, thresholds)


def _reachable(
    criterion: Judged, given: Sequence[Mark], remaining: int
) -> Iterator[Mark | NoMajority]:
    possible = [Mark(value=value) for value in (*_scale(criterion), CANNOT_ASSESS)]
    for rest in combinations_with_replacement(possible, remaining):
        yield elect(criterion, [*given, *rest], PANEL)


def _scale(criterion: Judged) -> Sequence[MarkValue]:
    match criterion:
        case Check():
            return (False, True)
        case Scored():
            return range(11)
        case Levelled():
            return [level.level for level in criterion.levels]
        case _:
            assert_never(criterion)


def _rank(criterion: Judged, mark: Mark) -> tuple[bool, float]:
    return not criterion.gates(mark), criterion.normalise(mark)


def _with_mark(vote: Judgement, criterion: Judged, value: MarkValue) -> Judgement:
    return replace(vote, marks={**vote.marks, criterion.id: Mark(value=value)})


def _verdict(rubric: Rubric, judgement: Judgement, thresholds: Thresholds) -> Verdict:
    return score(rubric, judgement, thresholds).verdict
