"""Traces, observations, scores and dataset items of Langfuse: downloads, API and blob storage."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from rubric_ci.files.yaml_text.column_names import spelt
from rubric_ci.models.agents.program import as_text, items, mapping, milliseconds, number
from rubric_ci.parts.bring.traces import chat_messages as chat
from rubric_ci.parts.bring.traces.span import (
    ROOT,
    Feedback,
    Kind,
    Span,
    Unreadable,
    item_of,
    measures,
    talk,
)
from rubric_ci.values.trace import Step

_KINDS: Final[Mapping[str, Kind]] = {
    "GENERATION": "model",
    "TOOL": "tool",
    "EVALUATOR": "evaluator",
}
_CONTENT: Final = ("input", "output", "observations", "scores", "tool_definitions", "tool_calls")
_LISTS: Final = ("tags", "trace_tags", "tool_call_names", "comments", *_CONTENT)
"""Keys of a list that is not a score."""


def is_record(record: Mapping[str, Any]) -> bool:
    found = _spelt(record)
    row = {"timestamp", "bookmarked", "input"} <= found.keys()
    return row or "observations" in found or {"trace_id", "parent_observation_id"} <= found.keys()


def read_spans(record: Mapping[str, Any]) -> Iterator[Span]:
    """Yield the spans of a trace, an observation or a dataset item, or what a score says."""
    found = _spelt(record)
    trace = _spelt(mapping(found.get("trace"))) or found
    if "observations" in found:
        yield _span(trace, trace=_id(trace, "id"))
        outer = items(found.get("scores")) if found != trace else []
        scores = [*outer, *items(trace.get("scores"))]
        yield from (_score(_spelt(each), str(trace.get("id"))) for each in map(mapping, scores))
        for each in map(mapping, items(found["observations"])):
            yield _observation({"trace_id": trace.get("id"), **_spelt(each)})
    elif "expected_output" in found:
        yield item_of(found, "input", "expected_output")
    elif "trace_id" in found and "type" in found:
        yield replace(_observation(found), feedback=tuple(_exported(record)))
    elif "value" in found and "name" in found:
        yield _score(found, str(found.get("trace_id") or ""))
    elif "timestamp" in found and "input" in found:
        whole = _span(found, trace=_id(found, "id"))
        yield replace(whole, feedback=tuple(_exported(record)))
    else:
        raise Unreadable("it is not a trace, observation, score or dataset item of Langfuse")


def _spelt(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the names of blob storage: `traceId` is `trace_id`."""
    return {spelt(str(key)): value for key, value in record.items()}


def _observation(found: Mapping[str, Any]) -> Span:
    trace = _id(found, "trace_id")
    parent = str(found.get("parent_observation_id") or trace)
    return _span(found, trace=trace, parent=parent, kind=_KINDS.get(str(found.get("type")), ""))


def _span(found: Mapping[str, Any], *, trace: str, parent: str = "", kind: Kind = "") -> Span:
    name = str(found.get("name") or "")
    failed = str(found.get("level", "")) == "ERROR"
    return Span(
        trace=trace,
        id=_id(found, "id"),
        parent=parent,
        name=name,
        kind=kind,
        started=str(found.get("start_time") or found.get("timestamp") or ""),
        **talk(found.get("input"), found.get("output")),
        tool=_tool(found, name) if kind == "tool" else None,
        measures=_measures(found),
        attributes={key: each for key, each in found.items() if each and key not in _CONTENT},
        tags=tuple(map(str, items(found.get("tags") or found.get("trace_tags")))),
        error=str(found.get("status_message") or "failed") if failed else "",
    )


def _id(found: Mapping[str, Any], key: str) -> str:
    if not (identity := str(found.get(key) or "")):
        raise Unreadable(f"a trace or an observation of Langfuse has no `{key}`")
    return identity


def _tool(found: Mapping[str, Any], name: str) -> Step:
    result = as_text(chat.decoded(found.get("output")))
    return Step(tool=name or "unknown", arguments=chat.decoded(found.get("input")), result=result)


def _measures(found: Mapping[str, Any]) -> dict[str, Any]:
    usage = mapping(found.get("usage_details")) or mapping(found.get("usage"))
    tokens = {name: usage.get(name) for name in ("input", "output")}
    took = milliseconds(found.get("start_time"), found.get("end_time"))
    seconds = number(chat.as_number(found.get("latency")))
    took = seconds * 1000 if took is None and seconds is not None else took
    return measures(tokens, took, number(chat.as_number(found.get("total_cost"))))


def _exported(record: Mapping[str, Any]) -> Iterator[Feedback]:
    """Yield the scores of a row of an export, each in a column of its name, and its comments."""
    if "comments" not in record:
        return
    for name, values in record.items():
        if spelt(name) not in _LISTS:
            found = (each for each in items(values) if isinstance(each, str | int | float))
            yield from (Feedback(name, each) for each in found)
    for each in map(mapping, items(record["comments"])):
        yield Feedback("comment", None, str(each.get("content") or ""))


def _score(found: Mapping[str, Any], trace: str) -> Span:
    label = found.get("string_value")
    value = found.get("value") if label in (None, "") else label
    given = Feedback(str(found.get("name")), value, str(found.get("comment") or ""))
    identity = str(found.get("observation_id") or ROOT)
    return Span(trace=trace, id=identity, is_step=False, feedback=(given,))
