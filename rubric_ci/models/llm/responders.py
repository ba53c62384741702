"""The models that reply during a run: another one than was asked, refused parameters, the end."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from functools import lru_cache

from rubric_ci.system.model_list import model_info
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import AddNote, ModelCall, ModelCaller, ModelReply
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
