"""The formats of reports but JSON and Markdown: the page, JUnit XML and SARIF."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(
    entries={
        "report as html": "page:pieces",
        "report as junit": "junit:render",
        "report as sarif": "sarif:render",
    }
)
