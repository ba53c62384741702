"""Prompt files of targets: a text with variables, or a `.prompt.yml` of GitHub Models."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.text.template import used
from rubric_ci.values.json_value import JSON

INPUT: Final = "input"
"""The variable that is the input of the case."""

PROMPT_KEYS: Final = (
    *("name", "description", "model", "modelParameters", "messages", "responseFormat"),
    *("jsonSchema", "testData", "evaluators"),
)
_PARAMETERS: Final = {
    "temperature": "temperature",
    "topP": "top_p",
    "maxTokens": "max_tokens",
    "maxCompletionTokens": "max_completion_tokens",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
    "seed": "seed",
    "stop": "stop",
    "reasoningEffort": "reasoning_effort",
}
_ROLES: Final = ("system", "user", "assistant")
_FORMATS: Final = ("text", "json_object", "json_schema")


class Fault(NamedTuple):
    """Why a prompt file cannot be used, and the line."""

    line: int
    message: str


class PromptFile(NamedTuple):
    """The messages of a prompt, and the model and options that it names."""

    path: str
    messages: tuple[tuple[str, str], ...] = ()  # role and template
    model: str = ""
    options: Mapping[str, JSON] = {}
    faults: tuple[Fault, ...] = ()
    evaluators: bool = False  # of GitHub Models: they are not run

    @property
    def names(self) -> frozenset[str]:
        return frozenset[str]().union(*(used(text).names for _, text in self.messages))


@lru_cache(maxsize=64)
def open_prompt(path: str, text: str) -> PromptFile:
    """Read a prompt file; a text is one message: the user's if it has `{{ input }}`."""
    if path.endswith((".prompt.yml", ".prompt.yaml")):
        return _open_github_prompt(Document(path, text))
    found = used(text)
    role = "user" if INPUT in found.names else "system"
    faults = (Fault(*found.fault),) if found.fault else ()
    if not text.strip():
        faults = (Fault(1, "the prompt is empty"),)
    return PromptFile(path, ((role, text),), faults=faults)


def _open_github_prompt(document: Document) -> PromptFile:
    broken = [Fault(each.line, each.message) for _, each in document.text_problems]
    if broken or not isinstance(document.data, dict):
        fault = Fault(1, "a prompt file is a mapping with `messages`")
        return PromptFile(document.file, faults=tuple(broken) or (fault,))
    data: dict[str, Any] = document.data
    faults = tuple(sorted(_faults(data, document)))
    if faults:
        return PromptFile(document.file, faults=faults)
    written = data.get("modelParameters", {})
    parameters = {_PARAMETERS[key]: value for key, value in written.items()}
    return PromptFile(
        document.file,
        tuple((message["role"], message["content"]) for message in data["messages"]),
        model=data.get("model", ""),
        options={**parameters, **_format(data)},
        evaluators=bool(data.get("evaluators")),
    )


def _format(data: dict[str, Any]) -> dict[str, JSON]:
    match data.get("responseFormat", "text"):
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "json_schema":
            schema = _schema(data["jsonSchema"])
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        case _:
            return {}


def _schema(written: Any) -> Any:
    return json.loads(written) if isinstance(written, str) else written


def _faults(data: dict[str, Any], document: Document) -> Iterator[Fault]:
    """Yield the forbidden parts of a `.prompt.yml`."""

    def line(*path: str | int) -> int:
        return document.locate(path)[0]

    for key in data.keys() - {*PROMPT_KEYS}:
        yield Fault(line(key), f"there is no key `{key}`; known: {', '.join(PROMPT_KEYS)}")
    if not isinstance(data.get("model", ""), str):
        yield Fault(line("model"), "`model` must be text")
    parameters = data.get("modelParameters", {})
    if not isinstance(parameters, dict):
        yield Fault(line("modelParameters"), "`modelParameters` must be a mapping")
    else:
        for key in parameters.keys() - _PARAMETERS.keys():
            message = f"there is no parameter `{key}`; known: {', '.join(_PARAMETERS)}"
            yield Fault(line("modelParameters", key), message)
    yield from _format_faults(data, line("responseFormat"))
    messages = data.get("messages")
    if not isinstance(messages, list) or not messages:
        yield Fault(line("messages"), "`messages` must be a list of messages")
        return
    for index, message in enumerate(messages):
        yield from _message_faults(message, line("messages", index))


def _format_faults(data: dict[str, Any], line: int) -> Iterator[Fault]:
    given = data.get("responseFormat", "text")
    if given not in _FORMATS:
        yield Fault(line, f"`responseFormat` must be one of {', '.join(_FORMATS)}")
    if given == "json_schema":
        try:
            schema = _schema(data.get("jsonSchema"))
        except ValueError as error:
            yield Fault(line, f"`jsonSchema` is not JSON ({error})")
            return
        if not isinstance(schema, dict):
            yield Fault(line, "`responseFormat: json_schema` needs a `jsonSchema`")


def _message_faults(message: Any, line: int) -> Iterator[Fault]:
    if not isinstance(message, dict) or {*message} != {"role", "content"}:
        yield Fault(line, "a message has a `role` and a `content`")
    elif message["role"] not in _ROLES:
        yield Fault(line, f"`role` must be one of {', '.join(_ROLES)}")
    elif not isinstance(message["content"], str):
        yield Fault(line, "`content` must be text")
    elif fault := used(message["content"]).fault:
        yield Fault(line + fault.line - 1, fault.reason)
