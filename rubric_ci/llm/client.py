"""The chain of a model request: retry, rate limiter, budget, then the server."""

import asyncio

from rubric_ci.llm import judge_command
from rubric_ci.llm.budget import Budget, Caps
from rubric_ci.llm.circuit_breaker import CircuitBreaker
from rubric_ci.llm.direct import provider_of
from rubric_ci.llm.litellm_client import ask_litellm, load_litellm, loaded_litellm, output_mode
from rubric_ci.llm.model_info import known_mode, prices_of
from rubric_ci.llm.output_modes import AddNote, OutputModes
from rubric_ci.llm.rate_limit import RateLimiter
from rubric_ci.llm.retry import RequestError, with_retries
from rubric_ci.model.config import OutputMode
from rubric_ci.model.llm_calls import ModelCall, ModelCaller, ModelReply


def connect(
    *, concurrency: int, caps: Caps, add_note: AddNote, breaker: CircuitBreaker
) -> ModelCaller:
    """Return an Ask for a whole run: with retries, one rate limiter and the caps of the run."""
    limiter, budget = RateLimiter(concurrency), Budget(caps, prices_of)
    modes = OutputModes(output_mode_of, add_note)
    ask = modes.wrap(limiter.wrap(budget.wrap(request)))
    return breaker.wrap(with_retries(ask, sleep=budget.sleep))


def output_mode_of(call: ModelCall) -> OutputMode:
    """Return the output mode used for a call that names none."""
    model = call.endpoint.model
    if provider_of(call.endpoint):
        return known_mode(model)
    return output_mode(load_litellm(), model)


async def complete(call: ModelCall) -> ModelReply:
    """Send a call with retries; raises CannotReachModel."""
    return await with_retries(request)(call)


async def request(call: ModelCall) -> ModelReply:
    """Send one request; raises RequestError."""
    provider = provider_of(call.endpoint)
    if provider is None:
        await loaded_litellm()
    timeout = call.endpoint.timeout_seconds
    try:
        # NOTE: the libraries' own timeout is between two bytes; a slow server could take for ever.
        async with judge_command.turn(call.endpoint), asyncio.timeout(timeout):
            return await (provider.ask(call) if provider else ask_litellm(call))
    except TimeoutError as error:
        raise RequestError(f"no reply within {timeout:g} s", status=408) from error
