"""The page as pieces: a head that allows its own script and style only, the overview, the cases.

Each case is in a `<noscript>` of its own: without the script it is an element like any other, with
the script it is one text, from which the case is built when it is looked at.
"""

from collections.abc import Iterator
from typing import Final

from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult
from rubric_ci.render import grading_changes, heading, wording
from rubric_ci.render.html import comparison, parts
from rubric_ci.render.html.case import case_details
from rubric_ci.render.html.evaluator import titled_list
from rubric_ci.render.html.overview import overview
from rubric_ci.render.html.script_data import script_data
from rubric_ci.render.html.tables import tables
from rubric_ci.render.html.toolbar import toolbar
from rubric_ci.render.html.view import View, criterion_groups
from rubric_ci.text.escape import html
from rubric_ci.waivers import report as waivers

OPENED: Final = 5  # cases without a pass that are unfolded at first
_URGENT: Final = frozenset({"fail", "errored", "borderline"})


def render(report: RunReport) -> str:
    """Return the page."""
    return "".join(pieces(report))


def pieces(report: RunReport) -> Iterator[str]:
    """Yield the page, a case at a time, so that it is never in memory as a whole."""
    view = View(report=report)
    cases = wording.by_attention(report.cases)
    script = parts.script()
    yield from _head(report, script)
    yield from _before_cases(report)
    yield '<div id="cases">'
    for number, case in enumerate(cases):
        opened = number < OPENED and _is_urgent(case)
        yield f"<noscript>{case_details(case, view, opened=opened)}</noscript>"
    yield '</div><nav id="pages" class="scripted" hidden></nav>'
    yield from _notes(report)
    yield '<script type="application/json" id="data">'
    yield from script_data(cases, criterion_groups(report), view)
    yield f"</script>\n<script>{script}</script>\n</main></body></html>\n"


def _head(report: RunReport, script: str) -> Iterator[str]:
    style = parts.style()
    policy = parts.policy(script, style)
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield f"<title>{html(f'rubric-ci · {heading.heading(report)}')}</title>\n"
    yield f"<style>{style}</style></head>\n<body><main>"


def _before_cases(report: RunReport) -> Iterator[str]:
    yield from overview(report)
    yield from comparison.section(report)
    changed = tuple(
        f"{grading_changes.sign(each)} {grading_changes.line(each)} ({each.file}:{each.line})"
        for each in report.grading_changes
    )
    yield from titled_list(grading_changes.summary(report), changed)
    yield from tables(report)
    yield from toolbar(report)


def _is_urgent(case: CaseResult) -> bool:
    return wording.status(case) in _URGENT and case.change != "failing-before"


def _notes(report: RunReport) -> Iterator[str]:
    applied = tuple(waivers.applied_lines(report))
    yield from titled_list("Waived, neither a pass nor a fail", applied)
    broken = waivers.problem_lines(report)
    yield from titled_list("Waivers to fix", tuple(f"{place}: {text}" for place, text in broken))
    yield from titled_list("Notes", (*wording.not_run(report), *report.notes))
