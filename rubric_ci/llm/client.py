"""The way of a model call: patience, a window and a budget for all, then the server; effects."""

import asyncio

from rubric_ci.llm import openai_http
from rubric_ci.llm.budget import Budget, Caps
from rubric_ci.llm.litellm_client import ask_litellm, loaded_litellm
from rubric_ci.llm.model_info import model_info, prices_of
from rubric_ci.llm.openai_format import chat_body, read_reply
from rubric_ci.llm.rate_limit import RateLimiter
from rubric_ci.llm.retry import RequestError, with_retries
from rubric_ci.model.llm_calls import Ask, ModelCall, ModelReply


def connect(*, concurrency: int, caps: Caps) -> Ask:
    """Return an Ask for a whole run: patient, within its caps and one window for all."""
    window, budget = RateLimiter(concurrency), Budget(caps, prices_of)
    return with_retries(window.wrap(budget.wrap(request)))


async def complete(call: ModelCall) -> ModelReply:
    """Send a call and repeat it while that can help; raises CannotReachModel."""
    return await with_retries(request)(call)


async def request(call: ModelCall) -> ModelReply:
    """Send one request; raises Trouble."""
    direct = openai_http.supports(call.endpoint, model_info(call.endpoint.model))
    if not direct:
        await loaded_litellm()
    timeout = call.endpoint.timeout_seconds
    try:
        # NOTE: the libraries' own timeout is between two bytes; a server may trickle for ever.
        async with asyncio.timeout(timeout):
            return await (ask_directly(call) if direct else ask_litellm(call))
    except TimeoutError as error:
        raise RequestError(f"no reply within {timeout:g} s", status=408) from error


async def ask_directly(call: ModelCall) -> ModelReply:
    """Ask a server that speaks OpenAI's chat format; raises Trouble."""
    return read_reply(call, await openai_http.post(call.endpoint, chat_body(call)))
