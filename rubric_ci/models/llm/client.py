"""The chain of a model request: circuit breaker, retry, rate limiter, budget, then the server.

The circuit breaker asks a server that accepts no request no further for a while. Until a request
succeeds, and again after one that failed, calls are sent one at a time. So a judge that is down
costs one call, not one a case. After a pause the breaker is half-open: one call is sent as a probe.
If it succeeds, all are sent again; if not, the pause is twice as long. An account that is refused
stays refused.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from time import monotonic
from typing import Any, Final

from rubric_ci.errors import CannotConfigure, CannotReachModel
from rubric_ci.models.llm import judge_command
from rubric_ci.models.llm.budget import Budget
from rubric_ci.models.llm.direct import provider_of
from rubric_ci.models.llm.failures import RequestError, with_retries
from rubric_ci.models.llm.model_info import known_mode
from rubric_ci.values import parts
from rubric_ci.values.config import OutputMode
from rubric_ci.values.llm_calls import AddNote, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage

_TEXT_ONLY = re.compile(
    r"image input is not supported|image_url is only supported by certain models"
    r"|not a multimodal model|at most 0 (?:image|item)|do(?:es)? not support (?:image|vision|pdf)"
    r"|support image input|unknown variant `image_url`|missing data required for image input"
    r"|no endpoints found that support (?:image|file)",
    re.IGNORECASE,
)
"""Refusals of llama.cpp, OpenAI, vLLM, Anthropic, Ollama, DeepSeek and OpenRouter."""


class RateLimiter:
    """Limits concurrent requests: additive increase, multiplicative decrease (AIMD).

    The limit is halved by a 429 and rises by one after as many replies as it allows requests.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._limit = float(maximum)
        self._in_flight = 0
        self._decreases = 0
        self._changed = asyncio.Condition()

    @property
    def limit(self) -> int:
        return int(self._limit)

    def wrap(self, request: ModelCaller) -> ModelCaller:
        async def ask(call: ModelCall) -> ModelReply:
            async with self._changed:
                await self._changed.wait_for(lambda: self._in_flight < self.limit)
                self._in_flight += 1
            decreases = self._decreases
            try:
                reply = await request(call)
            except RequestError as error:
                # A 429 for a request sent before the last decrease is not about this limit.
                if error.status == 429 and decreases == self._decreases:
                    self._decreases += 1
                    self._limit = max(1.0, self._limit / 2)
                raise
            else:
                self._limit = min(float(self._maximum), self._limit + 1 / self._limit)
                return reply
            finally:
                async with self._changed:
                    self._in_flight -= 1
                    self._changed.notify(max(1, self.limit - self._in_flight))

        return ask


MOST_FAILURES: Final = 5
"""Calls that fail in a row, each after its retries, before the server is asked no further."""
PAUSE_SECONDS: Final = 60.0
"""The time without requests before the first probe; doubled after each probe that fails."""


class CircuitBreaker:
    """The servers that reply, by model, host and key."""

    def __init__(
        self, most: int = MOST_FAILURES, *, clock: Callable[[], float] = monotonic
    ) -> None:
        self._servers: dict[str, _Server] = defaultdict(lambda: _Server(most, clock))

    def wrap(self, ask: ModelCaller) -> ModelCaller:
        """Return the caller, which raises CannotReachModel at once for a server that is down."""

        async def asked(call: ModelCall) -> ModelReply:
            server = self._servers[identity(call.endpoint)]
            if not server.replies:
                async with server.turn:
                    if not server.replies:  # else the call before it succeeded meanwhile
                        return await server.send(ask, call)
            return await server.send(ask, call)

        return asked

    def why_closed(self, endpoint: Endpoint) -> str:
        """Return why a model is asked no further; empty: it is asked, or probed."""
        return self._servers[identity(endpoint)].why_closed()

    def close(self, endpoint: Endpoint, reason: str) -> None:
        self._servers[identity(endpoint)].close(reason)


def connect(
    *, concurrency: int, budget: Budget, add_note: AddNote, breaker: CircuitBreaker
) -> ModelCaller:
    """Return an Ask for a whole run: with retries, one rate limiter and the budget of the run."""
    limiter = RateLimiter(concurrency)
    modes = OutputModes(output_mode_of, add_note)
    ask = modes.wrap(limiter.wrap(budget.wrap(judge_command.noting_login(request, add_note))))
    return breaker.wrap(with_retries(ask, sleep=budget.sleep))


def output_mode_of(call: ModelCall) -> OutputMode:
    """Return the output mode used for a call that names none."""
    model = call.endpoint.model
    if provider_of(call.endpoint):
        return known_mode(model)
    client = _offered("litellm")
    mode: OutputMode = client.output_mode(client.load_litellm(), model)
    return mode


async def complete(call: ModelCall) -> ModelReply:
    """Send a call with retries; raises CannotReachModel."""
    return await with_retries(request)(call)


async def request(call: ModelCall) -> ModelReply:
    """Send one request; raises RequestError."""
    provider = provider_of(call.endpoint)
    if provider is None:
        await _offered("litellm").loaded_litellm(call.endpoint.model)
    timeout = call.endpoint.timeout_seconds
    try:
        # NOTE: the libraries' own timeout is between two bytes; a slow server could take for ever.
        async with judge_command.turn(call.endpoint), asyncio.timeout(timeout):
            if call.endpoint.identity:
                call = replace(call, endpoint=await _offered("authenticated")(call.endpoint))
            ask = provider.ask if provider else _offered("litellm").ask_litellm
            reply: ModelReply = await ask(call)
            return reply
    except RequestError as error:
        if call.media and _TEXT_ONLY.search(str(error)):
            # Servers have any status for it.
            message = f"the model takes no images or documents: {error}"
            raise RequestError(
                message, status=error.status, retryable=False, billed=False
            ) from error
        raise
    except TimeoutError as error:
        again = None if call.endpoint.command is None else False  # a program repeats its requests
        message = f"no reply within {timeout:g} s"
        raise RequestError(message, status=408, retryable=again) from error


def batches() -> Any:
    """Return the module that sends requests in batches; raises CannotConfigure if there is none."""
    if (found := parts.offered("batch")) is None:
        raise CannotConfigure("this installation sends no batches", "run without --batch")
    return found


def _offered(name: str) -> Any:
    """Return an offer of the part `litellm`; raises RequestError if it was removed."""
    if (found := parts.offered(name)) is None:
        raise RequestError("this installation asks OpenAI, Anthropic and Gemini only")
    return found


def identity(endpoint: Endpoint) -> str:
    """Return the key of a model of an account: its name, host and API key."""
    options = endpoint.options
    host = options.get("api_base") or options.get("base_url")
    return repr((endpoint.model, host, options.get("api_key")))


class _Server:
    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._failures = 0  # in a row
        self._down = ""  # why it is asked no further
        self._until = 0.0  # when it is probed, by the clock
        self._pause = PAUSE_SECONDS
        self.replies = False  # the last call to end succeeded
        self.turn = asyncio.Lock()  # held by the call that is sent alone

    def why_closed(self) -> str:
        return self._down if self._clock() < self._until else ""

    def close(self, reason: str, seconds: float = inf) -> None:
        self._down, self._until = reason, self._clock() + seconds

    async def send(self, ask: ModelCaller, call: ModelCall) -> ModelReply:
        if reason := self.why_closed():
            raise CannotReachModel(reason)
        try:
            reply = await ask(call)
        except CannotReachModel as error:
            self._count(error)
            raise
        self.replies, self._failures, self._down, self._pause = True, 0, "", PAUSE_SECONDS
        return reply

    def _count(self, error: CannotReachModel) -> None:
        """Count a failure that another request would have as well."""
        if error.scope == "request" or self.why_closed():  # closed while this call was in flight
            return
        first = not self.replies and not self._failures
        self.replies = False
        self._failures += 1
        if first and error.scope in {"account", "host"}:
            self._open(error, str(error))
        elif self._down or self._failures >= self._most:
            self._pause *= 2 if self._down else 1
            row = f"not requested again after {self._failures} failures in a row"
            self._open(error, f"{error}; {row}")

    def _open(self, error: CannotReachModel, reason: str) -> None:
        self.close(reason, inf if error.scope == "account" else self._pause)


_SIMPLER: Mapping[OutputMode, OutputMode] = {"json_schema": "json_object", "json_object": "prompt"}
_REFUSED_STATUS = frozenset({400, 404, 422, 501})
_ABOUT_FORMAT = re.compile(
    r"response.?format|output.?(format|config)|json.?(schema|object|mode)|structured.?output"
    r"|response.?schema|guided|grammar",
    re.IGNORECASE,
)


class OutputModes:
    """The output modes that models accept."""

    def __init__(self, mode_of: Callable[[ModelCall], OutputMode], add_note: AddNote) -> None:
        self._mode_of = mode_of
        self._add_note = add_note
        self._accepted: dict[tuple[str, str], OutputMode] = {}

    def wrap(self, request: ModelCaller) -> ModelCaller:
        """Return the request, sent again in the next simpler mode if the mode is refused."""

        async def ask(call: ModelCall) -> ModelReply:
            if call.output_schema is None:
                return await request(call)
            known = self._accepted.get(_server_of(call.endpoint))
            sent = replace(call, output_mode=known) if known else call
            try:
                return await request(sent)
            except RequestError as error:
                simpler = _SIMPLER.get(sent.output_mode or self._mode_of(sent))
                refused = error.status in _REFUSED_STATUS and _ABOUT_FORMAT.search(str(error))
                if simpler is None or not refused:
                    raise
                self._accept(sent.endpoint, simpler, error)
                reply = await ask(call)
                first = Usage(calls=1, unpriced_calls=int(error.billed))
                return replace(reply, usage=first + reply.usage)

        return ask

    def _accept(self, endpoint: Endpoint, mode: OutputMode, error: RequestError) -> None:
        accepted = self._accepted.get(_server_of(endpoint))
        if accepted in {mode, "prompt"}:  # another request in flight was first
            return
        self._accepted[_server_of(endpoint)] = mode
        self._add_note(
            f"{endpoint.model} refused the output mode, so this run uses `{mode}`; "
            f"set `judge.output: {mode}` to send it at once ({error})"
        )


def _server_of(endpoint: Endpoint) -> tuple[str, str]:
    options = endpoint.options
    return endpoint.model, str(options.get("api_base") or options.get("base_url") or "")
