"""Model calls: the call, the reply and its usage."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from rubric_ci.values.config import OutputMode
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.hosts import CREDENTIALS
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import Media
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.trace import Finish
from rubric_ci.values.usage import NOTHING_USED, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    role: Literal["system", "user", "assistant"]
    content: str
    parts: tuple[str | Media, ...] = ()  # with images or documents; `content` names them

    @property
    def media(self) -> tuple[Media, ...]:
        """The images and documents, in order."""
        return tuple([part for part in self.parts if not isinstance(part, str)])


def message_of(role: Literal["user", "assistant"], parts: Iterable[str | Media]) -> ChatMessage:
    """Return a message of texts, images and documents; neighbouring texts are one."""
    joined: list[str | Media] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += f"\n\n{part}"
        elif part:
            joined.append(part)
    named = [part if isinstance(part, str) else part.name for part in joined]
    only_text = all(isinstance(part, str) for part in joined)
    return ChatMessage(
        role=role, content="\n\n".join(named), parts=() if only_text else tuple(joined)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    endpoint: Endpoint
    messages: tuple[ChatMessage, ...]
    key: str  # digest of all that determines the reply; excludes random fences
    about: str = ""  # for messages: "evals/a.yaml: case-1: rubric"
    output_schema: Mapping[str, JSON] | None = None  # JSON Schema of the reply; None: free text
    output_mode: OutputMode | None = None  # how the schema is sent; None: as the model supports
    max_tokens: int | None = None

    @property
    def size(self) -> int:
        """The characters of its messages."""
        return sum(len(message.content) for message in self.messages)

    @property
    def media(self) -> tuple[Media, ...]:
        return tuple([each for message in self.messages for each in message.media])


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """The reply of a model, complete or not."""

    text: str
    finish: Finish = "stop"
    usage: Usage = NOTHING_USED
    model: str = ""  # as the reply names it; empty: it does not
    fingerprint: str = ""  # `system_fingerprint` of the reply
    fallback: bool = False  # from another model than the requested one
    media: tuple[Media, ...] = ()  # images and documents that the reply has
    calls: tuple[Mapping[str, JSON], ...] = ()  # of tools, as a service reports them


ModelCaller: TypeAlias = Callable[[ModelCall], Awaitable[ModelReply]]
"""Send one call; raises `errors.CannotReachModel` or `errors.OverBudget`."""
AddNote: TypeAlias = Callable[[str], None]
"""Add a line to the notes of the report."""


_PRICES = frozenset(
    {
        "input_cost_per_token",
        "input_cost_per_token_batches",
        "output_cost_per_token",
        "output_cost_per_token_batches",
    }
)
_NOT_IN_KEYS = CREDENTIALS | _PRICES
_WRITER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, allow_nan=False)


def call_key(
    endpoint: Endpoint,
    messages: Sequence[ChatMessage],
    *,
    schema: Mapping[str, JSON] | str | None = None,
    turn: str = "",
    fence: str = "",
) -> str:
    """Return a digest of everything that determines a reply: model, parameters, texts and schema.

    `turn` distinguishes calls that are otherwise equal: a vote's number, a repeated attempt. Keys,
    prices and hosts are excluded, so that a recording is valid for other accounts, and the `fence`
    of the messages, since it is random. A `schema` that many calls share may be given as `in_keys`
    writes it.
    """
    facts: dict[str, str] = {}
    if endpoint.command:
        facts["command"] = in_keys([endpoint.command.cli, *endpoint.command.argv])
    if endpoint.http:
        http = endpoint.http
        more = (http.answer_files, http.tool_calls, *http.usage.values())
        places = (http.answer, *filter(None, more))
        stream = ["stream"] if http.stream else []
        facts["http"] = in_keys([http.method, *places, *stream])
    # Most of the text: one string is written ten times as fast as a list with it.
    each = ", ".join(f'["{message.role}", {_said(message)}]' for message in messages)
    facts["messages"] = f"[{each.replace(fence, '')}]" if fence else f"[{each}]"
    facts["model"] = in_keys(endpoint.model)
    facts["options"] = in_keys({k: v for k, v in endpoint.options.items() if k not in _NOT_IN_KEYS})
    facts["schema"] = schema if isinstance(schema, str) else in_keys(schema)
    facts["turn"] = in_keys(turn)
    text = ", ".join(f'"{name}": {fact}' for name, fact in facts.items())
    return hashlib.sha256(f"{{{text}}}".encode("utf-8", "surrogatepass")).hexdigest()


def _said(message: ChatMessage) -> str:
    """Return the content of a message in keys: of an image or a document, its digest."""
    if not message.parts:
        return in_keys(message.content)
    return in_keys([p if isinstance(p, str) else [p.type, p.digest] for p in message.parts])


def in_keys(value: JSON) -> str:
    """Return a value as keys contain it: the keys of an object in order."""
    return _WRITER.encode(value)


@dataclass(frozen=True, slots=True)
class Unsent:
    """The models of the requests that an estimate counts: the cache does not answer them."""

    models: tuple[Endpoint, ...]
    usage: Usage = NOTHING_USED


def unsent(replies: Iterable[object]) -> Unsent | None:
    """Return the requests without a reply, if there are any."""
    models = [model for each in replies if isinstance(each, Unsent) for model in each.models]
    return Unsent(tuple(models)) if models else None
