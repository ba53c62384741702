"""Files and batches of a provider, through litellm."""

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Sequence
from types import ModuleType
from typing import Any, TypeVar

from rubric_ci.llm import http_guard, openai_http
from rubric_ci.llm.batch_format import request_lines
from rubric_ci.llm.litellm_client import request_error
from rubric_ci.llm.retry import RequestError
from rubric_ci.model.config import Endpoint
from rubric_ci.model.llm_calls import ModelCall
from rubric_ci.system.backoff import Backoff

STEP_SECONDS = 120.0  # for one request about a batch; an upload may be large
WINDOW = "24h"  # the only one that providers offer

# OpenAI's client and litellm raise these for a reply of status 200 that is not OpenAI's.
_NOT_UNDERSTOOD = (AttributeError, KeyError, TypeError, ValueError)

T = TypeVar("T")


class BatchServer:
    """The batches of one account."""

    def __init__(self, litellm: ModuleType, endpoint: Endpoint, backoff: Backoff) -> None:
        # NOTE: some versions of litellm create a coroutine that reads a finished batch and never
        # await it; the same happens to the coroutine of a step when the run is stopped.
        not_awaited = r"coroutine '.*(afile_content|OpenAI\w+API\.\w+)' was never awaited"
        warnings.filterwarnings("ignore", not_awaited)
        self._litellm = litellm
        self._backoff = backoff
        self.address, key = openai_http.server_of(endpoint)
        self._account = {
            "custom_llm_provider": "openai",
            "api_base": self.address,
            "api_key": key,
            "extra_headers": openai_http.headers_of(endpoint),
            "timeout": STEP_SECONDS,
            "max_retries": 0,
        }

    async def begin(self, calls: Sequence[ModelCall]) -> Any:
        """Upload the requests and return the new batch."""
        content = request_lines(calls).encode("utf-8", "surrogatepass")
        file = await self._with_retries(
            lambda: self._litellm.acreate_file(
                file=("requests.jsonl", content), purpose="batch", **self._account
            )
        )
        return await self._with_retries(lambda: self._create(file.id))

    async def look(self, batch_id: str) -> Any:
        """Return the current state of a batch, without retries."""
        return await _once(
            lambda: self._litellm.aretrieve_batch(batch_id=batch_id, **self._account)
        )

    async def read(self, file_id: str) -> str:
        """Return the text of a file."""
        limit = http_guard.max_bytes.set(http_guard.MAX_FILE)
        try:
            content = await self._with_retries(
                lambda: self._litellm.afile_content(file_id=file_id, **self._account)
            )
        finally:
            http_guard.max_bytes.reset(limit)
        text: str = content.content.decode("utf-8", "replace")
        return text

    async def cancel(self, batch_id: str) -> None:
        """Cancel a batch."""
        await _once(lambda: self._litellm.acancel_batch(batch_id=batch_id, **self._account))

    async def _create(self, file_id: str) -> Any:
        try:
            return await _once(
                lambda: self._litellm.acreate_batch(
                    completion_window=WINDOW,
                    endpoint="/v1/chat/completions",
                    input_file_id=file_id,
                    **self._account,
                )
            )
        except RequestError as error:
            if not error.billed:
                raise
            # A retry could start a second batch.
            message = f"{error}; a batch may have been created all the same, and be billed"
            raise RequestError(message, retryable=False, billed=True) from error

    async def _with_retries(self, step: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(1, self._backoff.attempts + 1):
            try:
                return await _once(step)
            except RequestError as error:
                wait = error.wait_after(attempt, self._backoff)
                if wait is None:
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")


async def _once(step: Callable[[], Awaitable[T]]) -> T:
    from openai import OpenAIError  # what every error of litellm's is a kind of

    try:
        return await step()
    except OpenAIError as error:
        raise request_error(error, STEP_SECONDS) from error
    except _NOT_UNDERSTOOD as error:
        message = " ".join(str(error).split())[:200]
        raise RequestError(f"broken reply: {message}", retryable=False) from error
