"""Records with a value of another type anywhere: cases or a sentence, never an exception."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rubric_ci.files.yaml_text.jsonlines import read_recording
from rubric_ci.grading.targets.answer_format import build
from rubric_ci.parts.bring import import_traces, trace_cases
from rubric_ci.parts.bring.trace_cases import TraceCase, Traces
from rubric_ci.parts.bring.trace_file import Fault, records, spans
from tests.files.changed import changed
from tests.parts.bring import trace_records as samples

WRONG: tuple[Any, ...] = (None, 7, -1.5, True, "x", "", [], {}, [None], [[]], [{}], {"a": None})
TEXTS = {
    "otlp": (
        samples.otlp_with_attributes,
        samples.otlp_with_events,
        samples.otlp_with_old_events,
        samples.otlp_with_old_logs,
        samples.phoenix_otlp,
    ),
    "langfuse": (samples.langfuse_download, samples.langfuse_rows, samples.langfuse_export),
    "langsmith": (samples.langsmith_runs,),
    "phoenix": (samples.phoenix_spans, samples.phoenix_frame),
    "braintrust": (samples.braintrust_rows,),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for step, inner in members:
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, step))
        else:
            yield (*path, step)


def imported(form: str, text: str) -> list[dict[str, Any]]:
    """Return the cases as written, each with its recording, which is read back."""
    traces = Traces()
    for each in spans("a.json", records(text.splitlines(keepends=True)), form):
        if isinstance(each, Fault):
            assert each.message
        else:
            traces.add(each)
    cases = [each for each in traces.cases() if isinstance(each, TraceCase)]
    cases = trace_cases.each_once(trace_cases.sample(cases, 9, 0))
    names = import_traces.identities(cases)
    for line in import_traces.recordings(cases, names):
        recording = read_recording(json.dumps(line))
        build(recording.value["answer"], recording.value)
    data = import_traces.eval_file(cases, names, import_traces.Origin("a.json", form), "t")
    found: list[dict[str, Any]] = json.loads(json.dumps(data))["evalcases"]
    return found


SAMPLES = [(form, text) for form, texts in TEXTS.items() for text in texts]


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.deep)], ids=["one at each", "every"]
)
@pytest.mark.parametrize(
    ("form", "text"), SAMPLES, ids=lambda value: getattr(value, "__name__", value)
)
def test_no_value_is_an_exception(form: str, text: Callable[[], str], *, every: bool) -> None:
    values = read(text())
    tried = 0
    for number, path in enumerate(places(values)):
        for wrong in WRONG if every else (WRONG[number % len(WRONG)],):
            mutated = changed(values, path, wrong)
            if isinstance(mutated, list):
                imported(form, samples.lines(*mutated))
                tried += 1
    assert tried > 25
    assert imported(form, text())[0]["id"] == "trace-4bf92f35"


def read(text: str) -> list[Any]:
    parsed = records(text.splitlines(keepends=True))
    return [each.value for each in parsed if not isinstance(each, Fault)]
