"""Draft rubrics for many cases under a concurrency window; the order of the cases is kept."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from rubric_ci.drafting.lint import lint
from rubric_ci.drafting.prompt import draft_call
from rubric_ci.drafting.reply_parser import Draft, read_draft
from rubric_ci.drafting.reply_schema import Kind
from rubric_ci.errors import NoVerdict
from rubric_ci.evaluators import evaluate
from rubric_ci.judge.repair import ParsedReply, request_valid_reply
from rubric_ci.model.config import Endpoint, OutputMode
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.llm_calls import ModelCall, Usage
from rubric_ci.model.results import Answer, Unassessed
from rubric_ci.system import task_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRequest:
    """A case that wants rubrics, and the cases of its suite, which show the style."""

    case: EvalCase
    suite: Sequence[EvalCase]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafter:
    """Who drafts, and how."""

    endpoint: Endpoint
    output: OutputMode | None = None
    kind: Kind = "checklist"
    check: bool = False  # let the judge mark the reference answer by the draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """Rubrics for a case, and what a person should look at."""

    case: EvalCase
    draft: Draft
    doubts: tuple[str, ...] = ()
    unchecked: str = ""  # why the reference answer could not be marked, where that was wanted
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFailed:
    """A case for which there is no draft."""

    case: EvalCase
    reason: str
    usage: Usage


DraftResult: TypeAlias = Drafted | DraftFailed


async def draft(
    orders: Sequence[DraftRequest],
    drafter: Drafter,
    context: RunContext,
    *,
    concurrency: int,
    on_result: Callable[[DraftResult], None] = lambda _: None,
) -> tuple[DraftResult, ...]:
    """Draft for every case and return the results in the order of the orders.

    When this is cancelled (Ctrl-C), what runs is stopped and the finished drafts are returned:
    fewer results than orders mean just that. A UserError stops everything and is raised.
    """
    window = asyncio.Semaphore(concurrency)

    async def one(order: DraftRequest) -> DraftResult:
        async with window:
            result = await _draft(order, drafter, context)
        on_result(result)
        return result

    return await task_groups.gather_until_cancelled(one(order) for order in orders)


async def _draft(order: DraftRequest, drafter: Drafter, context: RunContext) -> DraftResult:
    case = order.case
    call = draft_call(
        case,
        order.suite,
        drafter.endpoint,
        kind=drafter.kind,
        output=drafter.output,
        fence=secrets.token_hex(8),
        about=f"{case.file}: {case.id}: draft",
    )
    try:
        heard = await _recalled_or_asked(call, drafter, context)
    except NoVerdict as error:
        return DraftFailed(case=case, reason=str(error), usage=error.usage)
    found = tuple(
        f"{doubt.criterion}: {doubt.rule}: {doubt.message}"
        for doubt in lint(heard.value.rubric, case)
    )
    made = Drafted(case=case, draft=heard.value, doubts=found, usage=heard.usage)
    return await _checked(made, context) if drafter.check else made


async def _recalled_or_asked(
    call: ModelCall, drafter: Drafter, context: RunContext
) -> ParsedReply[Draft]:
    """Take the draft of an earlier run: what `--diff` showed is what is written after it."""
    read = partial(read_draft, kind=drafter.kind)
    memory = context.cache
    kept = None if memory is None else memory.get(call.key)
    if kept is not None and isinstance(known := read(kept), Draft):
        return ParsedReply(value=known, text=kept, usage=Usage(cache_hits=1))
    heard = await request_valid_reply(context.call_model, call, read)
    if memory is not None:
        memory.put(call.key, heard.text)
    return heard


async def _checked(made: Drafted, context: RunContext) -> Drafted:
    """Let the judge mark the reference answer: a good draft passes it."""
    case = made.case
    if not case.reference_answer:
        return _noted(made, "there is no reference answer to check the draft with")
    spec = RubricSpec(name="draft", rubric=made.draft.rubric, span=case.span)
    result = await evaluate(case, Answer(text=case.reference_answer), spec, context)
    made = replace(made, usage=made.usage + result.usage)
    if isinstance(result, Unassessed):
        return replace(made, unchecked=result.reason)
    if result.verdict == "pass":
        return made
    missed = ", ".join(c.id for c in result.criteria if c.normalised < 1)
    return _noted(
        made,
        f"the reference answer does not pass this draft: {result.verdict}, score {result.score:g}, "
        f"short of: {missed}",
    )


def _noted(made: Drafted, doubt: str) -> Drafted:
    return replace(made, doubts=(*made.doubts, doubt))
