"""Draft rubrics for many cases under a concurrency limit; results keep the order of the cases."""

import asyncio
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias, TypeVar

from rubric_ci.errors import NoVerdict
from rubric_ci.models.judge.reply import InvalidReply
from rubric_ci.models.judge.request import ParsedReply, request_valid_reply, takes_media
from rubric_ci.services.drafting.draft_check import (
    Drafted,
    call_for_tests,
    checked_tests,
    lint,
    read_tests,
)
from rubric_ci.services.drafting.drafting_prompt import Wanted, draft_call
from rubric_ci.services.drafting.drafting_reply import Kind, read_draft
from rubric_ci.system import coroutines
from rubric_ci.values.config import OutputMode
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.llm_calls import ModelCall
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import NOTHING_USED, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRequest:
    """A case without rubrics, and the cases of its suite, whose rubrics show the style."""

    case: EvalCase
    suite: Sequence[EvalCase]
    plain: bool = False  # no faults and conditions, which a file of another tool does not have


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafter:
    endpoint: Endpoint
    output: OutputMode | None = None
    kind: Kind = "checklist"
    tests: bool = False  # write two answers per criterion that the judge marks as expected


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFailed:
    case: EvalCase
    reason: str
    usage: Usage


DraftResult: TypeAlias = Drafted | DraftFailed
Made = TypeVar("Made")


async def draft(
    requests: Sequence[DraftRequest],
    drafter: Drafter,
    context: RunContext,
    *,
    concurrency: int,
    on_result: Callable[[DraftResult], None] = lambda _: None,
) -> tuple[DraftResult, ...]:
    """Draft rubrics for every case and return the results in the order of the requests.

    Cancelled (Ctrl-C), it stops the running drafts and returns the finished ones, so there are
    fewer results than requests. A UserError stops everything and is raised.
    """
    slots = asyncio.Semaphore(concurrency)

    async def draft_one(request: DraftRequest) -> DraftResult:
        async with slots:
            result = await _draft(request, drafter, context)
        on_result(result)
        return result

    return await coroutines.gather_until_cancelled(draft_one(request) for request in requests)


def call_of(request: DraftRequest, drafter: Drafter) -> ModelCall:
    case = request.case
    return draft_call(
        case,
        request.suite,
        drafter.endpoint,
        wanted=Wanted(drafter.kind, request.plain),
        output=drafter.output,
        fence=secrets.token_hex(8),
        about=f"{case.file}: {case.id}: draft",
    )


async def _draft(request: DraftRequest, drafter: Drafter, context: RunContext) -> DraftResult:
    case, call = request.case, call_of(request, drafter)
    try:
        read = partial(read_draft, kind=drafter.kind, plain=request.plain)
        reply = await _cached_or_asked(call, read, context)
    except NoVerdict as error:
        return DraftFailed(case=case, reason=str(error), usage=error.usage)
    made = Drafted(
        case=case,
        draft=reply.value,
        warnings=(*_unseen(case, drafter), *lint(reply.value.rubric, case)),
        usage=reply.usage,
    )
    if drafter.tests:
        made = await _with_tests(made, request, drafter, context)
    return made


async def _with_tests(
    made: Drafted, request: DraftRequest, drafter: Drafter, context: RunContext
) -> Drafted:
    if request.plain:
        return made.but(NOTHING_USED, "no tests: a file of another tool has no place for them")
    criteria = made.draft.rubric.judged
    call = call_for_tests(
        made.case, criteria, drafter.endpoint, drafter.output, fence=secrets.token_hex(8)
    )
    try:
        reply = await _cached_or_asked(call, partial(read_tests, criteria=criteria), context)
    except NoVerdict as error:
        return replace(made.but(error.usage), unchecked=f"its tests: {error}")
    return await checked_tests(made, reply.value, reply.usage, context)


def _unseen(case: EvalCase, drafter: Drafter) -> Iterator[str]:
    """Yield a warning about images and documents that the model is not shown."""
    media = (*case.media, *case.reference_media)
    if hidden := [each for each in media if not takes_media(drafter.endpoint, each)]:
        names = ", ".join(f"`{each.path}`" for each in hidden)
        yield f"draft-unseen: {drafter.endpoint.model} did not see {names}: it takes none of them"


async def _cached_or_asked(
    call: ModelCall, read: Callable[[str], Made | InvalidReply], context: RunContext
) -> ParsedReply[Made]:
    """Reuse the reply of an earlier run: a later run writes the draft that `--diff` showed."""
    cache = context.cache
    cached = None if cache is None else cache.get(call.key)
    if cached is not None and not isinstance(parsed := read(cached), InvalidReply):
        return ParsedReply(value=parsed, text=cached, usage=Usage(cache_hits=1))
    reply = await request_valid_reply(context.call_model, call, read)
    if cache is not None:
        cache.put(call.key, reply.text)
    return reply
