"""The judgement of an answer: votes of one judge, or of a panel.

A vote is one request per group of criteria. The marks of a panel are the majority, or the median,
of its members; half of them or fewer decide nothing.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial

from rubric_ci.errors import CannotJudge, NoVerdict
from rubric_ci.models.judge.prompt import NO_BRIEFING, Briefing, rubric_call, rubric_messages
from rubric_ci.models.judge.prompt_parts import Part
from rubric_ci.models.judge.reply import InvalidReply, read_marks
from rubric_ci.models.judge.reply_checks import (
    missing_quotes,
    with_canary,
    with_sentence,
    without_canary,
)
from rubric_ci.models.judge.request import ParsedReply, new_fence, request_or_count, shown_to
from rubric_ci.models.judge.voting import (
    NoMajority,
    given_to,
    grouped,
    more_votes,
    most_per_request,
    shuffled,
    tally,
    votes_by_criterion,
)
from rubric_ci.system import coroutines
from rubric_ci.system.coroutines import worked_on
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.llm_calls import ModelCall, Unsent, unsent
from rubric_ci.values.media import Media
from rubric_ci.values.rubric import Judged, Judgement, Mark, Rubric
from rubric_ci.values.scoring import MarkValue
from rubric_ci.values.trace import SeenPart
from rubric_ci.values.usage import NOTHING_USED, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelRequest:
    """One answer to mark, and the judge that marks it."""

    case: EvalCase
    answer: str
    seen: tuple[Part, ...] = ()  # besides the answer
    media: tuple[Media, ...] = ()  # images and documents of the answer
    rubric: Rubric
    briefing: Briefing = NO_BRIEFING
    judge: JudgeConfig
    context: RunContext
    known: Mapping[str, Mark] = field(default_factory=dict)  # of criteria that no judge marks
    about: str  # shown in progress and errors

    @property
    def material(self) -> str:
        """All that a quote may be from."""
        return "\n\n".join(self.parts.values()) if self.seen else self.answer

    @property
    def parts(self) -> Mapping[SeenPart, str]:
        """The texts that the judge sees, by their names in `sees`."""
        texts: dict[SeenPart, list[str]] = {"answer": [self.answer]}
        for part in self.seen:
            texts.setdefault(part.name, []).append(part.text)
        return {name: "\n\n".join(each) for name, each in texts.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelResult:
    """The judgement of all votes, and the votes themselves where there were several."""

    judgement: Judgement
    votes: Mapping[str, tuple[MarkValue, ...]]  # by criterion id; empty after a single vote
    judges: tuple[str, ...] = ()  # the model of each vote; empty: one judge gave them
    judge: str = ""  # whose judgement it is; empty: no judge was asked
    silent: Mapping[str, str] = field(default_factory=dict)  # judges without marks, and why
    cached: frozenset[str]  # ids of the criteria with a vote from the cache
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class _Vote:
    """The marks of one vote, why it lacks some, and what was spent on it.

    In several requests, one without a valid reply loses the marks of its criteria only.
    """

    judgement: Judgement
    unsent: Unsent | None = None
    lost: NoVerdict | None = None
    cached: frozenset[str] = frozenset()
    usage: Usage


async def decide(request: PanelRequest) -> PanelResult | Unsent:
    """Return the judgement of all judges; raises NoVerdict if they give none."""
    if not request.judge.others:
        return await _votes_of(request)
    return await _panel(request, [replace(request, judge=each) for each in request.judge.members])


async def _panel(request: PanelRequest, members: Sequence[PanelRequest]) -> PanelResult | Unsent:
    replies = await coroutines.gather_all(map(_judged, members))
    if counted := unsent(replies):
        return counted
    usage = sum((reply.usage for reply in replies), NOTHING_USED)
    by_judge = [(each.judge.name, reply) for each, reply in zip(members, replies, strict=True)]
    lost = {name: reply for name, reply in by_judge if isinstance(reply, NoVerdict)}
    found = [(name, reply) for name, reply in by_judge if isinstance(reply, PanelResult)]
    if 2 * len(found) <= len(members):
        counts = f"{len(found)} of {len(members)} judges"
        last = list(lost.values())[-1]
        raise CannotJudge(f"no majority: only {counts} gave marks; {last}", usage)
    judgement = tally(request.rubric, [reply.judgement for _, reply in found], len(members))
    if isinstance(judgement, NoMajority):
        raise CannotJudge(judgement.reason, usage)
    last_found = found[-1][1]
    return replace(
        last_found,
        votes={
            name: tuple(reply.judgement[name].value for _, reply in found)
            for name in last_found.judgement.marks
        },
        judges=tuple(name for name, _ in found),
        judgement=judgement,
        judge=request.judge.name,
        silent={name: str(error) for name, error in lost.items()},
        cached=frozenset[str]().union(*(reply.cached for _, reply in found)),
        usage=usage,
    )


async def _judged(request: PanelRequest) -> PanelResult | NoVerdict | Unsent:
    """Return a failure as a value, so that the other judges finish and their cost is known."""
    try:
        return await _votes_of(request)
    except NoVerdict as error:
        return error


async def _votes_of(request: PanelRequest) -> PanelResult | Unsent:
    """Collect all votes; raises NoVerdict if too many fail or they give no majority."""
    declared = request.judge.votes
    remaining = 1 if declared == "auto" else declared
    votes: list[_Vote] = []
    judgements: list[Judgement] = []
    while remaining:
        numbers = range(len(votes) + 1, len(votes) + remaining + 1)
        votes += await coroutines.gather_all(_vote(request, number) for number in numbers)
        if counted := unsent(vote.unsent for vote in votes):
            return counted
        judgements = _quorum(request, votes)
        # A lost vote is not repeated: it stays one of the declared panel, or of the five of `auto`.
        thresholds = request.context.thresholds
        remaining = (
            more_votes(request.rubric, judgements, len(votes), thresholds)
            if declared == "auto"
            else 0
        )
    judgement = tally(request.rubric, judgements, len(votes))
    if isinstance(judgement, NoMajority):
        raise CannotJudge(judgement.reason, _spent(votes))
    by_criterion = votes_by_criterion(request.rubric, judgements) if len(votes) > 1 else {}
    cached = frozenset[str]().union(*(vote.cached for vote in votes))
    return PanelResult(
        judgement=judgement,
        votes=by_criterion,
        judge=request.judge.name,
        cached=cached,
        usage=_spent(votes),
    )


def _quorum(request: PanelRequest, votes: Sequence[_Vote]) -> list[Judgement]:
    """Return the votes; raises the last failure if a criterion has marks of half of them or less.

    The quorum is one of each criterion.
    """
    judgements = [vote.judgement for vote in votes if vote.judgement.marks]
    if lost := [vote.lost for vote in votes if vote.lost]:
        succeeded = min(len(given_to(criterion, judgements)) for criterion in request.rubric.judged)
        if 2 * succeeded <= len(votes):
            if len(votes) == 1:
                raise lost[-1].with_usage(_spent(votes))
            counts = f"{succeeded} of {len(votes)} votes"
            raise CannotJudge(f"no quorum: only {counts} succeeded; {lost[-1]}", _spent(votes))
    return judgements


async def _vote(request: PanelRequest, number: int) -> _Vote:
    criteria = shuffled(request.rubric.judged, number)
    groups = grouped(criteria, most_per_request(request.judge))
    replies = await coroutines.gather_all(_ask(request, group, number) for group in groups)
    usage = sum((reply.usage for reply in replies), NOTHING_USED)
    lost = [reply for reply in replies if isinstance(reply, NoVerdict)]
    parsed = [reply for reply in replies if isinstance(reply, ParsedReply)]
    given = {name: mark for part in parsed for name, mark in part.value.marks.items()}
    marks = {**request.known, **given} if parsed else {}
    reasoning = "\n".join(part.value.reasoning for part in parsed if part.value.reasoning)
    from_cache = [part.value for part in parsed if part.usage.cache_hits]
    return _Vote(
        judgement=Judgement(marks, reasoning),
        unsent=unsent(replies),
        lost=lost[-1] if lost else None,
        cached=frozenset[str]().union(*(judgement.marks for judgement in from_cache)),
        usage=usage,
    )


async def _ask(
    request: PanelRequest, criteria: Sequence[Judged], vote: int
) -> ParsedReply[Judgement] | NoVerdict | Unsent:
    marked = with_canary(criteria, request.answer) if request.judge.canary else criteria

    def read(text: str) -> Judgement | InvalidReply:
        judgement = read_marks(text, marked)
        if isinstance(judgement, InvalidReply):
            return judgement
        strict = request.judge.evidence == "strict"
        if strict and (missing := missing_quotes(judgement, criteria, request.material)):
            return InvalidReply(missing)
        return without_canary(judgement) if request.judge.canary else judgement

    call = await worked_on(len(request.material), _call, request, marked, vote)
    return await request_or_count(call, read, request.context)


def _call(request: PanelRequest, criteria: Sequence[Judged], vote: int) -> ModelCall:
    judge, about, fence = request.judge, request.about, new_fence()
    write = partial(
        rubric_messages,
        request.case,
        request.answer,
        seen=request.seen,
        briefing=request.briefing,
        media=request.media,
        shown=shown_to(judge),
    )
    plain = messages = write(criteria, fence=fence)
    if judge.canary:  # its sentence is random, too
        asked = with_sentence(criteria, request.answer, secrets.token_bytes())
        messages = write(asked, fence=fence)
    return rubric_call(messages, plain, criteria, judge, fence=fence, vote=vote, about=about)


def _spent(votes: Sequence[_Vote]) -> Usage:
    return sum((vote.usage for vote in votes), NOTHING_USED)
