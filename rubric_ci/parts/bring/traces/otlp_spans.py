"""OpenTelemetry's OTLP in JSON: spans, and log records with messages or evaluations of them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from rubric_ci.models.agents import otlp
from rubric_ci.models.agents.program import items, mapping
from rubric_ci.parts.bring.traces import span_attributes
from rubric_ci.parts.bring.traces.span import Span, Unreadable

_PROTOCOL: Final = ("resource_spans", "resource_logs")
_EXPORTS: Final = ("resourceSpans", "resourceLogs", *_PROTOCOL)
_LOWER: Final = re.compile(r"_([a-z])")


def is_record(record: Mapping[str, Any]) -> bool:
    """Return True for an export of spans or log records."""
    return any(isinstance(record.get(key), list) for key in _EXPORTS)


def read(record: Mapping[str, Any]) -> Iterator[Span]:
    """Yield the spans of an export, and what its log records say of them."""
    if not is_record(record):
        raise Unreadable("it has neither `resourceSpans` nor `resourceLogs`, as OTLP has")
    if any(key in record for key in _PROTOCOL):
        record = _camel(record)
    yield from map(_span, otlp.spans([record]))
    for resource in map(mapping, items(record.get("resourceLogs"))):
        for scope in map(mapping, items(resource.get("scopeLogs"))):
            yield from filter(None, map(_log, map(mapping, items(scope.get("logRecords")))))


def _camel(value: Any) -> Any:
    """Return a value with the keys of OTLP's JSON in place of names of its protocol buffers.

    Names that a program gave are values of `key`, and stay.
    """
    if isinstance(value, list):
        return [_camel(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {_LOWER.sub(_upper, str(key)): _camel(each) for key, each in value.items()}


def _upper(found: re.Match[str]) -> str:
    return found[1].upper()


def _span(written: Mapping[str, Any]) -> Span:
    trace, identity, parent = (
        str(written.get(key) or "") for key in ("traceId", "spanId", "parentSpanId")
    )
    if not trace or not identity:
        raise Unreadable("a span has no `traceId` or no `spanId`")
    events = [
        (str(each.get("name", "")), otlp.attributes(each.get("attributes")))
        for each in map(mapping, items(written.get("events")))
    ]
    found = otlp.attributes(written.get("attributes"))
    given = span_attributes.read(found, str(written.get("name", "")), events)
    return replace(
        given,
        trace=trace,
        id=identity,
        parent="" if parent.strip("0") == "" else parent,
        started=str(written.get("startTimeUnixNano", "")).zfill(20),
        error=otlp.error_of(written, found),
        measures={"duration_ms": otlp.took(written), **given.measures},
    )


def _log(written: Mapping[str, Any]) -> Span | None:
    """Return the facts about a span in a log record; None: it is about something else."""
    found = otlp.attributes(written.get("attributes"))
    name = str(written.get("eventName") or found.get("event.name") or "")
    trace, identity = (str(written.get(key) or "") for key in ("traceId", "spanId"))
    if not name.startswith("gen_ai.") or not trace or not identity:
        return None
    facts = {**mapping(otlp.value(written.get("body"))), **found}
    given = span_attributes.read(facts, events=[(name, facts)])
    return replace(given, trace=trace, id=identity, is_step=False)
