"""Retry of model requests: which errors are retryable, and the error after the last attempt."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from email.utils import parsedate_to_datetime
from time import time

from rubric_ci.errors import CannotReachModel, FailureScope, OverBudget
from rubric_ci.system.backoff import Backoff
from rubric_ci.text.numbers import plural
from rubric_ci.values.llm_calls import ModelCall, ModelCaller, ModelReply
from rubric_ci.values.usage import NOTHING_USED, Usage

RETRYABLE_STATUS = frozenset({408, 409, 429})  # and every 5xx
ACCOUNT_STATUS = frozenset({401, 402, 403, 404})  # the key or the model is refused
TIMEOUT_STATUS = frozenset({408, 504, 524})  # the reply may have been generated, and billed

BACKOFF = Backoff()

_OUT_OF_QUOTA = re.compile(
    r"(quota|budget) is used up|exceeded your current quota|billing_hard_limit"
    r"|credit balance is too low",
    re.IGNORECASE,
)
_REFUSED_ACCOUNT = re.compile(
    r"api key not valid|api key expired|incorrect api key|model not exist|invalid model[:'`\"]"
    r"|invalid model '|is not a valid model|model identifier is invalid",
    re.IGNORECASE,
)
"""Errors with status 400 of Google, xAI, DeepSeek, Mistral, OpenRouter, Perplexity, Bedrock."""


class RequestError(Exception):
    """One request failed: `retryable` if another may succeed, `billed` if this one may cost.

    A server that refuses a request does not bill it. Without a complete reply, it may have.
    A quota that is used up is never retryable.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool | None = None,
        billed: bool | None = None,
        retry_after: float | None = None,
        reached: bool = True,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.out_of_quota = bool(_OUT_OF_QUOTA.search(message))
        if retryable is None:
            retryable = status is None or status in RETRYABLE_STATUS or status >= 500
        self.retryable = retryable and not self.out_of_quota
        self.billed = status is None or status in TIMEOUT_STATUS if billed is None else billed
        self.retry_after = retry_after
        self.reached = reached  # False: nothing was sent, for want of a connection or a key

    @property
    def scope(self) -> FailureScope:
        """The part that failed: this request, the whole account, the connection, or the server."""
        refused = self.status == 400 and _REFUSED_ACCOUNT.search(str(self))
        if self.out_of_quota or self.status in ACCOUNT_STATUS or refused:
            return "account"
        if not self.reached:
            return "host" if self.retryable else "account"
        return "server" if self.retryable else "request"

    @property
    def usage(self) -> Usage:
        """The request, if it reached the server."""
        return Usage(calls=int(self.reached), unpriced_calls=int(self.billed))

    def wait_after(self, attempt: int, backoff: Backoff) -> float | None:
        """Return the seconds to wait before the next attempt; None if there is none."""
        return backoff.wait_after(attempt, self.retry_after) if self.retryable else None


def with_retries(
    request: ModelCaller,
    *,
    backoff: Backoff = BACKOFF,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> ModelCaller:
    """Return a caller that retries a request that raises RequestError; raises CannotReachModel."""

    async def ask(call: ModelCall) -> ModelReply:
        used, previous = NOTHING_USED, ""
        for attempt in range(1, backoff.attempts + 1):
            try:
                reply = await request(call)
            except RequestError as error:
                used += error.usage
                previous = str(error)
                wait = error.wait_after(attempt, backoff)
                if wait is None:
                    reason = _reason(call, error, used.calls, attempt, backoff)
                    raise CannotReachModel(reason, used, scope=error.scope) from error
            except OverBudget as error:  # the requests before it count all the same
                raise OverBudget(error.cap, used + error.usage, before=previous) from error
            else:
                return reply if used is NOTHING_USED else replace(reply, usage=used + reply.usage)
            await sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    return ask


def _reason(
    call: ModelCall, error: RequestError, sent: int, attempts: int, backoff: Backoff
) -> str:
    """Return the error with the number of requests; of attempts, where none was sent."""
    too_long = backoff.is_too_long(error.retry_after)
    facts = [
        plural(sent, "request") if sent else "",
        f"{attempts} attempts" if attempts > max(sent, 1) else "",
        f"the server asks to wait {error.retry_after:g} s" if too_long else "",
    ]
    known = "; ".join(filter(None, facts))
    return f"{call.endpoint.model}: {error}" + (f" ({known})" if known else "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait by the headers of a reply; None without them."""
    value = headers.get("retry-after") or headers.get("llm_provider-retry-after")
    for seconds in (float, lambda date: parsedate_to_datetime(date).timestamp() - time()):
        with suppress(ValueError, OverflowError):
            return max(0.0, seconds(value)) if value else None
    return None
