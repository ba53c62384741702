"""The page as pieces: a head that allows its own script and style only, the overview, the cases.

Each case is in its own `<noscript>`: without the script it is an element like any other, with
the script it is one text, from which the case is built when it is looked at.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from rubric_ci.gate.comparison import phrases as compared
from rubric_ci.parts.formats import view
from rubric_ci.parts.formats.case_view import case_view, has_pictures
from rubric_ci.parts.formats.groups import CriterionGroup, criteria_of, criterion_groups, is_missed
from rubric_ci.reports.render import wording
from rubric_ci.reports.render.html import jinja
from rubric_ci.reports.render.html.jinja import case_anchor
from rubric_ci.text.escape import visible
from rubric_ci.values.media import Picture
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult

STYLES: Final = ("base.css", "page.css")
OPENED: Final = 5  # cases without a pass that are unfolded at first
RENDERED: Final = 500_000  # characters of answers whose Markdown is rendered: a second or less
_ESCAPES: Final = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})
_URGENT: Final = frozenset({"fail", "errored", "borderline"})


def render(report: RunReport) -> str:
    return "".join(pieces(report))


def pieces(report: RunReport, inline: Callable[[Picture], str] = lambda _: "") -> Iterator[str]:
    """Yield the page in small pieces, so that it is never in memory as a whole."""
    cases = wording.by_attention(report.cases, report.gate)
    script, style = jinja.script(), jinja.style(*STYLES)
    lengths = accumulate(len(case.answer) for case in cases)  # up to each case
    views = (
        case_view(
            case,
            report,
            inline,
            opened=number < OPENED and _is_urgent(case, report),
            markdown=length <= RENDERED,
        )
        for number, (case, length) in enumerate(zip(cases, lengths, strict=True))
    )
    yield from jinja.template("page.html").generate(
        **view.page(report),
        cases=views,
        data=map(jinja.trusted, script_data(cases, criterion_groups(report), report)),
        script=jinja.trusted(script),
        style=jinja.trusted(style),
        policy=jinja.trusted(jinja.policy(script, style, images=any(map(has_pictures, cases)))),
    )
    yield "\n"


def _is_urgent(case: CaseResult, report: RunReport) -> bool:
    now = case.status in _URGENT and case.change != "failing-before"
    return now and wording.decides(case, report.gate)


def script_data(
    cases: Sequence[CaseResult], criteria: Sequence[CriterionGroup], report: RunReport
) -> Iterator[str]:
    """Yield the facts of the cases, in the order of the page."""
    positions = {case.key: n for n, case in enumerate(report.cases)}
    numbers = {(group.id, group.text): n for n, group in enumerate(criteria)}
    names = [[group.anchor, visible(group.id), visible(group.text)] for group in criteria]
    yield f'{{"criteria":{_json(names)},"cases":['
    for number, case in enumerate(cases):
        facts = {**_facts(case, report, numbers), "position": positions[case.key]}
        yield f"{',' if number else ''}{_json(facts)}"
    yield "]}"


def _facts(
    case: CaseResult, report: RunReport, numbers: Mapping[tuple[str, str], int]
) -> dict[str, object]:
    judged = [*criteria_of(case)]
    missed = [each for each in judged if is_missed(each, report)]
    return {
        "anchor": case_anchor(case.file, case.id),
        "id": visible(case.id),
        "status": case.status,
        "score": case.score,
        "file": visible(case.file),
        "tags": [*map(visible, case.tags)],
        "criteria": [numbers[each.id, each.written] for _, each in judged],
        "missed": [numbers[each.id, each.written] for _, each in missed],
        "changes": [compared.kind(case)] if case.change else [],
        "cost": case.usage.cost_usd,
        "difference": _difference(case),
    }


def _difference(case: CaseResult) -> float | None:
    """Return how much the score differs from before."""
    if case.score is None or case.before is None or case.before.score is None:
        return None
    return round(case.score - case.before.score, 6)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":")).translate(_ESCAPES)
