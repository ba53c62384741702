"""The report formats by name, each with its renderer."""

from collections.abc import Iterable
from typing import assert_never

from rubric_ci.model.defaults import ReportFormat
from rubric_ci.model.report import RunReport


def pieces(name: ReportFormat, report: RunReport) -> Iterable[str]:
    """Return the report in a format as pieces: large formats are not in memory as a whole."""
    if name == "html":
        from rubric_ci.render.html import page

        return page.pieces(report)
    return (render(name, report),)


def render(name: ReportFormat, report: RunReport) -> str:
    """Return the report in a format; its renderer is imported on first use."""
    match name:
        case "json":
            from rubric_ci.report import json_format

            return json_format.render(report)
        case "markdown":
            from rubric_ci.render import markdown

            return markdown.render(report)
        case "junit":
            from rubric_ci.render import junit

            return junit.render(report)
        case "sarif":
            from rubric_ci.render import sarif

            return sarif.render(report)
        case "html":
            from rubric_ci.render.html import page

            return page.render(report)
        case _:
            assert_never(name)
