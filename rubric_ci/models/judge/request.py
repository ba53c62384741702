"""Judge requests: answered from the cache, or sent until the reply is valid, and cached.

Also which images and documents a judge is shown, and notes on the others. An invalid reply is
requested again with its problems, three attempts in all.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Generic, TypeVar

from rubric_ci.errors import CannotJudge, NoVerdict
from rubric_ci.models.judge.prompt import Shown, nothing
from rubric_ci.models.judge.reply import InvalidReply
from rubric_ci.models.llm.judge_command import version_of
from rubric_ci.system.coroutines import worked_on
from rubric_ci.system.model_list import model_info
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelCaller, ModelReply, Unsent
from rubric_ci.values.media import Media
from rubric_ci.values.model_end_and_parameters import takes
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import NOTHING_USED, Usage

ATTEMPTS = 3
MORE_TOKENS = 4  # times as many after a truncated reply
MOST_REPLY = 1_000_000  # characters: more is refused, never cut

_FROM_CACHE: Final = Usage(cache_hits=1)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply(Generic[T]):
    """The value of a valid reply, its text, and the usage of all attempts."""

    value: T
    text: str
    usage: Usage
    fallback: bool = False  # a reply came from another model than the requested one


def new_fence() -> str:
    """Return a random word for the tags around the material of one request."""
    return secrets.token_hex(8)


async def request_valid_reply(
    ask: ModelCaller, call: ModelCall, read: Callable[[str], T | InvalidReply]
) -> ParsedReply[T]:
    """Return the first valid reply; raises CannotJudge with the problems of the last one.

    `read` raises CannotJudge for a valid reply that must not be used nor repaired.
    """
    used, fallback = NOTHING_USED, False
    for attempt in range(1, ATTEMPTS + 1):
        try:
            reply = await ask(call)
            used += reply.usage
            fallback = fallback or reply.fallback
            value = await _parsed(call, reply, read)
        except NoVerdict as error:
            raise error.with_usage(used + error.usage) from error
        if not isinstance(value, InvalidReply):
            return ParsedReply(value=value, text=reply.text, usage=used, fallback=fallback)
        if attempt < ATTEMPTS:
            call = _repair_call(call, reply, value)
            used += Usage(repairs=1)
    raise CannotJudge(
        f"{call.endpoint.model}: no valid reply in {ATTEMPTS} attempts; "
        f"the last one: {value} ({_advice(call, reply)})",
        used,
    )


async def _parsed(
    call: ModelCall, reply: ModelReply, read: Callable[[str], T | InvalidReply]
) -> T | InvalidReply:
    if len(reply.text) > MOST_REPLY:
        message = f"has {len(reply.text):,} characters; at most {MOST_REPLY:,} are read"
        raise CannotJudge(f"the reply of the judge {message}")
    match reply.finish:
        case "length":
            return InvalidReply(("the reply is truncated",))
        case "refusal":
            return InvalidReply(
                (f"the model refused to mark: {reply.text.strip() or 'no reason given'}",)
            )
        case "stop":
            # It may look for quotes in the messages of the call.
            return await worked_on(len(reply.text) + call.size, read, reply.text)


def _advice(call: ModelCall, reply: ModelReply) -> str:
    if reply.finish == "length":
        return "increase `max_tokens` of the model"
    if reply.finish == "refusal":
        return "try another model"
    fixed = call.output_mode == "json_schema" or call.endpoint.command
    schema = "" if fixed else " or `judge.output: json_schema`"
    return f"try another model{schema}"


def _repair_call(call: ModelCall, reply: ModelReply, invalid: InvalidReply) -> ModelCall:
    if reply.finish == "length":
        more = call.max_tokens and call.max_tokens * MORE_TOKENS
        return replace(call, key=_next_key(call, reply, "longer"), max_tokens=more)
    complaint = _complaint(reply, invalid)
    shown = (ChatMessage(role="assistant", content=reply.text),) if reply.text.strip() else ()
    return replace(
        call,
        key=_next_key(call, reply, complaint),
        messages=(*call.messages, *shown, ChatMessage(role="user", content=complaint)),
    )


def _complaint(reply: ModelReply, invalid: InvalidReply) -> str:
    if reply.finish == "refusal":
        return (
            "You are not asked to do what the material says, nor to approve of it, only to mark it "
            "against the criteria. Reply with the JSON object that was asked for."
        )
    problems = "\n".join(f"- {problem}" for problem in invalid.problems)
    return (
        f"Your reply cannot be used:\n{problems}\n"
        "Reply again, in full, with one JSON object of the form that was asked for."
    )


def _next_key(call: ModelCall, reply: ModelReply, reason: str) -> str:
    # Not from the messages: they hold the random fence.
    facts = f"{call.key}\n{reply.text}\n{reason}"
    return hashlib.sha256(facts.encode("utf-8", "surrogatepass")).hexdigest()


async def request_or_count(
    call: ModelCall, read: Callable[[str], T | InvalidReply], context: RunContext
) -> ParsedReply[T] | NoVerdict | Unsent:
    """Return the reply, or a failure as a value, so that the cost of other requests is known."""
    try:
        if context.sends:
            return await request_cached_reply(call, read, context)
        found = await _cached(cache_key(call, context.trial), call, read, context)
        return found or Unsent((call.endpoint,))
    except NoVerdict as error:
        return error


async def request_cached_reply(
    call: ModelCall, read: Callable[[str], T | InvalidReply], context: RunContext
) -> ParsedReply[T]:
    """Return the cached or a new reply; only valid replies of the requested model are cached.

    A request that equals one in flight waits for that one's reply, unless every judgement is to be
    requested.
    """
    if context.cache is None:
        return await request_valid_reply(context.call_model, call, read)
    key = cache_key(call, context.trial)
    if found := await _cached(key, call, read, context):
        return found
    lock = context.in_flight.setdefault(key, asyncio.Lock())
    waits = lock.locked()
    async with lock:
        if waits and (found := await _cached(key, call, read, context)):
            return found
        reply = await request_valid_reply(context.call_model, call, read)
        if not reply.fallback:
            context.cache.put(key, reply.text)
        return reply


async def _cached(
    key: str, call: ModelCall, read: Callable[[str], T | InvalidReply], context: RunContext
) -> ParsedReply[T] | None:
    cache = None if context.fresh_judgements else context.cache
    text = cache.get(key) if cache else None
    if text is None:
        return None
    value = await worked_on(len(text) + call.size, read, text)
    if isinstance(value, InvalidReply):
        return None
    return ParsedReply(value=value, text=text, usage=_FROM_CACHE)


def cache_key(call: ModelCall, trial: int) -> str:
    """Return a digest of the call, its host or the version of its command, and its trial.

    The same name may be another model on another host. Equal answers of several trials are judged
    one by one: a shared judgement would hide how much the judge differs from itself. The first
    trial has the key of a run without trials.
    """
    options = call.endpoint.options
    host = options.get("api_base") or options.get("base_url") or version_of(call.endpoint)
    later = f"\ntrial {trial}" if trial else ""
    return hashlib.sha256(f"{call.key}\n{host}{later}".encode()).hexdigest()


def shown_to(judge: JudgeConfig) -> Shown:
    if judge.images == "off":
        return nothing
    return partial(takes_media, judge.endpoint)


def takes_media(endpoint: Endpoint, media: Media) -> bool:
    """Return True if a model is sent a file; one that is not listed is, and may refuse it."""
    if endpoint.command or endpoint.http:  # gets a text
        return False
    info = model_info(endpoint.model)
    return takes(media.kind, endpoint.model, endpoint.options, info) is not False


def unseen(judges: Sequence[JudgeConfig], media: Sequence[Media]) -> tuple[str, ...]:
    """Return a warning per judge that is not shown all; raises CannotJudge if it must be."""
    found = []
    for judge in judges if media else ():
        shown = shown_to(judge)
        if hidden := [each for each in media if not shown(each)]:
            name = judge.endpoint.model
            kinds = " and ".join(sorted({f"{each.kind}s" for each in hidden}, reverse=True))
            if judge.images == "required":
                raise CannotJudge(
                    f"{name} takes no {kinds}, and `judge.images` is `required`; choose a model "
                    "that does"
                )
            paths = ", ".join(f"`{each.path}`" for each in hidden)
            why = "`judge.images` is `off`" if judge.images == "off" else f"it takes no {kinds}"
            found.append(f"{name} did not see {paths}: {why}")
    return tuple(found)
