"""Simpler output modes for models that refuse the one that was sent."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from rubric_ci.llm.retry import RequestError
from rubric_ci.model.config import Endpoint, OutputMode
from rubric_ci.model.llm_calls import ModelCall, ModelCaller, ModelReply, Usage

AddNote = Callable[[str], None]
"""Add a line to the notes of the report."""

_SIMPLER: Mapping[OutputMode, OutputMode] = {"json_schema": "json_object", "json_object": "prompt"}
_REFUSED_STATUS = frozenset({400, 404, 422, 501})
_ABOUT_FORMAT = re.compile(
    r"response.?format|output.?(format|config)|json.?(schema|object|mode)|structured.?output"
    r"|response.?schema|guided|grammar",
    re.IGNORECASE,
)


class OutputModes:
    """The output modes that models accept, as found during a run."""

    def __init__(self, mode_of: Callable[[ModelCall], OutputMode], add_note: AddNote) -> None:
        self._mode_of = mode_of
        self._add_note = add_note
        self._accepted: dict[tuple[str, str], OutputMode] = {}

    def wrap(self, request: ModelCaller) -> ModelCaller:
        """Return the request, sent again in the next simpler mode if the mode is refused."""

        async def ask(call: ModelCall) -> ModelReply:
            if call.output_schema is None:
                return await request(call)
            known = self._accepted.get(_server(call.endpoint))
            sent = replace(call, output_mode=known) if known else call
            try:
                return await request(sent)
            except RequestError as error:
                simpler = _SIMPLER.get(sent.output_mode or self._mode_of(sent))
                if simpler is None or not _refuses_format(error):
                    raise
                self._accept(sent.endpoint, simpler, error)
                reply = await ask(call)
                refused = Usage(calls=1, unpriced_calls=int(error.billed))
                return replace(reply, usage=refused + reply.usage)

        return ask

    def _accept(self, endpoint: Endpoint, mode: OutputMode, error: RequestError) -> None:
        accepted = self._accepted.get(_server(endpoint))
        if accepted in {mode, "prompt"}:  # another request in flight was first
            return
        self._accepted[_server(endpoint)] = mode
        self._add_note(
            f"{endpoint.model} refused the output mode, so this run uses `{mode}`; "
            f"set `judge.output: {mode}` to send it at once ({error})"
        )


def _refuses_format(error: RequestError) -> bool:
    return error.status in _REFUSED_STATUS and bool(_ABOUT_FORMAT.search(str(error)))


def _server(endpoint: Endpoint) -> tuple[str, str]:
    options = endpoint.options
    return endpoint.model, str(options.get("api_base") or options.get("base_url") or "")
