"""A provider's files and batches, through litellm; effects."""

import asyncio
import random
import warnings
from collections.abc import Awaitable, Callable, Sequence
from types import ModuleType
from typing import Any, TypeVar

from rubric_ci.llm import openai_http
from rubric_ci.llm.batch_format import request_lines
from rubric_ci.llm.litellm_client import request_error
from rubric_ci.llm.retry import REQUESTS, RequestError, wait_after
from rubric_ci.model.config import Endpoint
from rubric_ci.model.llm_calls import ModelCall

STEP_SECONDS = 120.0  # for one request about a batch; an upload may be large
WINDOW = "24h"  # the only one that providers offer

T = TypeVar("T")


class BatchServer:
    """Where the batches of one account are."""

    def __init__(self, litellm: ModuleType, endpoint: Endpoint) -> None:
        # NOTE: litellm makes a coroutine to read a finished batch for its own books, and forgets
        # it (some versions read it), or forgets a step's where the run is stopped just then.
        forgotten = r"coroutine '.*(afile_content|OpenAI\w+API\.\w+)' was never awaited"
        warnings.filterwarnings("ignore", forgotten)
        self._litellm = litellm
        self.address, key = openai_http.server_of(endpoint)
        self._where = {
            "custom_llm_provider": "openai",
            "api_base": self.address,
            "api_key": key,
            "extra_headers": openai_http.headers_of(endpoint),
            "timeout": STEP_SECONDS,
            "max_retries": 0,
        }

    async def begin(self, calls: Sequence[ModelCall]) -> Any:
        """Upload requests and return the batch that they are."""
        content = request_lines(calls).encode("utf-8", "surrogatepass")
        file = await self._steadily(
            lambda: self._litellm.acreate_file(
                file=("requests.jsonl", content), purpose="batch", **self._where
            )
        )
        return await self._steadily(lambda: self._created(file.id))

    async def look(self, batch_id: str) -> Any:
        """Return a batch as it is now; one look only."""
        return await _once(lambda: self._litellm.aretrieve_batch(batch_id=batch_id, **self._where))

    async def read(self, file_id: str) -> str:
        """Return the text of a file."""
        content = await self._steadily(
            lambda: self._litellm.afile_content(file_id=file_id, **self._where)
        )
        text: str = content.content.decode("utf-8", "replace")
        return text

    async def cancel(self, batch_id: str) -> None:
        """Ask for the end of a batch."""
        await _once(lambda: self._litellm.acancel_batch(batch_id=batch_id, **self._where))

    async def _created(self, file_id: str) -> Any:
        try:
            return await _once(
                lambda: self._litellm.acreate_batch(
                    completion_window=WINDOW,
                    endpoint="/v1/chat/completions",
                    input_file_id=file_id,
                    **self._where,
                )
            )
        except RequestError as trouble:
            if not trouble.billed:
                raise
            # To ask again might begin a second one.
            message = f"{trouble}; a batch may have begun all the same, and be billed"
            raise RequestError(message, retryable=False, billed=True) from trouble

    async def _steadily(self, step: Callable[[], Awaitable[T]]) -> T:
        """Repeat a step while that can help."""
        for sent in range(1, REQUESTS):
            try:
                return await _once(step)
            except RequestError as trouble:
                wait = wait_after(trouble, sent, random.random())  # noqa: S311 - no secret
                if wait is None:
                    raise
            await asyncio.sleep(wait)
        return await _once(step)


async def _once(step: Callable[[], Awaitable[T]]) -> T:
    from openai import OpenAIError  # what every error of litellm's is a kind of

    try:
        return await step()
    except OpenAIError as error:
        raise request_error(error, STEP_SECONDS) from error
