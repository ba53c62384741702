"""The page as pieces: a head that allows its own script and style only, the overview, the cases.

Each case is in a `<noscript>` of its own: without the script it is an element like any other, with
the script it is one text, from which the case is built when it is looked at.
"""

from collections.abc import Iterator
from typing import Final

from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult
from rubric_ci.render import wording
from rubric_ci.render.html import jinja, view
from rubric_ci.render.html.case_view import case_view
from rubric_ci.render.html.groups import criterion_groups
from rubric_ci.render.html.script_data import script_data

STYLES: Final = ("base.css", "page.css")
OPENED: Final = 5  # cases without a pass that are unfolded at first
_URGENT: Final = frozenset({"fail", "errored", "borderline"})


def render(report: RunReport) -> str:
    """Return the page."""
    return "".join(pieces(report))


def pieces(report: RunReport) -> Iterator[str]:
    """Yield the page in small pieces, so that it is never in memory as a whole."""
    cases = wording.by_attention(report.cases)
    script, style = jinja.script(), jinja.style(*STYLES)
    views = (
        case_view(case, report, opened=number < OPENED and _is_urgent(case))
        for number, case in enumerate(cases)
    )
    yield from jinja.template("page.html").generate(
        **view.page(report),
        cases=views,
        data=map(jinja.trusted, script_data(cases, criterion_groups(report), report)),
        script=jinja.trusted(script),
        style=jinja.trusted(style),
        policy=jinja.trusted(jinja.policy(script, style)),
    )
    yield "\n"


def _is_urgent(case: CaseResult) -> bool:
    return wording.status(case) in _URGENT and case.change != "failing-before"
