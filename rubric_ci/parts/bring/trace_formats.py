"""The formats of traces that `import` reads: a reader each, in the table `FORMATS`.

Langfuse: downloads, API and blob storage. LangSmith: exports of its client. Phoenix: spans of its
client and its downloads. Braintrust: logs and experiments, as its API and its downloads have them.
`spans_and_otlp.py` has OpenTelemetry's. Items of datasets are golden sets.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.files.yaml_text.csv_cases import spelt
from rubric_ci.models.agents.program import as_text, items, mapping, milliseconds, number
from rubric_ci.parts.bring import chat_messages as chat
from rubric_ci.parts.bring import spans_and_otlp
from rubric_ci.parts.bring.spans_and_otlp import (
    ROOT,
    Feedback,
    Kind,
    Span,
    Unreadable,
    marked,
    measures,
    talk,
)
from rubric_ci.values.json_value import JSON

_Record: TypeAlias = Mapping[str, Any]
_DATASET: Final = "; import a dataset without `--from`"

_KINDS: Final[Mapping[str, Mapping[str, Kind]]] = {
    "langfuse": {"GENERATION": "model", "TOOL": "tool", "EVALUATOR": "evaluator"},
    "langsmith": {"llm": "model", "tool": "tool"},
    "braintrust": {"llm": "model", "tool": "tool", "score": "evaluator"},
}
_CONTENT: Final[Mapping[str, tuple[str, ...]]] = {
    "langfuse": (*("input", "output", "observations", "scores", "tool_definitions", "tool_calls"),),
    "langsmith": (
        *("inputs", "outputs", "child_runs", "events", "serialized", "feedback_stats", "extra"),
    ),
    "braintrust": ("input", "output", "expected", "scores", "context", "tags"),
}
"""Keys of a record that are no facts for `--where`."""

_NO_SCORES: Final = {"tags", "trace_tags", "tool_call_names", "comments", *_CONTENT["langfuse"]}
"""Columns of Langfuse with a list that is not a score."""


def _about(trace: str, identity: str, given: Feedback) -> Span:
    """Return what a record says of a span, or of a trace as a whole."""
    return Span(trace=trace, id=identity, is_step=False, feedback=(given,))


def _attributes(form: str, record: _Record) -> dict[str, Any]:
    content = _CONTENT[form]
    return {key: each for key, each in record.items() if each and key not in content}


def _texts(value: JSON) -> tuple[str, ...]:
    return tuple(map(str, items(value)))


def _failure(record: _Record, *, failed: bool) -> str:
    return str(record.get("status_message") or "failed") if failed else ""


def _decimal(value: JSON) -> float | None:
    return number(chat.as_number(value))


def _is_langfuse(record: _Record) -> bool:
    found = _spelt(record)
    row = {"timestamp", "bookmarked", "input"} <= found.keys()
    return row or "observations" in found or {"trace_id", "parent_observation_id"} <= found.keys()


def _langfuse(record: _Record) -> Iterator[Span]:
    """Yield the spans of a trace or an observation, or what a score says."""
    found = _spelt(record)
    trace = _spelt(mapping(found.get("trace"))) or found
    if "observations" in found:
        yield _langfuse_span(trace, trace=_langfuse_id(trace, "id"))
        outer = items(found.get("scores")) if found != trace else []
        scores = [*outer, *items(trace.get("scores"))]
        yield from (_langfuse_score(_spelt(mapping(e)), str(trace.get("id"))) for e in scores)
        for each in map(mapping, items(found["observations"])):
            yield _observation({"trace_id": trace.get("id"), **_spelt(each)})
    elif "trace_id" in found and "type" in found:
        yield replace(_observation(found), feedback=tuple(_exported(record)))
    elif "value" in found and "name" in found:
        yield _langfuse_score(found, str(found.get("trace_id") or ""))
    elif "timestamp" in found and "input" in found:
        whole = _langfuse_span(found, trace=_langfuse_id(found, "id"))
        yield replace(whole, feedback=tuple(_exported(record)))
    else:
        raise Unreadable(f"it is not a trace, observation or score of Langfuse{_DATASET}")


def _spelt(record: _Record) -> dict[str, Any]:
    """Return a record with the names of blob storage: `traceId` is `trace_id`."""
    return {spelt(str(key)): value for key, value in record.items()}


def _observation(found: _Record) -> Span:
    trace = _langfuse_id(found, "trace_id")
    parent = str(found.get("parent_observation_id") or trace)
    kind = _KINDS["langfuse"].get(str(found.get("type")), "")
    return _langfuse_span(found, trace=trace, parent=parent, kind=kind)


def _langfuse_span(found: _Record, *, trace: str, parent: str = "", kind: Kind = "") -> Span:
    usage = mapping(found.get("usage_details")) or mapping(found.get("usage"))
    took = milliseconds(found.get("start_time"), found.get("end_time"))
    seconds = _decimal(found.get("latency"))
    took = seconds * 1000 if took is None and seconds is not None else took
    tokens = {name: usage.get(name) for name in ("input", "output")}
    return Span(
        trace=trace,
        id=_langfuse_id(found, "id"),
        parent=parent,
        started=str(found.get("start_time") or found.get("timestamp") or ""),
        **talk(
            found.get("input"), found.get("output"), kind=kind, name=str(found.get("name") or "")
        ),
        measures=measures(tokens, took, _decimal(found.get("total_cost"))),
        attributes=_attributes("langfuse", found),
        tags=_texts(found.get("tags") or found.get("trace_tags")),
        error=_failure(found, failed=str(found.get("level", "")) == "ERROR"),
    )


def _langfuse_id(found: _Record, key: str) -> str:
    if not (identity := str(found.get(key) or "")):
        raise Unreadable(f"a trace or an observation of Langfuse has no `{key}`")
    return identity


def _exported(record: _Record) -> Iterator[Feedback]:
    """Yield the scores of a row of an export, each in a column of its name, and its comments."""
    if "comments" not in record:
        return
    for name, values in record.items():
        if spelt(name) not in _NO_SCORES:
            found = (each for each in items(values) if isinstance(each, str | int | float))
            yield from (Feedback(name, each) for each in found)
    for each in map(mapping, items(record["comments"])):
        yield Feedback("comment", None, str(each.get("content") or ""))


def _langfuse_score(found: _Record, trace: str) -> Span:
    label = None if found.get("string_value") == "" else found.get("string_value")
    given = marked(str(found.get("name")), label, found.get("value"), found.get("comment"))
    return _about(trace, str(found.get("observation_id") or ROOT), given)


def _is_langsmith(record: _Record) -> bool:
    return "run_type" in record and "inputs" in record


def _langsmith(record: _Record) -> Iterator[Span]:
    """Yield a run and those in it, or what feedback says of a run."""
    if "run_type" in record:
        waiting = [record]
        while waiting:  # `child_runs` at any depth
            run = waiting.pop()
            yield _langsmith_run(run)
            waiting.extend(map(mapping, items(run.get("child_runs"))))
    elif "key" in record and "run_id" in record:
        value = None if isinstance(record.get("value"), dict | list) else record.get("value")
        given = marked(str(record["key"]), value, record.get("score"), record.get("comment"))
        yield _about("", str(record["run_id"]), given)
    else:
        raise Unreadable(f"it is neither a run nor feedback of LangSmith{_DATASET}")


def _langsmith_run(run: _Record) -> Span:
    identity = str(run.get("id") or run.get("run_id") or "")
    if not identity:
        raise Unreadable("a run has no `id`")
    kind = _KINDS["langsmith"].get(str(run.get("run_type")), "")
    name = str(run.get("name") or "")
    tokens = {"input": run.get("prompt_tokens"), "output": run.get("completion_tokens")}
    took = milliseconds(run.get("start_time"), run.get("end_time"))
    metadata = mapping(mapping(run.get("extra")).get("metadata"))
    return Span(
        trace=str(run.get("trace_id") or identity),
        id=identity,
        parent=str(run.get("parent_run_id") or ""),
        started=str(run.get("start_time") or ""),
        **talk(run.get("inputs"), run.get("outputs"), kind=kind, name=name),
        measures=measures(tokens, took, _decimal(run.get("total_cost"))),
        attributes={**_attributes("langsmith", run), "metadata": metadata},
        tags=_texts(run.get("tags")),
        feedback=tuple(_stated(run)),
        error=str(run.get("error") or ""),
    )


def _stated(run: _Record) -> Iterator[Feedback]:
    """Yield the feedback of a run: the mean of a score, else its labels."""
    for name, stats in mapping(run.get("feedback_stats")).items():
        found = mapping(stats)
        if number(found.get("avg")) is not None:
            yield Feedback(str(name), number(found["avg"]))
        else:
            yield from (Feedback(str(name), label) for label in mapping(found.get("values")))


_PREFIX: Final = "attributes."
_CHATS: Final = ("llm.input_messages", "llm.output_messages")


def _is_phoenix(record: _Record) -> bool:
    return bool(_phoenix_trace(record)) and "span_kind" in record


def _phoenix(record: _Record) -> Iterator[Span]:
    """Yield a span, or what an annotation says of one."""
    if "annotator_kind" in record:  # its span is known by its id only
        trace, identity = str(record.get("trace_id") or ""), str(record.get("span_id") or ROOT)
        yield _about(trace, identity, _annotation(record))
    elif _phoenix_trace(record):
        yield _phoenix_span(record)
    else:
        raise Unreadable(f"it has no `context.trace_id`, as a span of Phoenix has{_DATASET}")


def _phoenix_trace(record: _Record) -> str:
    return str(mapping(record.get("context")).get("trace_id") or record.get("context.trace_id", ""))


def _phoenix_span(record: _Record) -> Span:
    columns = {k.removeprefix(_PREFIX): v for k, v in record.items() if k.startswith(_PREFIX)}
    found = {**mapping(record.get("attributes")), **columns}
    if any(isinstance(found.get(key), str) for key in _CHATS):
        raise Unreadable(
            "its messages are Python, and not JSON: export the data frame with "
            '`to_json(orient="records", lines=True)`'
        )
    found.setdefault("openinference", {"span": {"kind": record.get("span_kind")}})
    given = spans_and_otlp.read_attributes(
        {key: each for key, each in found.items() if each is not None}, str(record.get("name", ""))
    )
    took = milliseconds(record.get("start_time"), record.get("end_time"))
    identity = mapping(record.get("context")).get("span_id") or record.get("context.span_id", "")
    return replace(
        given,
        trace=_phoenix_trace(record),
        id=str(identity),
        parent=str(record.get("parent_id") or ""),
        started=str(record.get("start_time") or ""),
        error=_failure(record, failed=record.get("status_code") == "ERROR"),
        measures={**measures({}, took), **given.measures},
        feedback=(*given.feedback, *_annotations(record)),
    )


def _annotations(record: _Record) -> Iterator[Feedback]:
    yield from map(_annotation, map(mapping, items(record.get("annotations"))))


def _annotation(record: _Record) -> Feedback:
    result = mapping(record.get("result")) or record
    facts = (result.get(key) for key in ("label", "score", "explanation"))
    return marked(str(record.get("name")), *facts)


def _is_braintrust(record: _Record) -> bool:
    return {"root_span_id", "span_id", "output"} <= record.keys()


def _braintrust(record: _Record) -> Iterator[Span]:
    """Yield the span of a row, or the comment that a row has about another one."""
    origin = mapping(record.get("origin")).get("id")
    comment = mapping(record.get("comment")).get("text")
    if comment and origin:
        yield _about("", str(origin), Feedback("comment", None, str(comment)))
    elif "input" in record and "output" in record:
        yield _row(record)
    else:
        raise Unreadable(f"it has no `input` or no `output`, as a row of Braintrust has{_DATASET}")


def _row(row: _Record) -> Span:
    about, metrics = mapping(row.get("span_attributes")), mapping(row.get("metrics"))
    kind = _KINDS["braintrust"].get(str(about.get("type")), "")
    identity = str(row.get("span_id") or row.get("id") or "")
    if not identity:
        raise Unreadable("a row has no `id`")
    name = str(about.get("name") or "")
    tokens = {"input": metrics.get("prompt_tokens"), "output": metrics.get("completion_tokens")}
    start, end = number(metrics.get("start")), number(metrics.get("end"))
    took = None if start is None or end is None else (end - start) * 1000
    scores = mapping(row.get("scores")).items()
    return Span(
        trace=str(row.get("root_span_id") or identity),
        id=identity,
        row=str(row.get("id") or ""),
        parent=str(next(iter(items(row.get("span_parents"))), "")),
        started=f"{start or 0:020.6f}",
        **talk(row.get("input"), row.get("output"), row.get("expected"), kind=kind, name=name),
        measures=measures(tokens, took, number(metrics.get("estimated_cost"))),
        attributes=_attributes("braintrust", row),
        tags=_texts(row.get("tags")),
        feedback=tuple(Feedback(str(n), score) for n, score in scores if score is not None),
        error=as_text(row.get("error")),
    )


class Format(NamedTuple):
    is_record: Callable[[_Record], bool]  # of a record that only this format has
    read_spans: Callable[[_Record], Iterator[Span]]


FORMATS: Final[Mapping[str, Format]] = {
    "otlp": Format(spans_and_otlp.is_record, spans_and_otlp.read_spans),
    "langfuse": Format(_is_langfuse, _langfuse),
    "langsmith": Format(_is_langsmith, _langsmith),
    "phoenix": Format(_is_phoenix, _phoenix),
    "braintrust": Format(_is_braintrust, _braintrust),
}


def format_of(record: _Record) -> str:
    """Return the name of the format that a record shows to have, or ""."""
    return next((name for name, form in FORMATS.items() if form.is_record(record)), "")
