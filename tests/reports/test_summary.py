"""The heading of every output, over gates, verdicts, errors and parts of a suite."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.report.decision import with_gate
from rubric_ci.reports.blocks import Tone
from rubric_ci.reports.summary import heading, tone
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.comparison import Comparison, Together
from rubric_ci.values.gate import GateInfo, PassRate
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult
from rubric_ci.values.scope import Scope
from tests.gate.waivers.test_waiver_report import a_waiver
from tests.sample_reports import a_report, errored, graded, skipped

GOOD, FINE = graded("good", "pass"), graded("fine", "pass")
MEDIUM, BAD, LOST = graded("medium", "borderline"), graded("bad"), errored("lost")
OLD, BROKEN, NEW = (replace(graded(it), change=it) for it in ("failing-before", "broken", "new"))
SAME = replace(graded("same", "pass"), change="unchanged")
UNKNOWN = replace(graded("unknown"), change="not-comparable")
WAIVED = replace(graded("waived"), waived=("c",), without_waived="pass")
WEAKER = GradingChange(
    kind="gate", direction="weaker", about="a", file="f", line=1, before="1", after="0"
)


DEFAULTS: dict[str, Any] = {"fail_on": "fail", "passing": 0.8, "borderline": 0.6, "holds": False}


def of(*cases: CaseResult, gate: dict[str, Any] | None = None, **facts: Any) -> RunReport:
    report = a_report(*cases, **facts)
    settings = GateInfo(**{**DEFAULTS, **(gate or {})})
    return with_gate(replace(report, gate=settings))


def rate(needed: float, group: str = "") -> dict[str, Any]:
    return {"rates": (PassRate(min_pass_rate=needed, group=group),)}


NEVER, BORDERLINE, REGRESSION = ({"fail_on": n} for n in ("never", "borderline", "regression"))
TAGGED: dict[str, Any] = {"tags": ("t",)}
FELL = Comparison(
    source="report",
    compared=200,
    together=Together(
        cases=200, clusters=200, fewer_pass=29, more_fail=29, p_value=0.001, worse=True
    ),
)
PART = Scope(suite=4).narrowed("case")
CHANGED = Scope(suite=4).narrowed("changed-since")

BEGINNINGS: dict[Tone, str] = {
    "pass": "Gate passes: ",
    "fail": "Gate fails: ",
    "error": "Gate undecided: ",
    "nothing": "Gate passes",
}
HEADINGS: dict[Tone, dict[str, tuple[RunReport, str]]] = {
    "pass": {
        "pass": (of(GOOD, FINE), "all 2 cases pass (fail_on: fail)"),
        "one": (of(GOOD), "the only case passes (fail_on: fail)"),
        "borderline": (of(GOOD, MEDIUM), "1 of 2 cases is borderline (fail_on: fail)"),
        "never": (of(GOOD, FINE, BAD, gate=NEVER), "1 of 3 cases fails (fail_on: never)"),
        "rate reached": (of(GOOD, FINE, BAD, gate=rate(0.6)), "1 of 3 cases fails (fail_on: fail)"),
        "old failure": (of(GOOD, OLD, gate=REGRESSION), "nothing broke · 1 of 2 cases fails"),
        "none decides": (of(BAD, gate=TAGGED), "no case that ran decides (fail_on: fail)"),
        "none of the suite decides": (
            of(BAD, gate={**NEVER, **TAGGED, "none_decides": True}),
            "no case decides (fail_on: never)",
        ),
        "another broke": (
            of(replace(GOOD, tags=("t",)), BROKEN, gate={**REGRESSION, **TAGGED}),
            "no deciding case broke · the only deciding case passes",
        ),
        "waived": (of(GOOD, WAIVED), "1 of 2 cases pass, 1 waived (fail_on: fail)"),
        "unneeded waiver": (
            of(GOOD, waivers=(a_waiver("unneeded"),)),
            "the only case passes (fail_on: fail)",
        ),
        "grading to review": (
            of(GOOD, gate={"on_changed_grading": "review"}, grading_changes=(WEAKER,)),
            "the only case passes (fail_on: fail) · review the changes to the grading",
        ),
        "part": (of(GOOD, FINE, scope=PART), "all 2 cases pass (fail_on: fail)"),
        "one of a tag": (
            of(replace(GOOD, tags=("t",)), BAD, gate={"tags": ("t",)}),
            "the only deciding case passes (fail_on: fail)",
        ),
        "nothing to compare with": (
            of(GOOD, gate=REGRESSION),
            "the only case passes (fail_on: regression)",
        ),
        "compared, another rule": (of(SAME, FINE), "all 2 cases pass (fail_on: fail)"),
        "one compared": (
            of(SAME, gate=REGRESSION, comparison=replace(FELL, compared=1, together=None)),
            "nothing broke · 1 case, compared with the baseline",
        ),
    },
    "fail": {
        "borderline is forbidden": (
            of(GOOD, MEDIUM, gate=BORDERLINE),
            "1 of 2 cases is borderline (fail_on: borderline)",
        ),
        "fail": (of(GOOD, FINE, BAD), "1 of 3 cases fails (fail_on: fail)"),
        "all fail": (of(BAD, UNKNOWN), "2 of 2 cases fail (fail_on: fail)"),
        "rate missed": (
            of(GOOD, BAD, UNKNOWN, gate=rate(0.6)),
            "all cases: 1 of 3 pass, 2 must (min_pass_rate: 0.6) · 2 of 3 cases fail",
        ),
        "rate of a tag": (
            of(GOOD, replace(MEDIUM, tags=("t",)), gate=rate(1.0, "t")),
            "tag t: 0 of 1 pass, 1 must (min_pass_rate: 1.0) · 1 of 2 cases is borderline",
        ),
        "broken": (of(GOOD, OLD, BROKEN, gate=REGRESSION), "broken broke · 2 of 3 cases fail"),
        "broken and new": (
            of(BROKEN, NEW, gate=REGRESSION),
            "broken broke; new and failing: new · 2 of 2 cases fail",
        ),
        "mean score": (
            of(GOOD, OLD, gate=REGRESSION, comparison=FELL),
            "29 more of 200 fail than before · 200 cases, compared with the baseline",
        ),
        "not comparable": (
            of(GOOD, UNKNOWN, gate=REGRESSION),
            "failing, and not comparable: unknown · 1 of 2 cases fails",
        ),
        "another target": (
            of(GOOD, BAD, gate={"fail_on": "regression", "better_than": "b"}),
            "1 of 2 cases fails (fail_on: regression, nothing to compare with)",
        ),
        "weaker grading": (
            of(GOOD, gate={"on_weaker_grading": "fail"}, grading_changes=(WEAKER,)),
            "the change makes the grading weaker · the only case passes",
        ),
        "edited grading": (
            of(GOOD, gate={"on_changed_grading": "fail"}, grading_changes=(WEAKER,)),
            "the change edits the grading · the only case passes",
        ),
        "fail and errored": (
            of(BAD, LOST),
            "1 of 1 graded case fails (fail_on: fail) · 1 case errored",
        ),
        "part that fails": (of(GOOD, BAD, scope=PART), "1 of 2 cases fails (fail_on: fail)"),
    },
    "error": {
        "no other target": (
            of(GOOD, gate={"better_than": "b"}),
            "no case was graded for both b and another target · the only case passes",
        ),
        "errored": (of(GOOD, LOST), "1 case errored · the only graded case passes"),
        "all errored": (of(LOST), "1 case errored"),
        "errored, never": (of(BAD, LOST, gate=NEVER), "1 case errored · 1 of 1 graded case fails"),
        "invalid files": (
            of(GOOD, verdict="error", scope=Scope().narrowed("invalid")),
            "some eval files could not be read · the only case passes",
        ),
        "interrupted": (
            of(GOOD, verdict="error", scope=Scope(suite=2).narrowed("interrupted")),
            "the run is incomplete · the only case passes",
        ),
        "part that is undecided": (of(LOST, scope=PART), "1 case errored"),
    },
    "nothing": {
        "nothing changed": (of(scope=CHANGED), " · nothing to grade: the change affects no case"),
        "cases removed": (
            of(scope=CHANGED, grading_changes=(*[replace(WEAKER, kind="case")] * 2, WEAKER)),
            " · nothing to grade: the change removes 2 cases",
        ),
        "nothing": (of(scope=PART), " · nothing to grade"),
        "nothing graded": (
            of(skipped("a"), skipped("b")),
            " · nothing was graded: 2 cases skipped",
        ),
    },
}
ROWS = [
    pytest.param(report, colour, BEGINNINGS[colour] + shown, id=name)
    for colour, rows in HEADINGS.items()
    for name, (report, shown) in rows.items()
]


@pytest.mark.parametrize(("report", "colour", "shown"), ROWS)
def test_heading(report: RunReport, colour: Tone, shown: str) -> None:
    assert (heading(report), tone(report)) == (shown, colour)
