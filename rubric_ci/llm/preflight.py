"""Preflight of a judge: its server must be reachable and accept the key.

It asks for the entry of the model, which costs nothing. Only servers of OpenAI's chat format have
one at a known place; for every other, the first request is the preflight (`circuit_breaker`). An
unknown entry is not an error, because gateways have aliases that they do not list.
"""

import asyncio
import re
from typing import Final

from rubric_ci.errors import CannotReachModel
from rubric_ci.llm import openai_http
from rubric_ci.llm.model_info import model_info
from rubric_ci.llm.retry import RequestError, with_retries
from rubric_ci.model.config import Endpoint
from rubric_ci.model.llm_calls import ModelCall, ModelReply

LONGEST: Final = 10.0  # seconds; a server that takes longer is asked for a judgement instead

_OF_SCOPES = re.compile(r"scope|permission", re.IGNORECASE)
"""A key may be allowed to chat and not to list models."""


async def find_obstacle(endpoint: Endpoint) -> str:
    """Return why no request to a model can succeed; empty: none is known."""
    if not openai_http.supports(endpoint, model_info(endpoint.model)):
        return ""
    try:
        await with_retries(_look_up)(ModelCall(endpoint=endpoint, messages=(), key=""))
    except CannotReachModel as error:
        return str(error) if error.scope in {"account", "host"} else ""
    return ""


async def _look_up(call: ModelCall) -> ModelReply:
    """Read the entry of the model; raises RequestError if no request can succeed."""
    try:
        async with asyncio.timeout(min(LONGEST, call.endpoint.timeout_seconds)):
            await openai_http.look_up(call.endpoint)
    except TimeoutError:
        pass
    except RequestError as error:
        if _is_final(error):
            raise
    return ModelReply(text="")


def _is_final(error: RequestError) -> bool:
    if not error.reached:
        return True
    return error.status == 401 and not _OF_SCOPES.search(str(error))
