"""Rows of Braintrust: logs, experiments and datasets, as its API and its downloads have them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.models.agents.program import as_text, items, mapping, number
from rubric_ci.parts.bring.traces.span import Feedback, Kind, Span, Unreadable, measures, talk
from rubric_ci.values.trace import Step

_KINDS: Final[Mapping[str, Kind]] = {"llm": "model", "tool": "tool", "score": "evaluator"}
_CONTENT: Final = ("input", "output", "expected", "scores", "context", "tags")


def is_record(record: Mapping[str, Any]) -> bool:
    return "root_span_id" in record and "span_id" in record


def read_spans(record: Mapping[str, Any]) -> Iterator[Span]:
    """Yield the span of a row, or the comment that a row has about another one."""
    origin = mapping(record.get("origin")).get("id")
    comment = mapping(record.get("comment")).get("text")
    if comment and origin:
        given = Feedback("comment", None, str(comment))
        yield Span(trace="", id=str(origin), is_step=False, feedback=(given,))
    elif "input" in record:
        yield _row(record)
    else:
        raise Unreadable("it has no `input`, as a row of Braintrust has")


def _row(row: Mapping[str, Any]) -> Span:
    about = mapping(row.get("span_attributes"))
    kind = _KINDS.get(str(about.get("type")), "")
    identity = str(row.get("span_id") or row.get("id") or "")
    is_item = "output" not in row
    if not identity and not is_item:
        raise Unreadable("a row has no `id`")
    metrics = mapping(row.get("metrics"))
    return Span(
        trace=str(row.get("root_span_id") or identity),
        id=identity,
        row=str(row.get("id") or ""),
        parent=str(next(iter(items(row.get("span_parents"))), "")),
        is_item=is_item,
        name=str(about.get("name") or ""),
        kind=kind,
        started=f"{number(metrics.get('start')) or 0:020.6f}",
        **talk(row.get("input"), row.get("output"), row.get("expected")),
        tool=_tool(row, str(about.get("name") or "unknown")) if kind == "tool" else None,
        measures=_measures(metrics),
        attributes={key: each for key, each in row.items() if each and key not in _CONTENT},
        tags=tuple(map(str, items(row.get("tags")))),
        feedback=tuple(
            Feedback(str(name), score)
            for name, score in mapping(row.get("scores")).items()
            if score is not None
        ),
        error=as_text(row.get("error")),
    )


def _tool(row: Mapping[str, Any], name: str) -> Step:
    return Step(tool=name, arguments=row.get("input"), result=as_text(row.get("output")))


def _measures(metrics: Mapping[str, Any]) -> dict[str, Any]:
    tokens = {"input": metrics.get("prompt_tokens"), "output": metrics.get("completion_tokens")}
    start, end = number(metrics.get("start")), number(metrics.get("end"))
    took = None if start is None or end is None else (end - start) * 1000
    return measures(tokens, took, number(metrics.get("estimated_cost")))
