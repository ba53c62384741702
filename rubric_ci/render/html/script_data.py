"""What the script of the page knows about each case, as JSON that cannot end its element."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rubric_ci.comparison import wording as compared
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Graded, Skipped
from rubric_ci.render import wording
from rubric_ci.render.html.anchors import case_anchor
from rubric_ci.render.html.groups import CriterionGroup, criteria_of, is_missed
from rubric_ci.text.escape import visible

_ESCAPES: Final = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})


def script_data(
    cases: Sequence[CaseResult], criteria: Sequence[CriterionGroup], report: RunReport
) -> Iterator[str]:
    """Yield the facts of the cases, in the order of the page."""
    positions = {(case.file, case.id): n for n, case in enumerate(report.cases)}
    numbers = {(group.id, group.text): n for n, group in enumerate(criteria)}
    names = [[group.anchor, visible(group.id), visible(group.text)] for group in criteria]
    yield f'{{"criteria":{_json(names)},"cases":['
    for number, case in enumerate(cases):
        facts = {**_facts(case, report, numbers), "position": positions[case.file, case.id]}
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
        "status": wording.status(case),
        "score": case.score if isinstance(case, Graded) else None,
        "file": visible(case.file),
        "tags": [] if isinstance(case, Skipped) else [*map(visible, case.tags)],
        "criteria": [numbers[each.id, each.text] for _, each in judged],
        "missed": [numbers[each.id, each.text] for _, each in missed],
        "changes": [compared.TITLES[case.change]] if case.change else [],
        "cost": 0 if isinstance(case, Skipped) else case.usage.cost_usd,
        "difference": _difference(case),
    }


def _difference(case: CaseResult) -> float | None:
    """Return how much the score differs from before."""
    if not isinstance(case, Graded) or case.before is None or case.before.score is None:
        return None
    return round(case.score - case.before.score, 6)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":")).translate(_ESCAPES)
