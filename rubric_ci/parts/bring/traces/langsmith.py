"""Runs, feedback and dataset examples of LangSmith, as its client exports them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.models.agents.program import as_text, items, mapping, milliseconds, number
from rubric_ci.parts.bring.traces import chat_messages as chat
from rubric_ci.parts.bring.traces.span import (
    Feedback,
    Kind,
    Span,
    Unreadable,
    item_of,
    measures,
    talk,
)
from rubric_ci.values.trace import Step

_KINDS: Final[Mapping[str, Kind]] = {"llm": "model", "tool": "tool"}
_CONTENT: Final = ("inputs", "outputs", "child_runs", "events", "serialized", "feedback_stats")


def is_record(record: Mapping[str, Any]) -> bool:
    return "run_type" in record and "inputs" in record


def read_spans(record: Mapping[str, Any]) -> Iterator[Span]:
    """Yield a run and those in it, a dataset example, or what feedback says of a run."""
    if "run_type" in record:
        yield from _runs(record)
    elif "key" in record and "run_id" in record:
        score, value = record.get("score"), record.get("value")
        value = score if value is None or isinstance(value, dict | list) else value
        feedback = Feedback(str(record["key"]), value, str(record.get("comment") or ""))
        yield Span(trace="", id=str(record["run_id"]), is_step=False, feedback=(feedback,))
    elif "inputs" in record:
        yield item_of(record, "inputs", "outputs")
    else:
        raise Unreadable("it is not a run, feedback or dataset example of LangSmith")


def _runs(record: Mapping[str, Any]) -> Iterator[Span]:
    """Yield a run, then its `child_runs` at any depth."""
    waiting = [record]
    while waiting:
        run = waiting.pop()
        yield _run(run)
        waiting.extend(map(mapping, items(run.get("child_runs"))))


def _run(run: Mapping[str, Any]) -> Span:
    identity = str(run.get("id") or run.get("run_id") or "")
    if not identity:
        raise Unreadable("a run has no `id`")
    kind = _KINDS.get(str(run.get("run_type")), "")
    return Span(
        trace=str(run.get("trace_id") or identity),
        id=identity,
        parent=str(run.get("parent_run_id") or ""),
        name=str(run.get("name") or ""),
        kind=kind,
        started=str(run.get("start_time") or ""),
        **talk(run.get("inputs"), run.get("outputs")),
        tool=_tool(run) if kind == "tool" else None,
        measures=_measures(run),
        attributes=_attributes(run),
        tags=tuple(map(str, items(run.get("tags")))),
        feedback=tuple(_stated(run)),
        error=str(run.get("error") or ""),
    )


def _tool(run: Mapping[str, Any]) -> Step:
    inputs, outputs = mapping(run.get("inputs")), mapping(run.get("outputs"))
    result = outputs["output"] if outputs.keys() == {"output"} else run.get("outputs")
    arguments = inputs["input"] if inputs.keys() == {"input"} else run.get("inputs")
    name = str(run.get("name") or "unknown")
    return Step(tool=name, arguments=chat.decoded(arguments), result=as_text(result))


def _measures(run: Mapping[str, Any]) -> dict[str, Any]:
    tokens = {"input": run.get("prompt_tokens"), "output": run.get("completion_tokens")}
    took = milliseconds(run.get("start_time"), run.get("end_time"))
    return measures(tokens, took, number(chat.as_number(run.get("total_cost"))))


def _attributes(run: Mapping[str, Any]) -> dict[str, Any]:
    metadata = mapping(mapping(run.get("extra")).get("metadata"))
    own = {key: each for key, each in run.items() if each and key not in {*_CONTENT, "extra"}}
    return {**own, "metadata": metadata}


def _stated(run: Mapping[str, Any]) -> Iterator[Feedback]:
    """Yield the feedback of a run: the mean of a score, else its labels."""
    for name, stats in mapping(run.get("feedback_stats")).items():
        found = mapping(stats)
        if number(found.get("avg")) is not None:
            yield Feedback(str(name), number(found["avg"]))
        else:
            yield from (Feedback(str(name), label) for label in mapping(found.get("values")))
