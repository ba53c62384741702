"""Asks the judge as often and in as many pieces as is configured, and adds the votes up."""

import asyncio
import secrets
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from rubric_ci.errors import CannotJudge, NoVerdict
from rubric_ci.judge.cached_ask import ask_once
from rubric_ci.judge.canary import with_canary, without_canary
from rubric_ci.judge.evidence import with_quotes
from rubric_ci.judge.json_reply import InvalidReply
from rubric_ci.judge.prompt import rubric_call
from rubric_ci.judge.repair import ParsedReply
from rubric_ci.judge.reply_parser import read_marks
from rubric_ci.judge.voting import AT_MOST, grouped, more_votes, shuffled, tally, votes_by_criterion
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.llm_calls import NOTHING_USED, Usage
from rubric_ci.model.rubric import Criterion, Judgement, MarkValue, Rubric

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One answer to mark, and who marks it."""

    case: EvalCase
    answer: str
    rubric: Rubric
    judge: JudgeConfig
    context: RunContext
    about: str  # for people


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the votes amount to, and the votes themselves where there were several."""

    judgement: Judgement
    votes: Mapping[str, tuple[MarkValue, ...]]  # by criterion id; empty after a single vote
    cached: frozenset[str]  # ids of the criteria of which a vote is from the cache
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class _Vote:
    """One opinion on all criteria."""

    judgement: Judgement
    cached: frozenset[str]
    usage: Usage


async def decide(question: Question) -> Decision:
    """Ask for all votes; raises CannotJudge when too few of them come to a majority."""
    declared = question.judge.votes
    wanted, panel, usage = (1 if declared == "auto" else declared), 0, NOTHING_USED
    votes: list[Judgement] = []
    cached: frozenset[str] = frozenset()
    while wanted:
        heard, spent = await _poll(question, range(panel + 1, panel + wanted + 1), usage)
        votes, panel, usage = [*votes, *(vote.judgement for vote in heard)], panel + wanted, spent
        cached = cached.union(*(vote.cached for vote in heard))
        wanted = _still_wanted(question, votes, panel)
    try:
        judgement = tally(question.rubric, votes, panel)
    except CannotJudge as error:
        error.usage = usage
        raise
    given = votes_by_criterion(question.rubric, votes) if panel > 1 else {}
    return Decision(judgement=judgement, votes=given, cached=cached, usage=usage)


def _still_wanted(question: Question, votes: Sequence[Judgement], panel: int) -> int:
    # A vote that was lost is not asked for again: the panel stays as declared.
    if question.judge.votes != "auto" or len(votes) < panel:
        return 0
    return more_votes(question.rubric, votes, question.context.thresholds)


async def _poll(question: Question, votes: range, before: Usage) -> tuple[list[_Vote], Usage]:
    """Return the votes that came about; raises the last reason when they are no quorum."""
    heard, lost = await _gathered([_vote(question, vote) for vote in votes])
    spent = sum((e.usage for e in lost), sum((h.usage for h in heard), before))
    if lost and 2 * (votes.start - 1 + len(heard)) <= votes.stop - 1:
        raise _no_quorum(lost[-1], len(heard), len(votes), spent)
    return heard, spent


def _no_quorum(last: NoVerdict, heard: int, wanted: int, spent: Usage) -> NoVerdict:
    if wanted == 1:
        last.usage = spent
        return last
    return CannotJudge(f"no quorum: {heard} of {wanted} votes came about; {last}", spent)


async def _vote(question: Question, vote: int) -> _Vote:
    most = 1 if question.judge.mode == "isolated" else AT_MOST
    groups = grouped(shuffled(question.rubric.criteria, vote), most)
    heard, lost = await _gathered([_ask(question, group, vote) for group in groups])
    spent = sum((e.usage for e in lost), sum((h.usage for h in heard), NOTHING_USED))
    if lost:
        lost[-1].usage = spent
        raise lost[-1]
    marks = {name: mark for one in heard for name, mark in one.value.marks.items()}
    reasoning = "\n".join(one.value.reasoning for one in heard if one.value.reasoning)
    cached = frozenset(name for one in heard if one.usage.cache_hits for name in one.value.marks)
    return _Vote(judgement=Judgement(marks, reasoning), cached=cached, usage=spent)


async def _ask(
    question: Question, criteria: Sequence[Criterion], vote: int
) -> ParsedReply[Judgement]:
    asked = with_canary(criteria, question.answer) if question.judge.canary else criteria

    def read(text: str) -> Judgement | InvalidReply:
        judgement = read_marks(text, asked)
        if question.judge.evidence == "strict":
            judgement = with_quotes(judgement, criteria, question.answer)
        if question.judge.canary and not isinstance(judgement, InvalidReply):
            judgement = without_canary(judgement)
        return judgement

    call = rubric_call(
        question.case,
        question.answer,
        asked,
        question.judge,
        fence=secrets.token_hex(8),
        vote=vote,
        about=question.about,
    )
    return await ask_once(call, read, question.context)


async def _gathered(
    asked: Sequence[Coroutine[Any, Any, T]],
) -> tuple[list[T], list[NoVerdict]]:
    """Run all to their end, so that what each of them spent is known."""
    results = await asyncio.gather(*asked, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, NoVerdict):
            raise result
    heard = [r for r in results if not isinstance(r, BaseException)]
    return heard, [r for r in results if isinstance(r, NoVerdict)]
