"""Judge requests that are answered from the cache, or sent once and cached."""

import asyncio
import hashlib
import secrets
from collections.abc import Callable
from typing import TypeVar

from rubric_ci.judge.json_reply import InvalidReply
from rubric_ci.judge.repair import ParsedReply, request_valid_reply
from rubric_ci.llm.judge_command import version_of
from rubric_ci.model.context import RunContext
from rubric_ci.model.llm_calls import CacheableCall, Usage
from rubric_ci.system.text_work import worked_on

T = TypeVar("T")


async def request_cached_reply(
    call: CacheableCall, read: Callable[[str], T | InvalidReply], context: RunContext
) -> ParsedReply[T]:
    """Return the cached or a new reply; only valid replies of the requested model are cached.

    A request that equals one in flight waits for that one's reply, unless every judgement is to be
    requested.
    """
    if context.cache is None:
        return await _request(call, read, context)
    key = cache_key(call, context.trial)
    async with context.in_flight.setdefault(key, asyncio.Lock()):
        text = None if context.fresh_judgements else context.cache.get(key)
        if text is not None:
            value = await worked_on(len(text) + call.size, read, text)
            if not isinstance(value, InvalidReply):
                return ParsedReply(value=value, text=text, usage=Usage(cache_hits=1))
        reply = await _request(call, read, context)
        if not reply.fallback:
            context.cache.put(key, reply.text)
        return reply


async def _request(
    call: CacheableCall, read: Callable[[str], T | InvalidReply], context: RunContext
) -> ParsedReply[T]:
    written = await worked_on(call.size, call.write, secrets.token_hex(8))
    return await request_valid_reply(context.call_model, written, read)


def cache_key(call: CacheableCall, trial: int) -> str:
    """Return a digest of the call, its host or the version of its command, and its trial.

    The same name may be another model on another host. Equal answers of several trials are judged
    one by one: a shared judgement would hide how much the judge differs from itself. The first
    trial has the key of a run without trials.
    """
    options = call.endpoint.options
    host = options.get("api_base") or options.get("base_url") or version_of(call.endpoint)
    later = f"\ntrial {trial}" if trial else ""
    return hashlib.sha256(f"{call.key}\n{host}{later}".encode()).hexdigest()
