"""The report formats by name: the file of each, and its renderer."""

from collections.abc import Iterable, Mapping
from typing import Final, assert_never

from rubric_ci.model.defaults import ReportFormat
from rubric_ci.model.report import RunReport

FILES: Final[Mapping[ReportFormat, str]] = {
    "json": "report.json",
    "markdown": "summary.md",
    "junit": "junit.xml",
    "sarif": "report.sarif",
    "html": "report.html",
}
"""The file of each format in the output folder."""


def pieces(name: ReportFormat, report: RunReport) -> Iterable[str]:
    """Return the report in a format as pieces: large formats are not in memory as a whole."""
    if name == "html":
        from rubric_ci.reports.html import page

        return page.pieces(report)
    return (render(name, report),)


def render(name: ReportFormat, report: RunReport) -> str:
    """Return the report in a format; its renderer is imported on first use."""
    match name:
        case "json":
            from rubric_ci.reports import json_format

            return json_format.render(report)
        case "markdown":
            from rubric_ci.reports import markdown

            return markdown.render(report)
        case "junit":
            from rubric_ci.reports import junit

            return junit.render(report)
        case "sarif":
            from rubric_ci.reports import sarif

            return sarif.render(report)
        case "html":
            from rubric_ci.reports.html import page

            return page.render(report)
        case _:
            assert_never(name)
