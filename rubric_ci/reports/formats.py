"""The report formats by name, each with its renderer."""

from collections.abc import Callable, Iterable
from typing import Any, Final, assert_never

from rubric_ci.errors import CannotWriteFile
from rubric_ci.values import parts
from rubric_ci.values.formats_and_defaults import ReportFormat
from rubric_ci.values.media import Picture
from rubric_ci.values.report import RunReport

_OF_PART: Final = ("junit", "sarif", "html")


def render(name: ReportFormat, report: RunReport) -> str:
    """Return the report in a format."""
    return "".join(pieces(name, report))


def pieces(
    name: ReportFormat, report: RunReport, inline: Callable[[Picture], str] = lambda _: ""
) -> Iterable[str]:
    """Return the report in a format, a long one in pieces; each renderer is imported when used.

    `inline` returns the `data:` URI of an image of the page; "" if the page links it.
    """
    match name:
        case "json":
            from rubric_ci.gate.report import json_format

            return json_format.pieces(report)
        case "markdown":
            from rubric_ci.reports import markdown

            return (markdown.render(report),)
        case "junit" | "sarif":
            return (_writer(name)(report),)
        case "html":
            page: Iterable[str] = _writer(name)(report, inline)
            return page
        case _:
            assert_never(name)


def check_there(names: Iterable[ReportFormat]) -> None:
    """Raise CannotWriteFile for a format that a removed part would write."""
    for name in names:
        if name in _OF_PART and not parts.is_offered(f"report as {name}"):
            raise CannotWriteFile(f"no report as {name}: the part `formats` was removed")


def _writer(name: ReportFormat) -> Callable[..., Any]:
    check_there((name,))
    writer: Callable[..., Any] = parts.offered(f"report as {name}")
    return writer
