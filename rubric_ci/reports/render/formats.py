"""The report formats by name, each with its renderer."""

from collections.abc import Callable, Iterable
from typing import assert_never

from rubric_ci.values.formats_and_defaults import ReportFormat
from rubric_ci.values.media import Picture
from rubric_ci.values.report import RunReport


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
            from rubric_ci.reports.render import markdown

            return (markdown.render(report),)
        case "junit":
            from rubric_ci.reports.render import junit

            return (junit.render(report),)
        case "sarif":
            from rubric_ci.reports.render import sarif

            return (sarif.render(report),)
        case "html":
            from rubric_ci.reports.render.html import page

            return page.pieces(report, inline)
        case _:
            assert_never(name)
