"""Preflight of a model: its host must be reachable, accept the key and know the model.

Servers of OpenAI's format have an entry of each model, which costs nothing to read. It proves that
the model is there, not that it is missing: gateways have aliases that they do not list, and a key
may be allowed to chat only. Where the entry decides nothing, the model is sent one request, the
shortest that providers accept. A reply that refuses its parameters (400) is a reply.
"""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from rubric_ci.errors import CannotReachModel, OverBudget
from rubric_ci.models.llm.direct import provider_with_entry
from rubric_ci.models.llm.retry import RequestError, with_retries
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.targets import Endpoint

LONGEST: Final = 10.0  # seconds to read an entry; a server that takes longer is sent the request

PROMPT: Final = "Hi"
PROMPT_TOKENS: Final = 10  # of the prompt and what providers add to it, about
MOST_TOKENS: Final = 16
"""The maximum length of the reply; OpenAI's Responses API refuses a lower one."""

_OF_SCOPES = re.compile(r"scope|permission", re.IGNORECASE)
"""A key may be allowed to chat and not to list models."""


async def entry_of(endpoint: Endpoint) -> Mapping[str, JSON] | None:
    """Return the server's entry of the model; None if it is not known whether there is one.

    Raises CannotReachModel if no request can succeed.
    """
    provider = provider_with_entry(endpoint)
    if provider is None or endpoint.identity:  # the request that is sent shows if it is accepted
        return None
    found: list[Mapping[str, JSON]] = []

    async def read(_: ModelCall) -> ModelReply:
        try:
            async with asyncio.timeout(min(LONGEST, endpoint.timeout_seconds)):
                found.append(await provider.look_up(endpoint))
        except TimeoutError:
            pass
        except RequestError as error:
            refused = error.status == 401 and not _OF_SCOPES.search(str(error))
            if refused or not error.reached:
                raise
        return ModelReply(text="")

    await with_retries(read)(ModelCall(endpoint=endpoint, messages=(), key=""))
    return found[-1] if found else None


async def ask(endpoint: Endpoint, call_model: ModelCaller) -> None:
    """Send the shortest request; the circuit breaker keeps what it shows."""
    call = ModelCall(
        endpoint=endpoint,
        messages=(ChatMessage(role="user", content=PROMPT),),
        key="",  # it is neither recorded nor cached
        about="preflight",
        max_tokens=MOST_TOKENS,
    )
    with suppress(CannotReachModel, OverBudget):
        await call_model(call)
