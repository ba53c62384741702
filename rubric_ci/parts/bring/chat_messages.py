"""Chat messages in the forms of model providers and tracing tools, as messages of eval files.

Forms: OpenAI's chat and responses, Anthropic, Gemini, LangChain, OpenTelemetry's GenAI conventions
and OpenInference. Reasoning is not part of an answer and is left out.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from sys import intern  # the instructions of a program are in all of its traces
from typing import Any, Final, NamedTuple

from rubric_ci.files.yaml_text.csv_cases import USUAL, spelt
from rubric_ci.models.agents.program import as_text, items, mapping
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON, parsed
from rubric_ci.values.trace import Step
from rubric_ci.values.walk import text_or_json

TEXTS: Final = ("text", "input_text", "output_text")
"""The types of a part of a message that is a text."""

ROLES: Final = {
    **{each: each for each in ("system", "user", "assistant", "tool")},
    "human": "user",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
}
"""Our roles by those of providers and of LangChain."""

_LEFT_OUT: Final = ("reasoning", "thinking", "redacted_thinking", "refusal")
_CALLS: Final = ("tool_call", "tool_use", "function_call")
_RESULTS: Final = ("tool_call_response", "tool_result", "function_call_output")
_KEYS_OF_PARTS: Final = {
    **dict.fromkeys(("functionCall", "toolUse"), "call"),
    **dict.fromkeys(("functionResponse", "toolResult"), "result"),
    "reasoningContent": "left out",
}
_MESSAGES: Final = ("messages", "input_messages", "output_messages", "chat_history", "history")
_CHOICES: Final = ("choices", "candidates", "generations", "message", "messages", "output")
_ANSWERS: Final = ("output", "answer", "response", "result", "text", "content", "completion")


class NotAChat(ValueError):
    """A message has a part that cannot be kept; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    tool: str
    arguments: JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message with its calls, or the result of one."""

    role: str
    text: str = ""
    calls: tuple[Call, ...] = ()
    result_of: str = ""  # the id of a call; role `tool`
    name: str = ""


class Said(NamedTuple):
    """The messages of a value, and what of it is not a message."""

    messages: tuple[ChatMessage, ...] = ()
    rest: JSON = None


def question(value: JSON) -> Said:
    """Return the messages of an input: a chat, a text, or a mapping with one of the usual names."""
    value = decoded(value)
    if value in (None, "", [], {}):
        return Said()
    if (found := _chat(value)) is not None:
        return Said(tuple(found))
    if isinstance(value, dict) and value.keys() == {"args", "kwargs"}:
        return _called(items(value["args"]), mapping(value["kwargs"]))
    if isinstance(value, dict):
        if (key := _named(value, USUAL["input"])) is not None:
            inner = question(value[key])
            others = {name: each for name, each in value.items() if name != key}
            return Said(inner.messages, others or None)
        if len(value) == 1:
            return question(next(iter(value.values())))
    return Said((ChatMessage(role="user", text=as_text(value)),))


def _called(args: list[JSON], kwargs: Mapping[str, JSON]) -> Said:
    """Return the messages of a call of a function, as decorators record it."""
    if not args:
        return question(dict(kwargs))
    others = {"args": args[1:], "kwargs": dict(kwargs)}
    return Said(question(args[0]).messages, others if args[1:] or kwargs else None)


def answer(value: JSON) -> Said:
    """Return the messages of an output; a text stays as it is, also if it is JSON."""
    given, value = value, decoded(value)
    if value in (None, "", [], {}):
        return Said()
    if (found := _chat(value)) is not None:
        return Said(tuple(found))
    if isinstance(given, str):
        return Said((ChatMessage(role="assistant", text=given),))
    if isinstance(value, dict) and (key := _named(value, _ANSWERS)) is not None:
        others = {name: each for name, each in value.items() if name != key}
        return Said(answer(value[key]).messages, others or None)
    return Said((ChatMessage(role="assistant", text=as_text(value)),))


def split(said: Sequence[ChatMessage]) -> tuple[Sequence[ChatMessage], Sequence[ChatMessage]]:
    """Return a chat up to the last message of a user, and what followed it."""
    last = max((at for at, each in enumerate(said) if each.role == "user"), default=-1)
    return said[: last + 1], said[last + 1 :]


def last_text(said: Sequence[ChatMessage]) -> str:
    """Return the text of the last message of the assistant that has one."""
    texts = (each.text for each in reversed(said) if each.role == "assistant" and each.text)
    return next(texts, "")


def as_input(said: Iterable[ChatMessage]) -> list[dict[str, JSON]]:
    found = []
    for each in said:
        calls = [{"tool": call.tool, "input": call.arguments} for call in each.calls]
        facts = {"content": each.text, "name": each.name, "tool_calls": calls}
        found.append({"role": each.role, **{key: fact for key, fact in facts.items() if fact}})
        if not calls:
            found[-1].setdefault("content", "")
    return found


def steps(said: Sequence[ChatMessage]) -> Iterator[Step]:
    """Yield the calls in the messages of an answer, with their results."""
    results = {each.result_of: each.text for each in said if each.role == "tool"}
    for message in said:
        for call in message.calls:
            result = results.get(call.id, "")
            yield Step(tool=call.tool, arguments=call.arguments, result=result)


def decoded(value: JSON) -> JSON:
    """Return the value of a text that is a JSON object or list."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        found = parsed(value)
        return value if found is None else found
    return value


def as_number(value: JSON) -> JSON:
    """Return the number of a decimal that is written as a text; None for NaN and infinity."""
    if not isinstance(value, str):
        return value
    try:
        found = float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _chat(value: JSON) -> list[ChatMessage] | None:
    """Return the messages of a value that has the form of a chat; None: it has another form."""
    if isinstance(value, list):
        return _list(value)
    if not isinstance(value, dict):
        return None
    if _is_message(value):
        return [*_message(value)]
    for key in _CHOICES if "choices" in value or "candidates" in value else (*_MESSAGES, *_CHOICES):
        inner = decoded(value.get(key))
        if key in {"choices", "candidates"}:
            inner = items(inner)[:1]  # the others are alternatives
        if isinstance(inner, dict | list) and (found := _chat(inner)) is not None:
            before = value.get("system", value.get("instructions"))
            system = [ChatMessage(role="system", text=as_text(before))] if before else []
            return [*system, *found]
    return None


def _list(value: list[Any]) -> list[ChatMessage] | None:
    if len(value) == 1 and isinstance(value[0], list):  # a batch of one
        return _list(value[0])
    value = [_unwrapped(each) for each in value]
    if not value or not all(isinstance(each, dict) and _is_message(each) for each in value):
        return None
    return [message for each in value for message in _message(each)]


def _unwrapped(each: JSON) -> JSON:
    """Return the message of a choice, a generation or a serialized object."""
    given = mapping(each)
    for key in ("message", "kwargs", "data"):
        inner = mapping(given.get(key))
        if inner and not _is_message(given):
            kind = str(given.get("type", "")) if key == "data" else ""
            of_class = given.get("id") if key == "kwargs" else None
            name = str(items(of_class)[-1]) if items(of_class) else kind
            kept = {"type": name.removesuffix("Message").lower()} if name else {}
            return _unwrapped({**kept, **inner})
    if "content" in given and "finishReason" in given:  # a candidate of Gemini
        return given["content"]
    return each


def _is_message(value: Mapping[str, Any]) -> bool:
    if _role(value):
        return any(key in value for key in ("content", "parts", "tool_calls", "contents", "text"))
    return value.get("type") in (*_CALLS, *_RESULTS, "reasoning") and "role" not in value


def _role(value: Mapping[str, Any]) -> str:
    role = value.get("role")
    if role is None and value.get("type") not in TEXTS:
        role = value.get("type")
    return ROLES.get(str(role).lower(), "")


def _message(value: Mapping[str, Any]) -> Iterator[ChatMessage]:
    """Yield a message, and the results that are parts of it as messages of a tool."""
    if not (role := _role(value)):
        yield from _parts([value], "assistant", "")
        return
    parts = value.get("content", value.get("parts", value.get("contents")))
    if parts is None or parts == []:
        parts = value.get("parts", value.get("contents", value.get("text")))
    name = str(value.get("name") or "")
    if role == "tool":
        of = str(value.get("tool_call_id") or value.get("id") or "")
        found = list(_parts(parts, role, name))
        texts = "\n".join(each.text for each in found if each.text)
        ids = [each.result_of for each in found if each.result_of]
        yield ChatMessage(role=role, text=texts, result_of=of or next(iter(ids), ""), name=name)
        return
    calls = tuple(_call(each) for each in items(decoded(value.get("tool_calls"))))
    found = list(_parts(parts, role, name))
    if calls and (own := next((each for each in found if each.role == role), None)):
        known = {call.id for call in own.calls if call.id}
        more = (*own.calls, *(call for call in calls if call.id not in known))
        yield from (replace(own, calls=more) if each is own else each for each in found)
    elif calls:
        yield ChatMessage(role=role, calls=calls, name=name)
        yield from found
    elif found:
        yield from found
    else:
        yield ChatMessage(role=role, name=name)


def _parts(value: JSON, role: str, name: str) -> Iterator[ChatMessage]:
    """Yield the results of a content as messages of a tool, then the message itself."""
    if not isinstance(value, list):
        if value not in (None, ""):
            yield ChatMessage(role=role, text=intern(text_or_json(value)), name=name)
        return
    texts: list[str] = []
    calls: list[Call] = []
    for part in value:
        if isinstance(part, str):
            texts.append(part)
            continue
        found = mapping(mapping(part).get("message_content", part))
        match _kind(found):
            case "text":
                texts.append(text_or_json(found.get("text", found.get("content", ""))))
            case "call":
                calls.append(_call(found))
            case "result":
                yield _result(found)
            case "left out":
                pass
            case kind:
                raise NotAChat(f"a message has a part of type `{kind}`, which is not imported")
    if texts or calls:
        text = intern("\n".join(texts))
        yield ChatMessage(role=role, text=text, calls=tuple(calls), name=name)


def _kind(part: Mapping[str, Any]) -> str:
    kind = str(part.get("type", ""))
    known = {**dict.fromkeys(TEXTS, "text"), **dict.fromkeys(_LEFT_OUT, "left out")}
    known |= {**dict.fromkeys(_CALLS, "call"), **dict.fromkeys(_RESULTS, "result")}
    if kind in known:
        return known[kind]
    for key, meaning in _KEYS_OF_PARTS.items():
        if key in part:
            return meaning
    if not kind and isinstance(part.get("text"), str):
        return "left out" if part.get("thought") else "text"
    return kind or next(iter(part), "unknown")


def _call(value: Any) -> Call:
    call = mapping(mapping(value).get("tool_call", value))
    inner = _inner(call, "function", "functionCall", "toolUse")
    arguments = next(
        (inner[key] for key in ("arguments", "args", "input", "parameters") if key in inner), None
    )
    name = str(inner.get("name") or call.get("name") or call.get("tool") or "unknown")
    ids = (call.get("id"), call.get("call_id"), inner.get("toolUseId"))
    return Call(str(next(filter(None, ids), "")), name, decoded(arguments))


def _result(part: Mapping[str, Any]) -> ChatMessage:
    inner = _inner(part, "functionResponse", "toolResult")
    keys = ("response", "result", "output", "content")
    value = next((inner[key] for key in keys if key in inner), "")
    names = ("tool_use_id", "call_id", "id", "toolUseId")
    of = next((inner[key] for key in names if inner.get(key)), "")
    return ChatMessage(
        role="tool", text=as_text(value), result_of=str(of), name=str(inner.get("name") or "")
    )


def _inner(part: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    return next((mapping(part[key]) for key in keys if mapping(part.get(key))), part)


def _named(value: Mapping[str, Any], names: Sequence[str]) -> str | None:
    by_name = {spelt(str(key)): key for key, each in value.items() if each not in (None, "", [])}
    return next((by_name[name] for name in names if name in by_name), None)
