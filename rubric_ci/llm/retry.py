"""Patience with a model's server: which troubles pass, how long to wait, when to give up."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

from rubric_ci.errors import CannotReachModel, OverBudget
from rubric_ci.model.llm_calls import NOTHING_USED, Ask, ModelCall, ModelReply, Usage

REQUESTS = 5  # at most, for one call
FIRST_WAIT = 0.5  # seconds, doubled each time, of which a random part is waited
LONGEST_WAIT = 30.0
LONGEST_RETRY_AFTER = 120.0  # a server that asks for more is out of quota, not busy

RETRYABLE_STATUS = frozenset({408, 409, 429})  # and every 5xx
GAVE_UP_WAITING = frozenset({408, 504, 524})  # what was waited for may have been made, and billed


class RequestError(Exception):
    """One request failed: `retryable` when another may succeed, `billed` when this one may cost.

    A server that refuses does not bill; where no reply came, or half of one, nobody knows.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool | None = None,
        billed: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = _is_retryable(status) if retryable is None else retryable
        self.billed = status is None or status in GAVE_UP_WAITING if billed is None else billed
        self.retry_after = retry_after


Sleep = Callable[[float], Awaitable[None]]


def with_retries(
    request: Ask,
    *,
    sleep: Sleep = asyncio.sleep,
    chance: Callable[[], float] = random.random,
    requests: int = REQUESTS,
) -> Ask:
    """Return an Ask that repeats a request, which raises Trouble, until it succeeds or cannot."""

    async def asked(call: ModelCall) -> ModelReply:
        used, before = NOTHING_USED, ""
        for sent in range(1, requests + 1):
            try:
                reply = await request(call)
            except RequestError as trouble:
                used += Usage(calls=1, unpriced_calls=int(trouble.billed))
                before = str(trouble)
                wait = wait_after(trouble, sent, chance())
                if sent == requests or wait is None:
                    raise CannotReachModel(_reason(call, trouble, sent), used) from trouble
            except OverBudget as error:  # what was sent before counts all the same
                raise OverBudget(error.cap, used + error.usage, before=before) from error
            else:
                return replace(reply, usage=used + reply.usage)
            await sleep(wait)
        raise AssertionError("unreachable: the last request returns or raises")

    return asked


def _is_retryable(status: int | None) -> bool:
    return status is None or status in RETRYABLE_STATUS or status >= 500


def wait_after(trouble: RequestError, sent: int, chance: float) -> float | None:
    """Return the seconds to wait before the next request; None: there is no point in one."""
    if not trouble.retryable:
        return None
    jittered = chance * min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (sent - 1))
    if trouble.retry_after is None:
        return jittered
    if trouble.retry_after > LONGEST_RETRY_AFTER:
        return None
    return trouble.retry_after + jittered


def _reason(call: ModelCall, trouble: RequestError, sent: int) -> str:
    times = "1 request" if sent == 1 else f"{sent} requests"
    asks = (
        f"; the server asks to wait {trouble.retry_after:g} s"
        if trouble.retry_after is not None and trouble.retry_after > LONGEST_RETRY_AFTER
        else ""
    )
    return f"{call.endpoint.model}: {trouble} ({times}{asks})"
