"""The report formats by name: which file each one is, and who writes it; imported when asked."""

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast

from rubric_ci.model.report import RunReport

FILES: Mapping[str, str] = {
    "json": "report.json",
    "markdown": "summary.md",
    "junit": "junit.xml",
    "sarif": "report.sarif",
    "html": "report.html",
}
"""Format names, as `--reports` takes them, and their files in the output folder."""


def render(name: str, report: RunReport) -> str:
    """Return the report in the named format of `FILES`."""
    module = f"rubric_ci.reports.{'json_format' if name == 'json' else name}"
    return cast(_Renderer, import_module(module)).render(report)


class _Renderer(Protocol):
    def render(self, report: RunReport) -> str: ...
