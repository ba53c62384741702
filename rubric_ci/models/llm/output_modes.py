"""The output modes that servers accept, as found in this run and in earlier ones."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast, get_args

from rubric_ci.models.llm.cache import MODE
from rubric_ci.models.llm.retry import RequestError
from rubric_ci.values.config import OutputMode
from rubric_ci.values.context import JudgementCache
from rubric_ci.values.llm_calls import AddNote, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage

_SIMPLER: Mapping[OutputMode, OutputMode] = {"json_schema": "json_object", "json_object": "prompt"}
_REFUSED_STATUS = frozenset({400, 404, 422, 501})
_ABOUT_FORMAT = re.compile(
    r"response.?format|output.?(format|config)|json.?(schema|object|mode)|structured.?output"
    r"|response.?schema|guided|grammar",
    re.IGNORECASE,
)


class OutputModes:
    """The output modes that models accept; a cache keeps what is found for later runs."""

    def __init__(
        self,
        mode_of: Callable[[ModelCall], OutputMode],
        add_note: AddNote,
        cache: JudgementCache | None = None,
    ) -> None:
        self._mode_of = mode_of
        self._add_note = add_note
        self._cache = cache
        self._accepted: dict[tuple[str, str], OutputMode] = {}

    def wrap(self, request: ModelCaller) -> ModelCaller:
        """Return the request, sent again in the next simpler mode if the mode is refused."""

        async def ask(call: ModelCall) -> ModelReply:
            if call.output_schema is None:
                return await request(call)
            known = self._known(call)
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

    def _known(self, call: ModelCall) -> OutputMode | None:
        """Return the mode that is known to work; a configured one is tried once in each run."""
        server = _server(call.endpoint)
        if server not in self._accepted and call.output_mode is None and self._cache:
            kept = self._cache.get(_key(server))
            if kept in get_args(OutputMode):
                self._accepted[server] = cast("OutputMode", kept)
        return self._accepted.get(server)

    def _accept(self, endpoint: Endpoint, mode: OutputMode, error: RequestError) -> None:
        accepted = self._accepted.get(_server(endpoint))
        if accepted in {mode, "prompt"}:  # another request in flight was first
            return
        self._accepted[_server(endpoint)] = mode
        if self._cache:
            self._cache.put(_key(_server(endpoint)), mode)
        runs = "this run and later ones with its cache use" if self._cache else "this run uses"
        self._add_note(
            f"{endpoint.model} refused the output mode, so {runs} `{mode}`; "
            f"set `judge.output: {mode}` to send it at once ({error})"
        )


def _server(endpoint: Endpoint) -> tuple[str, str]:
    options = endpoint.options
    return endpoint.model, str(options.get("api_base") or options.get("base_url") or "")


def _key(server: tuple[str, str]) -> str:
    """Return the key of the cache for the output mode of a server's model."""
    return hashlib.sha256(json.dumps(server).encode()).hexdigest() + MODE
