"""JSON format of answers, in recordings and in the output of commands.

In addition to the text, it holds measurements of the target; evaluators and scripts read them from
the answer's `trace_summary`.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping

from rubric_ci.errors import CannotAnswer
from rubric_ci.model.json_value import JSON
from rubric_ci.model.results import Answer

MEASURES = frozenset({"output_messages", "trace_summary", "duration_ms", "cost_usd", "token_usage"})


_NUMBERS = ("duration_ms", "cost_usd", "token_usage")


def parse(text: str) -> Answer:
    """Return the answer in a command's output: an object with `text` or `output_messages`, or text.

    An object with any other key is itself the text. Raises CannotAnswer for an invalid
    measurement.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Answer(text=text)
    if not isinstance(value, dict) or not value.keys() & {"text", "output_messages"}:
        return Answer(text=text)
    if value.keys() - MEASURES - {"text"}:
        return Answer(text=text)
    return build(value.get("text"), value)


def build(text: JSON, measures: Mapping[str, JSON]) -> Answer:
    """Return an answer with its measurements; without a text, the last message is the text.

    Raises CannotAnswer for an invalid measurement.
    """
    messages = _messages(measures)
    summary = _summary(measures, messages)
    return Answer(
        text=as_text(text) if text is not None else _last_text(messages),
        messages=messages,
        trace_summary=summary or None,
        duration_seconds=summary["duration_ms"] / 1000 if "duration_ms" in summary else None,
    )


def as_text(value: JSON) -> str:
    """Return a string unchanged, other values as indented JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _last_text(messages: tuple[Mapping[str, JSON], ...]) -> str:
    contents = [m["content"] for m in messages if m.get("role") == "assistant" and m.get("content")]
    return as_text(contents[-1]) if contents else ""


def _messages(measures: Mapping[str, JSON]) -> tuple[Mapping[str, JSON], ...]:
    messages = measures.get("output_messages") or []
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        raise CannotAnswer("`output_messages` must be a list of objects")
    for message in messages:
        calls = message.get("tool_calls") or []
        if not isinstance(calls, list) or not all(_is_call(call) for call in calls):
            raise CannotAnswer("`tool_calls` must be a list of objects with `tool`")
    return tuple(messages)


def _is_call(call: JSON) -> bool:
    return isinstance(call, dict) and isinstance(call.get("tool"), str)


def _summary(
    measures: Mapping[str, JSON], messages: tuple[Mapping[str, JSON], ...]
) -> dict[str, JSON]:
    given = measures.get("trace_summary") or {}
    if not isinstance(given, dict):
        raise CannotAnswer("`trace_summary` must be an object")
    given_directly = {name: measures[name] for name in _NUMBERS if name in measures}
    merged = {**_counts(messages), **given, **given_directly}
    return {**merged, **dict(_measured(merged))}


def _counts(messages: tuple[Mapping[str, JSON], ...]) -> dict[str, JSON]:
    if not messages:
        return {}
    calls = Counter(call["tool"] for m in messages for call in m.get("tool_calls") or [])
    return {
        "event_count": calls.total(),
        "tool_names": sorted(calls),
        "tool_calls_by_name": dict(sorted(calls.items())),
    }


def _measured(measures: Mapping[str, JSON]) -> Iterator[tuple[str, JSON]]:
    for name in ("duration_ms", "cost_usd"):
        value = _number(measures, name)
        if value is not None:
            yield name, value
    tokens = measures.get("token_usage")
    if tokens is None:
        return
    if not isinstance(tokens, dict):
        raise CannotAnswer("`token_usage` must be an object with `input` and `output`")
    yield "token_usage", {name: _number(tokens, name) or 0 for name in tokens}


def _number(measures: Mapping[str, JSON], name: str) -> int | float | None:
    value = measures.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise CannotAnswer(f"`{name}` must be a number, not {json.dumps(value)}")
    if value < 0:
        raise CannotAnswer(f"`{name}` must not be negative, but is {value}")
    return value
