"""The formats of traces that `import` reads: a module each, imported when a file is read."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from rubric_ci.parts.bring.traces.span import Span

_MODULES: Final = {
    "otlp": "otlp_spans",
    "langfuse": "langfuse",
    "langsmith": "langsmith",
    "phoenix": "phoenix",
    "braintrust": "braintrust",
}

TRACE_FORMATS: Final = tuple(_MODULES)


class Format(Protocol):
    """A module of a format: whether only it has such a record, and the spans of a record."""

    def is_record(self, record: Mapping[str, Any], /) -> bool: ...
    def read_spans(self, record: Mapping[str, Any], /) -> "Iterator[Span]": ...


def trace_format(name: str) -> Format:
    found: Format = import_module(f"{__package__}.{_MODULES[name]}")
    return found


def format_of(record: Mapping[str, Any]) -> str:
    """Return the name of the format that a record shows to have, or ""."""
    return next((name for name in TRACE_FORMATS if trace_format(name).is_record(record)), "")
