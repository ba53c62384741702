"""Asks a judge, unless it is remembered what it said to the very same question."""

import asyncio
import hashlib
from collections.abc import Callable
from typing import TypeVar

from rubric_ci.judge.json_reply import Wrong
from rubric_ci.judge.repair import Heard, ask_until_usable
from rubric_ci.model.context import Tools
from rubric_ci.model.llm_calls import ModelCall, Usage

T = TypeVar("T")


async def ask_once(call: ModelCall, read: Callable[[str], T | Wrong], tools: Tools) -> Heard[T]:
    """Return what the judge says; only usable replies are remembered.

    Who asks what is being asked already waits for that reply.
    """
    if tools.memory is None:
        return await ask_until_usable(tools.ask, call, read)
    key = memory_key(call)
    async with tools.asking.setdefault(key, asyncio.Lock()):
        text = tools.memory.recall(key)
        if text is not None:
            value = read(text)
            if not isinstance(value, Wrong):
                return Heard(value=value, text=text, usage=Usage(cache_hits=1))
        heard = await ask_until_usable(tools.ask, call, read)
        tools.memory.keep(key, heard.text)
        return heard


def memory_key(call: ModelCall) -> str:
    """Digest the call and the host that answers: the same name may be another model elsewhere."""
    options = call.endpoint.options
    host = options.get("api_base") or options.get("base_url") or ""
    return hashlib.sha256(f"{call.key}\n{host}".encode()).hexdigest()
