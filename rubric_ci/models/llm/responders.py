"""The models of a run: before it by their entry or the shortest request, in it by their replies.

A reply may come from another model than was asked, a parameter may be refused, a model may end.
Servers of OpenAI's format have an entry of each model, which costs nothing to read. It proves that
the model is there, not that it is missing: gateways have aliases that they do not list, and a key
may be allowed to chat only. Where the entry decides nothing, the model is sent the shortest request
that providers accept. A reply that refuses its parameters (400) is a reply.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import Final

from rubric_ci.errors import CannotReachModel, OverBudget
from rubric_ci.models.llm.direct import provider_with_entry
from rubric_ci.models.llm.failures import RequestError, with_retries
from rubric_ci.system.model_list import model_info
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import AddNote, ChatMessage, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.model_end_and_parameters import SWITCH, ending, refused_parameters
from rubric_ci.values.report import Responder
from rubric_ci.values.targets import Endpoint

_DATE = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
_MOVING = re.compile(r"[-:](latest|preview)$")


class ModelChecks:
    def __init__(self, add_note: AddNote, today: date) -> None:
        self._add_note = add_note
        self._today = today
        self._said: set[tuple[str, str]] = set()

    def wrap(self, ask: ModelCaller) -> ModelCaller:
        """Return the caller; a parameter that the model refuses is left out.

        A configuration with one is not valid, so it was written for another model than this one.
        """

        async def asked(call: ModelCall) -> ModelReply:
            endpoint = call.endpoint
            info = model_info(endpoint.model)
            self._warn_of_end(endpoint.model, info.get("deprecation_date"))
            refused = refused_parameters(endpoint.model, endpoint.options, info)
            if not refused:
                return await ask(call)
            names = ", ".join(f"`{name}`" for name in refused)
            self._say_once(
                endpoint.model,
                names,
                f"{names} is left out of requests to `{endpoint.model}`, which does not take it",
            )
            options = {k: v for k, v in endpoint.options.items() if k not in refused}
            return await ask(replace(call, endpoint=replace(endpoint, options=options)))

        return asked

    def read_entry(self, endpoint: Endpoint, entry: Mapping[str, JSON]) -> None:
        """Warn of the end that a server's entry of a model names."""
        self._warn_of_end(endpoint.model, entry.get("shutdown_date") or entry.get("retires_at"))

    def _warn_of_end(self, model: str, end: JSON) -> None:
        if message := ending(model, end, self._today):
            self._say_once(model, "end", f"Warning: {message}; {SWITCH}")

    def _say_once(self, model: str, what: str, note: str) -> None:
        if (model, what) not in self._said:
            self._said.add((model, what))
            self._add_note(note)


class Responders:
    def __init__(self, add_note: AddNote, is_known: Callable[[str], bool] | None = None) -> None:
        self._add_note = add_note
        self._is_known = is_known or _is_listed
        self._counts: Counter[tuple[str, str, str, bool]] = Counter()
        self._first: dict[str, str] = {}  # what an alias stands for: its first reply's model

    def wrap(self, ask: ModelCaller) -> ModelCaller:
        """Return the caller; its replies say if they come from another model."""

        async def asked(call: ModelCall) -> ModelReply:
            reply = await ask(call)
            name = call.endpoint.model
            other = reply.fallback or self._is_other(name, reply.model)
            self._count(name, reply, other=other)
            return reply if other == reply.fallback else replace(reply, fallback=other)

        return asked

    def list(self) -> tuple[Responder, ...]:
        return tuple(
            Responder(
                requested=name, model=model, fingerprint=fingerprint, replies=count, fallback=other
            )
            for (name, model, fingerprint, other), count in sorted(self._counts.items())
        )

    def _count(self, name: str, reply: ModelReply, *, other: bool) -> None:
        first = other and (name, reply.model, True) not in {
            (row[0], row[1], row[3]) for row in self._counts
        }
        self._counts[name, reply.model, reply.fingerprint, other] += 1
        if first:
            model = f"`{reply.model}`" if reply.model else "another model"
            self._add_note(
                f"Warning: {model} replied in place of `{name}`, so some marks are not of the "
                "configured model; check the fallbacks of the gateway"
            )

    def _is_other(self, name: str, model: str) -> bool:
        """Return True if a reply's model is not the requested one.

        The name of an alias says nothing of its model, but that does not change within a run.
        """
        if not model or _is_same(name, model):
            return False
        if self._is_known(name) and not _MOVING.search(name):
            return self._is_known(model)
        return self._first.setdefault(name, model) != model


def _is_listed(name: str) -> bool:
    """Return True if the model list has a model, with or without the date of its version."""
    return bool(model_info(name) or model_info(_DATE.sub("", name)))


@lru_cache(maxsize=100)
def _is_same(name: str, model: str) -> bool:
    """Return True for one name with or without provider, version and date."""
    one, other = _bare(name), _bare(model)
    return one.startswith(other) or other.startswith(one)


def _bare(name: str) -> str:
    return _MOVING.sub("", name.rsplit("/", 1)[-1].lower())


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

    async def look_up(_: ModelCall) -> ModelReply:
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

    await with_retries(look_up)(ModelCall(endpoint=endpoint, messages=(), key=""))
    return found[-1] if found else None


async def send_preflight(endpoint: Endpoint, call_model: ModelCaller) -> None:
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
