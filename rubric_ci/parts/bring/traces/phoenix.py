"""Spans, dataset examples and runs of experiments of Phoenix, of its client and its downloads."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from rubric_ci.models.agents.program import items, mapping, milliseconds, number
from rubric_ci.parts.bring.traces import chat_messages as chat
from rubric_ci.parts.bring.traces import otlp_spans
from rubric_ci.parts.bring.traces.span import (
    ROOT,
    Feedback,
    Span,
    Unreadable,
    item_of,
    measures,
    talk,
)

_PREFIX: Final = "attributes."
_CHATS: Final = ("llm.input_messages", "llm.output_messages")
_COLUMN: Final = "annotation_"


def is_record(record: Mapping[str, Any]) -> bool:
    whole = {"input", "output"} <= record.keys()
    columns = any(key.startswith("input.") for key in record)
    of_dataset = "node_id" in record and (whole or columns)
    return of_dataset or _is_run(record) or (bool(_trace(record)) and "span_kind" in record)


def _is_run(record: Mapping[str, Any]) -> bool:
    return {"example_id", "repetition_number", "output"} <= record.keys()


def read_spans(record: Mapping[str, Any]) -> Iterator[Span]:
    """Yield a span, what an annotation says of one, a run of an experiment, or an example."""
    if _is_run(record):
        yield _run(record)
    elif "annotator_kind" in record:  # its span is known by its id only
        trace, identity = str(record.get("trace_id") or ""), str(record.get("span_id") or ROOT)
        yield Span(trace=trace, id=identity, is_step=False, feedback=(_feedback(record),))
    elif _trace(record):
        yield _span(record)
    elif "input" in record and "output" in record:
        yield item_of(record, "input", "output")
    elif "node_id" in record:  # a row of a table, with columns such as `input.question`
        filled = {key: each for key, each in record.items() if each is not None}
        yield item_of(otlp_spans.nest(filled), "input", "output")
    else:
        raise Unreadable("it has no `context.trace_id`, as a span of Phoenix has")


def _trace(record: Mapping[str, Any]) -> str:
    return str(mapping(record.get("context")).get("trace_id") or record.get("context.trace_id", ""))


def _span(record: Mapping[str, Any]) -> Span:
    columns = {k.removeprefix(_PREFIX): v for k, v in record.items() if k.startswith(_PREFIX)}
    found = {**mapping(record.get("attributes")), **columns}
    if any(isinstance(found.get(key), str) for key in _CHATS):
        raise Unreadable(
            "its messages are Python, and not JSON: export the data frame with "
            '`to_json(orient="records", lines=True)`'
        )
    found.setdefault("openinference", {"span": {"kind": record.get("span_kind")}})
    given = otlp_spans.read_attributes(
        {key: each for key, each in found.items() if each is not None}, str(record.get("name", ""))
    )
    context = mapping(record.get("context"))
    took = milliseconds(record.get("start_time"), record.get("end_time"))
    failed = record.get("status_code") == "ERROR"
    return replace(
        given,
        trace=_trace(record),
        id=str(context.get("span_id") or record.get("context.span_id", "")),
        parent=str(record.get("parent_id") or ""),
        started=str(record.get("start_time") or ""),
        error=str(record.get("status_message") or "failed") if failed else "",
        measures={**({} if took is None else {"duration_ms": took}), **given.measures},
        feedback=(*given.feedback, *_annotated(record)),
    )


def _run(record: Mapping[str, Any]) -> Span:
    """Return a run of an experiment: an answer to an example of its dataset."""
    identity = f"{record['example_id']}-{record['repetition_number']}"
    counts = {"input": "prompt_token_count", "output": "completion_token_count"}
    found = {name: number(chat.as_number(record.get(key))) for name, key in counts.items()}
    took = number(chat.as_number(record.get("latency_ms")))
    tokens = {name: int(count) for name, count in found.items() if count}
    return Span(
        trace=str(record.get("trace_id") or identity),
        id=identity,
        started=str(record.get("start_time") or ""),
        **talk(record.get("input"), record["output"], record.get("reference_output")),
        measures=measures(tokens, took),
        feedback=(*_annotated(record), *_columns(record)),
        error=str(record.get("error") or ""),
    )


def _annotated(record: Mapping[str, Any]) -> Iterator[Feedback]:
    yield from map(_feedback, map(mapping, items(record.get("annotations"))))


def _columns(record: Mapping[str, Any]) -> Iterator[Feedback]:
    """Yield the annotations of a row of a table: `annotation_NAME_score` and others of a name."""
    names = dict.fromkeys(
        key.removeprefix(_COLUMN).removesuffix(end)
        for key, each in record.items()
        for end in ("_label", "_score")
        if key.startswith(_COLUMN) and key.endswith(end) and each is not None
    )
    for name in names:
        parts = ("label", "score", "explanation")
        label, score, comment = (record.get(f"{_COLUMN}{name}_{part}") for part in parts)
        value = chat.as_number(score) if label is None else label
        yield Feedback(name, value, str(comment or ""))


def _feedback(record: Mapping[str, Any]) -> Feedback:
    result = mapping(record.get("result")) or record
    label, score = result.get("label"), result.get("score")
    comment = str(result.get("explanation") or "")
    return Feedback(str(record.get("name")), score if label is None else label, comment)
