"""OpenTelemetry spans of the GenAI conventions, in OTLP's JSON: one object, or one a line."""

from collections.abc import Iterator, Mapping
from typing import Any

from rubric_ci.models.agents.program import (
    NO_FILES,
    Files,
    as_text,
    events,
    failure,
    integer,
    items,
    mapping,
)
from rubric_ci.values.json_value import parsed
from rubric_ci.values.trace import Step, Trace

_ERROR = 2  # the status code of a span


def read(stdout: str, _stderr: str, _files: Files = NO_FILES, /) -> Trace:
    """Read the spans of `execute_tool`, `chat` and `invoke_agent`."""
    records = list(events(stdout))
    if not any(is_output(each) for each in records):
        raise failure("it has no OTLP spans: `resourceSpans` is missing")
    found_spans = sorted(spans(records), key=lambda span: _nanoseconds(span, "startTimeUnixNano"))
    facts = [(span, attributes(span.get("attributes"))) for span in found_spans]
    by_kind = {
        kind: [(s, f) for s, f in facts if f.get("gen_ai.operation.name") == kind]
        for kind in ("chat", "invoke_agent", "execute_tool")
    }
    model_spans = by_kind["chat"] or by_kind["invoke_agent"]
    whole = by_kind["invoke_agent"]
    return Trace(
        answer=next(filter(None, (_said(f) for _, f in reversed([*model_spans, *whole]))), ""),
        steps=tuple(_step(span, found) for span, found in by_kind["execute_tool"]),
        input_tokens=sum(integer(f.get("gen_ai.usage.input_tokens")) for _, f in model_spans),
        output_tokens=sum(integer(f.get("gen_ai.usage.output_tokens")) for _, f in model_spans),
        duration_ms=took(whole[0][0]) if whole else None,
        model=next((str(f["gen_ai.request.model"]) for _, f in model_spans if _MODEL in f), ""),
    )


_MODEL = "gen_ai.request.model"


def is_output(records: Mapping[str, object]) -> bool:
    return isinstance(records.get("resourceSpans"), list)


def spans(records: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for export in records:
        for resource in items(export.get("resourceSpans")):
            for scope in items(mapping(resource).get("scopeSpans")):
                yield from map(mapping, items(mapping(scope).get("spans")))


def _step(span: Mapping[str, Any], found: Mapping[str, Any]) -> Step:
    return Step(
        tool=str(found.get("gen_ai.tool.name", "")),
        arguments=decoded(found.get("gen_ai.tool.call.arguments")),
        result=as_text(found.get("gen_ai.tool.call.result")),
        error=error_of(span, found),
        duration_ms=took(span),
    )


def error_of(span: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Return why a span failed; "": it did not."""
    status = mapping(span.get("status"))
    if status.get("code") not in (_ERROR, "STATUS_CODE_ERROR"):
        return ""
    return str(status.get("message") or found.get("error.type") or "failed")


def _said(found: Mapping[str, Any]) -> str:
    """Return the text of the last output message."""
    messages = items(decoded(found.get("gen_ai.output.messages")))
    parts = items(mapping(messages[-1]).get("parts")) if messages else []
    texts = [p.get("content") for p in map(mapping, parts) if p.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def decoded(value: Any) -> Any:
    """Return a structured value; exporters without them write it as JSON."""
    found = parsed(value) if isinstance(value, str) else value
    return value if found is None else found


def took(span: Mapping[str, Any]) -> float:
    """Return the milliseconds of a span."""
    start, end = _nanoseconds(span, "startTimeUnixNano"), _nanoseconds(span, "endTimeUnixNano")
    return max(end - start, 0) / 1_000_000


def _nanoseconds(span: Mapping[str, Any], key: str) -> int:
    text = str(span.get(key, ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 30 else 0


def attributes(written: Any) -> dict[str, Any]:
    return {str(each.get("key")): value(each.get("value")) for each in map(mapping, items(written))}


def value(written: Any) -> Any:
    """Return the value of an attribute or a body; None for an empty one."""
    match written:
        case {"intValue": str(text)} if text.isascii() and text.isdigit() and len(text) < 20:
            return int(text)
        case {"arrayValue": {"values": list(values)}}:
            return [value(each) for each in values]
        case {"kvlistValue": {"values": list(values)}}:
            return attributes(values)
        case dict() if len(written) == 1:
            return next(iter(written.values()))
        case _:
            return None
