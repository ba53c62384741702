"""Trace files of other tools, by the name of their format: one file each."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from rubric_ci.parts.bring.traces import braintrust, langfuse, langsmith, otlp_spans, phoenix
from rubric_ci.parts.bring.traces.span import Span


class Format(NamedTuple):
    """A format: whether only it has such a record, and the spans of a record."""

    is_record: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], Iterator[Span]]


FORMATS: Final[Mapping[str, Format]] = {
    "otlp": Format(otlp_spans.is_record, otlp_spans.read_spans),
    "langfuse": Format(langfuse.is_record, langfuse.read_spans),
    "langsmith": Format(langsmith.is_record, langsmith.read_spans),
    "phoenix": Format(phoenix.is_record, phoenix.read_spans),
    "braintrust": Format(braintrust.is_record, braintrust.read_spans),
}


def format_of(record: Mapping[str, Any]) -> str:
    """Return the name of the format that a record shows to have, or ""."""
    return next((name for name, each in FORMATS.items() if each.is_record(record)), "")
