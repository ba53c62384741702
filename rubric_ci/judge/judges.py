"""Several judges of one answer: a panel, or a cascade of a cheap and a dear one.

The marks of a panel are the majority, or the median, of its members; half of them or fewer decide
nothing. In a cascade the first judge decides where its verdict is sure: no `margin` of its marks,
each one step off, could change it, its votes agree, and it could assess every criterion. Elsewhere
the last judge decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rubric_ci.errors import CannotJudge, NoVerdict
from rubric_ci.judge import panel
from rubric_ci.judge.panel import PanelRequest, PanelResult
from rubric_ci.judge.voting import NoMajority, flakiness, moves_to_change, tally
from rubric_ci.model.llm_calls import NOTHING_USED
from rubric_ci.model.rubric import Judgement, Rubric
from rubric_ci.model.scoring import CANNOT_ASSESS, MarkValue, Thresholds
from rubric_ci.system import task_groups


async def decide(request: PanelRequest) -> PanelResult:
    """Return the judgement of all judges; raises NoVerdict if they give none."""
    if not request.judge.others:
        return await panel.decide(request)
    members = [replace(request, judge=member) for member in request.judge.members]
    if request.judge.margin is None:
        return await _panel(request, members)
    return await _cascade(members[0], members[-1], request.judge.margin)


def is_sure(
    rubric: Rubric,
    judgement: Judgement,
    votes: Mapping[str, Sequence[MarkValue]],
    thresholds: Thresholds,
    margin: int,
) -> bool:
    """Return True if the first judge of a cascade decides."""
    if any(judgement[each.id].value == CANNOT_ASSESS for each in rubric.judged):
        return False
    if any(flakiness(marks) for marks in votes.values()):
        return False
    moves = moves_to_change(rubric, judgement, thresholds)
    return moves is None or moves > margin


async def _panel(request: PanelRequest, members: Sequence[PanelRequest]) -> PanelResult:
    replies = await task_groups.gather_all(map(_judged, members))
    usage = sum((reply.usage for reply in replies), NOTHING_USED)
    lost = [reply for reply in replies if isinstance(reply, NoVerdict)]
    found = [
        (member.judge.name, reply)
        for member, reply in zip(members, replies, strict=True)
        if isinstance(reply, PanelResult)
    ]
    if 2 * len(found) <= len(members):
        counts = f"{len(found)} of {len(members)} judges"
        raise CannotJudge(f"no majority: only {counts} gave marks; {lost[-1]}", usage)
    judgement = tally(request.rubric, [reply.judgement for _, reply in found], len(members))
    if isinstance(judgement, NoMajority):
        raise CannotJudge(judgement.reason, usage)
    return replace(
        _together(found),
        judgement=judgement,
        judge=request.judge.name,
        cached=frozenset[str]().union(*(reply.cached for _, reply in found)),
        usage=usage,
    )


async def _cascade(first: PanelRequest, last: PanelRequest, margin: int) -> PanelResult:
    cheap = await _judged(first)
    if isinstance(cheap, PanelResult):
        thresholds = first.context.thresholds
        if is_sure(first.rubric, cheap.judgement, cheap.votes, thresholds, margin):
            return cheap
    dear = await _judged(last)
    if isinstance(dear, NoVerdict):
        raise dear.with_usage(cheap.usage + dear.usage) from dear
    whole = replace(dear, usage=cheap.usage + dear.usage)
    if isinstance(cheap, NoVerdict):
        return whole
    both = _together([(first.judge.name, cheap), (last.judge.name, dear)])
    return replace(whole, votes=both.votes, judges=both.judges)


def _together(found: Sequence[tuple[str, PanelResult]]) -> PanelResult:
    """Return the result of the last judge with the marks of all, judge by judge."""
    _, result = found[-1]
    votes = {
        name: tuple(reply.judgement[name].value for _, reply in found)
        for name in result.judgement.marks
    }
    return replace(result, votes=votes, judges=tuple(name for name, _ in found))


async def _judged(request: PanelRequest) -> PanelResult | NoVerdict:
    """Return a failure as a value, so that the other judges finish and their cost is known."""
    try:
        return await panel.decide(request)
    except NoVerdict as error:
        return error
