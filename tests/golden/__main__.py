"""Write what is generated: the schemas, and every format of the reports in this folder.

`make golden` runs this; the tests hold that it changes nothing.
"""

from collections.abc import Iterator
from pathlib import Path

from rubric_ci.gate.report import json_format
from rubric_ci.parts.formats import page
from rubric_ci.reports import annotations, formats, html_templates, markdown, terminal
from rubric_ci.reports.markdown import Links
from rubric_ci.values.formats_and_defaults import REPORT_FILES
from tests import written_schemas

HERE = Path(__file__).parent
SCHEMAS = HERE.parents[1] / "schemas"
LINKS = Links(
    blob="https://github.example/acme/support/blob/0a1b2c3",
    run="https://github.example/acme/support/actions/runs/7",
)


def outputs() -> Iterator[tuple[Path, str]]:
    """Yield every generated file with its text."""
    yield SCHEMAS / "report.schema.json", json_format.schema()
    yield from written_schemas.outputs()
    for source in sorted(HERE.glob("*.report.json")):
        report = json_format.read(source.read_text(encoding="utf-8"), source.name)
        stem = source.name.removesuffix(".report.json")
        for name in ("markdown", "junit", "sarif"):
            suffix = Path(REPORT_FILES[name]).suffix
            yield HERE / f"{stem}{suffix}", formats.render(name, report)
        yield HERE / f"{stem}.html", own_html(page.render(report))
        comment = markdown.render(
            report, limit=markdown.COMMENT_LIMIT, most=markdown.COMMENT_CASES, links=LINKS
        )
        yield HERE / f"{stem}.comment.md", comment
        yield HERE / f"{stem}.annotations.txt", annotations.render(report)
        yield HERE / f"{stem}.terminal.txt", terminal.render(report, width=100, color=False)


def own_html(text: str) -> str:
    """Return a page an element a line, without what all pages have: style sheet and script."""
    script, style = html_templates.script(), html_templates.style(*page.STYLES)
    for shared, name in ((script, "page.js"), (style, "page.css")):
        text = text.replace(shared, name)
    return text.replace(html_templates.policy(script, style), "policy").replace("><", ">\n<")


if __name__ == "__main__":
    for path, text in outputs():
        path.write_text(text, encoding="utf-8", newline="\n")
