"""Spans and dataset examples of Phoenix, as its client and its command line export them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from rubric_ci.files.traces import span_attributes
from rubric_ci.files.traces.dataset_item import item_of
from rubric_ci.files.traces.span import ROOT, Feedback, Span, Unreadable
from rubric_ci.models.agents.program import items, mapping, milliseconds

_PREFIX: Final = "attributes."


def is_record(record: Mapping[str, Any]) -> bool:
    """Return True for a span, also as a row of a data frame."""
    return bool(_trace(record)) and "span_kind" in record


def read(record: Mapping[str, Any]) -> Iterator[Span]:
    """Yield a span, what an annotation says of one, or a dataset example."""
    if "annotator_kind" in record:
        yield _annotation(record)
    elif _trace(record):
        yield _span(record)
    elif "input" in record and "output" in record:
        yield item_of(record, "input", "output")
    else:
        raise Unreadable("it has no `context.trace_id`, as a span of Phoenix has")


def _trace(record: Mapping[str, Any]) -> str:
    return str(mapping(record.get("context")).get("trace_id") or record.get("context.trace_id", ""))


def _span(record: Mapping[str, Any]) -> Span:
    columns = {k.removeprefix(_PREFIX): v for k, v in record.items() if k.startswith(_PREFIX)}
    found = {**mapping(record.get("attributes")), **columns}
    found.setdefault("openinference", {"span": {"kind": record.get("span_kind")}})
    given = span_attributes.read(
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
        feedback=tuple(map(_feedback, map(mapping, items(record.get("annotations"))))),
    )


def _annotation(record: Mapping[str, Any]) -> Span:
    """Return the mark of an annotation; its span is known by its id only."""
    return Span(
        trace=str(record.get("trace_id") or ""),
        id=str(record.get("span_id") or ROOT),
        is_step=False,
        feedback=(_feedback(record),),
    )


def _feedback(record: Mapping[str, Any]) -> Feedback:
    result = mapping(record.get("result")) or record
    label, score = result.get("label"), result.get("score")
    comment = str(result.get("explanation") or "")
    return Feedback(str(record.get("name")), score if label is None else label, comment)
