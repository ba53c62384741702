"""Parts of a page, drawn by their templates."""

from rubric_ci.parts.formats import page
from rubric_ci.reports import html_templates
from rubric_ci.values.report import RunReport


def part(template: str, report: RunReport) -> str:
    """Return a part of the page of a report."""
    return html_templates.template(template).render(**page.top_and_tables(report))


def tables(report: RunReport) -> str:
    """Return the tables of a report."""
    template = html_templates.template("table.html")
    return "".join(template.render(table=each) for each in page.tables(report))


def macro(template: str, name: str, *values: object) -> str:
    """Return what a macro draws."""
    return str(getattr(html_templates.template(template).module, name)(*values))
