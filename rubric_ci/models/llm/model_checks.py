"""Notes on the models of a run: parameters that a model refuses, and its end."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from rubric_ci.system.model_list import model_info
from rubric_ci.values.config import Endpoint
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import AddNote, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.model_facts import SWITCH, ending, refused_parameters


class ModelChecks:
    """Notes on the models of a run."""

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
