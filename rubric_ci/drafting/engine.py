"""Draft rubrics for many cases under a concurrency limit; results keep the order of the cases."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from rubric_ci.drafting.check import check_draft
from rubric_ci.drafting.exact_checks import with_checks
from rubric_ci.drafting.lint import lint_messages
from rubric_ci.drafting.prompt import Contrast, draft_call
from rubric_ci.drafting.reply import Draft, Kind, read_draft
from rubric_ci.errors import NoVerdict
from rubric_ci.judge.request import ParsedReply, request_valid_reply
from rubric_ci.model.config import Endpoint, OutputMode
from rubric_ci.model.context import RunContext
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.llm_calls import ModelCall, Usage
from rubric_ci.system import task_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRequest:
    """A case without rubrics, and the cases of its suite, whose rubrics show the style."""

    case: EvalCase
    suite: Sequence[EvalCase]
    contrast: Contrast | None = None  # answers of a run with --against that broke the case


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafter:
    """The model that drafts, and its settings."""

    endpoint: Endpoint
    output: OutputMode | None = None
    kind: Kind = "checklist"
    check: bool = False  # have the judge mark the reference answer by the draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """Rubrics for a case, and warnings for the person who reviews them."""

    case: EvalCase
    draft: Draft
    warnings: tuple[str, ...] = ()
    unchecked: str = ""  # why the reference answer has no marks, if `check` is set
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFailed:
    """A case whose draft failed."""

    case: EvalCase
    reason: str
    usage: Usage


DraftResult: TypeAlias = Drafted | DraftFailed


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

    return await task_groups.gather_until_cancelled(draft_one(request) for request in requests)


async def _draft(request: DraftRequest, drafter: Drafter, context: RunContext) -> DraftResult:
    case = request.case
    call = draft_call(
        case,
        request.suite,
        drafter.endpoint,
        kind=drafter.kind,
        output=drafter.output,
        fence=secrets.token_hex(8),
        about=f"{case.file}: {case.id}: draft",
        contrast=request.contrast,
    )
    try:
        reply = await _cached_or_asked(call, drafter, context)
    except NoVerdict as error:
        return DraftFailed(case=case, reason=str(error), usage=error.usage)
    made = Drafted(
        case=case,
        draft=reply.value,
        warnings=lint_messages(reply.value.rubric, case),
        usage=reply.usage,
    )
    checked = await _checked(made, request.contrast, context) if drafter.check else made
    return replace(checked, draft=with_checks(checked.draft, case.expected_outcome))


async def _cached_or_asked(
    call: ModelCall, drafter: Drafter, context: RunContext
) -> ParsedReply[Draft]:
    """Reuse the draft of an earlier run: what `--diff` showed is what a later run writes."""
    read = partial(read_draft, kind=drafter.kind)
    cache = context.cache
    cached = None if cache is None else cache.get(call.key)
    if cached is not None and isinstance(parsed := read(cached), Draft):
        return ParsedReply(value=parsed, text=cached, usage=Usage(cache_hits=1))
    reply = await request_valid_reply(context.call_model, call, read)
    if cache is not None:
        cache.put(call.key, reply.text)
    return reply


async def _checked(made: Drafted, contrast: Contrast | None, context: RunContext) -> Drafted:
    bad = contrast.bad if contrast else ""
    found = await check_draft(made.case, made.draft, context, bad=bad)
    return replace(
        made,
        draft=found.draft,
        warnings=(*made.warnings, *found.warnings),
        unchecked=found.unchecked,
        usage=made.usage + found.usage,
    )
