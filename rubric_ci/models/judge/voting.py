"""Votes on one answer: majority, median, flakiness, groups of criteria, and how many more.

`--votes auto` takes one vote, and two more where moving any single mark by one step could change
the verdict. After that it stops as soon as no completion to five votes can change the verdict, so
that five votes would give the same verdict.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from statistics import median_low
from typing import TypeAlias, assert_never

from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.rubric import (
    Check,
    Chosen,
    Criterion,
    Judged,
    Judgement,
    Levelled,
    Mark,
    Rubric,
    Scored,
    score,
)
from rubric_ci.values.scoring import CANNOT_ASSESS, NOT_APPLICABLE, MarkValue, Thresholds, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class NoMajority:
    """The votes on one criterion give no mark."""

    reason: str


def tally(rubric: Rubric, votes: Sequence[Judgement], panel: int) -> Judgement | NoMajority:
    """Return the majority mark, or the median, of each criterion.

    More than half of the declared panel must satisfy a check or not satisfy it, or give any score:
    a panel that lost votes does not decide by the remaining ones.
    """
    marks = {c.id: given_to(c, votes)[0] for c in rubric}  # of an assertion, each has the same
    for criterion in rubric.judged if panel > 1 else ():  # the mark of a single vote is the mark
        match elect(criterion, given_to(criterion, votes), panel):
            case NoMajority() as undecided:
                return undecided
            case mark:
                marks[criterion.id] = mark
    return Judgement(marks, votes[0].reasoning)


def votes_by_criterion(
    rubric: Rubric, votes: Sequence[Judgement]
) -> Mapping[str, tuple[MarkValue, ...]]:
    return {c.id: tuple(mark.value for mark in given_to(c, votes)) for c in rubric.judged}


def given_to(criterion: Criterion, votes: Sequence[Judgement]) -> list[Mark]:
    """Return the marks of a criterion, of the votes whose request for it got a valid reply."""
    return [vote[criterion.id] for vote in votes if criterion.id in vote.marks]


def flakiness(marks: Sequence[MarkValue]) -> float:
    """Return the share of votes that differ from the most frequent mark; 0: unanimous."""
    # True == 1 in Python, but not as a mark.
    counts = Counter((type(mark), mark) for mark in marks)
    return 1 - max(counts.values()) / len(marks)


def elect(criterion: Judged, marks: Sequence[Mark], panel: int) -> Mark | NoMajority:
    values = [mark.value for mark in marks]
    lost = values.count(NOT_APPLICABLE)
    if 2 * lost > panel:
        return next(mark for mark in marks if mark.value == NOT_APPLICABLE)
    values, panel = [value for value in values if value != NOT_APPLICABLE], panel - lost
    if not values:
        value: MarkValue | None = None
    elif isinstance(criterion, Chosen):
        value = _mode(criterion, values)
    else:
        most, count = Counter(values).most_common()[0]
        value = most if 2 * count > panel else None
    if value is None:
        fallback = _not_satisfied if isinstance(criterion, Check) else _median
        value = fallback(values, panel)
    if value is None:
        listed = ", ".join(str(v).lower() for v in values)
        return NoMajority(reason=f"no majority of {panel} votes on {criterion.id}: {listed}")
    return next(mark for mark in marks if mark.value == value)


def _mode(criterion: Chosen, values: Sequence[MarkValue]) -> MarkValue:
    """Return the most frequent choice.

    Of several the one of the lowest score, and of equal scores one that misses the gate.
    """
    counts = Counter(values)
    most = [Mark(value=value) for value, n in counts.items() if n == max(counts.values())]
    order = [*(each.name for each in criterion.choices), CANNOT_ASSESS]

    def rank(mark: Mark) -> tuple[float, bool, int]:
        gate_met = not criterion.gates(mark)
        return criterion.normalise(mark), gate_met, order.index(str(mark.value))

    return min(most, key=rank).value


def _not_satisfied(values: Sequence[MarkValue], panel: int) -> MarkValue | None:
    """Return the more frequent of `false` and `cannot_assess`, which are worth the same.

    Equally frequent: `false`.
    """
    against = [value for value in values if value is not True]
    if 2 * len(against) <= panel:
        return None
    return CANNOT_ASSESS if 2 * against.count(CANNOT_ASSESS) > len(against) else False


def _median(values: Sequence[MarkValue], panel: int) -> int | None:
    scores = [int(value) for value in values if value != CANNOT_ASSESS]
    # The lower of the two middle ones: a mark of some vote, not a value in between.
    return median_low(scores) if 2 * len(scores) > panel else None


Group: TypeAlias = tuple[Judged, ...]

MOST_CRITERIA = 16  # per request: each is a union in the reply schema, and Anthropic accepts 16


def most_per_request(judge: JudgeConfig) -> int:
    """Return the maximum number of criteria of a rubric in one request; a canary is one more."""
    return 1 if judge.mode == "isolated" else MOST_CRITERIA - judge.canary


def shuffled(criteria: Sequence[Judged], vote: int) -> tuple[Judged, ...]:
    """Return the order for a vote, from 1: file order for the first, another for each other."""
    if vote == 1:
        return tuple(criteria)
    digests = [hashlib.sha256(f"{vote}:{n}".encode()).hexdigest() for n in range(len(criteria))]
    places = sorted(range(len(criteria)), key=lambda place: digests[place])
    return tuple(criteria[place] for place in places)


def grouped(
    criteria: Sequence[Judged], most: int = MOST_CRITERIA
) -> tuple[tuple[Judged, ...], ...]:
    """Split into the fewest groups of at most `most`, of almost equal size."""
    count = -(-len(criteria) // most)
    size, larger = divmod(len(criteria), count)
    groups, start = [], 0
    for n in range(count):
        end = start + size + (n < larger)
        groups.append(tuple(criteria[start:end]))
        start = end
    return tuple(groups)


PANEL = 5  # votes at most
MOST_CHOICES = 12  # whose completions are tried; with more, all votes are taken
SECOND_STEP = 2  # votes after the first


def more_votes(
    rubric: Rubric, votes: Sequence[Judgement], asked: int, thresholds: Thresholds
) -> int:
    """Return how many votes to add; `asked` counts lost votes as well."""
    if asked >= PANEL:
        return 0
    if rubric.is_branching:  # a mark that decides what applies may move the verdict either way
        return PANEL - asked
    if asked == 1:
        return SECOND_STEP if _is_close(rubric, votes[0], thresholds) else 0
    return 0 if _is_decided(rubric, votes, asked, thresholds) else 1


def _is_close(rubric: Rubric, vote: Judgement, thresholds: Thresholds) -> bool:
    """Return True if one mark, moved by one step, changes the verdict."""
    verdict = _verdict(rubric, vote, thresholds)
    moved = (
        _with_mark(vote, criterion, value)
        for criterion in rubric.judged
        for value in _one_step_away(criterion, vote[criterion.id].value)
    )
    return any(_verdict(rubric, each, thresholds) != verdict for each in moved)


def _one_step_away(criterion: Judged, value: MarkValue) -> Sequence[MarkValue]:
    """Return the neighbours of a mark; every mark is one of a choice and of `cannot_assess`."""
    scale = _scale(criterion)
    if value == CANNOT_ASSESS or isinstance(criterion, Chosen):
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
    # The verdict is monotonic in each mark, so two judgements bound all.
    lowest = highest = now
    for criterion in rubric.judged:
        if isinstance(criterion, Chosen) and len(criterion.choices) > MOST_CHOICES:
            return False
        given = given_to(criterion, votes)
        marks = list[Mark]()
        for mark in _reachable(criterion, given, PANEL - asked):
            if isinstance(mark, NoMajority):
                return False
            marks.append(mark)
        # A mark that fails a gate ranks below every other one.
        ranked = sorted(marks, key=lambda m: (not criterion.gates(m), criterion.normalise(m)))
        lowest = _with_mark(lowest, criterion, ranked[0].value)
        highest = _with_mark(highest, criterion, ranked[-1].value)
    return _verdict(rubric, lowest, thresholds) == _verdict(rubric, highest, thresholds)


def _reachable(
    criterion: Judged, given: Sequence[Mark], remaining: int
) -> Iterator[Mark | NoMajority]:
    others = () if criterion.fault else (CANNOT_ASSESS,)
    possible = [Mark(value=value) for value in (*_scale(criterion), *others)]
    for rest in combinations_with_replacement(possible, remaining):
        yield elect(criterion, [*given, *rest], PANEL)


def _scale(criterion: Judged) -> Sequence[MarkValue]:
    match criterion:
        case Check():
            return (True, False) if criterion.fault else (False, True)
        case Scored():
            return range(11)
        case Levelled():
            return [level.level for level in criterion.levels]
        case Chosen():
            return [choice.name for choice in criterion.choices]
        case _:
            assert_never(criterion)


def _with_mark(vote: Judgement, criterion: Judged, value: MarkValue) -> Judgement:
    return replace(vote, marks={**vote.marks, criterion.id: Mark(value=value)})


def _verdict(rubric: Rubric, judgement: Judgement, thresholds: Thresholds) -> Verdict:
    return score(rubric, judgement, thresholds).verdict
