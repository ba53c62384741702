"""Circuit breaker: a server that accepts no request is asked no further.

Until a request succeeds, and again after one that failed, calls are sent one at a time. So the
first call of each model is its preflight, and a judge that is down costs one call, not one a case.
"""

import asyncio
from collections import defaultdict
from contextlib import AsyncExitStack
from typing import Final

from rubric_ci.errors import CannotReachModel
from rubric_ci.model.config import Endpoint
from rubric_ci.model.llm_calls import ModelCall, ModelCaller, ModelReply

MOST_FAILURES: Final = 5
"""Calls that fail in a row, each after its retries, before the server is asked no further."""


class CircuitBreaker:
    """Which servers reply, by model, host and key."""

    def __init__(self, most: int = MOST_FAILURES) -> None:
        self._servers: dict[str, _Server] = defaultdict(lambda: _Server(most))

    def wrap(self, ask: ModelCaller) -> ModelCaller:
        """Return the caller, which raises CannotReachModel at once for a server that is down."""

        async def asked(call: ModelCall) -> ModelReply:
            server = self._servers[_identity(call.endpoint)]
            async with AsyncExitStack() as alone:
                if not server.replies:
                    await alone.enter_async_context(server.turn)
                if server.replies:  # the call before it succeeded meanwhile
                    await alone.aclose()
                server.check()
                return await server.send(ask, call)

        return asked

    def why_closed(self, endpoint: Endpoint) -> str:
        """Return why a model is asked no further; empty: it is asked."""
        return self._servers[_identity(endpoint)].down

    def close(self, endpoint: Endpoint, reason: str) -> None:
        """Ask a model no further."""
        self._servers[_identity(endpoint)].down = reason


class _Server:
    """What is known of one server."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._failures = 0  # in a row
        self.replies = False  # the last call to end succeeded
        self.down = ""  # why it is asked no further
        self.turn = asyncio.Lock()  # held by the call that is sent alone

    def check(self) -> None:
        if self.down:
            raise CannotReachModel(self.down)

    async def send(self, ask: ModelCaller, call: ModelCall) -> ModelReply:
        try:
            reply = await ask(call)
        except CannotReachModel as error:
            self._count(error)
            raise
        self.replies, self._failures = True, 0
        return reply

    def _count(self, error: CannotReachModel) -> None:
        """Count a failure that another request would have as well."""
        if error.scope == "request":
            return
        never = not self.replies and not self._failures
        self.replies = False
        self._failures += 1
        if error.scope == "account" and never:
            self.down = str(error)
        elif self._failures >= self._most:
            self.down = f"{error}; not requested again after {self._most} failures in a row"


def _identity(endpoint: Endpoint) -> str:
    options = endpoint.options
    host = options.get("api_base") or options.get("base_url")
    return repr((endpoint.model, host, options.get("api_key")))
