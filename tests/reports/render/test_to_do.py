"""What to do about a report: which case to open, what else the gate waits for, or nothing."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.report.decision import with_gate
from rubric_ci.reports.render import markdown
from rubric_ci.reports.render.html import page
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult
from rubric_ci.values.scope import Scope
from rubric_ci.values.waivers import WaiverResult
from tests.sample_reports import a_report, errored, graded, skipped

GATE = GateInfo(fail_on="fail", passing=0.8, borderline=0.6, holds=False)
WEAKER = GradingChange(
    kind="criterion", direction="weaker", file="e.yaml", line=3, about="a/c", before="1", after="0"
)
WAIVER = WaiverResult(
    file="e.yaml", case="a", criterion="c", until="2999-12-31", reason="known", owner="me",
    line=1, state="unneeded",
)  # fmt: skip
PASSES, FAILS, WORSE = graded("a", "pass"), graded("b", "fail"), graded("c", "fail", score=0.3)
INCOMPLETE = Scope(complete=False, narrowed_by=("interrupted",), suite=2)


def a_gated(*cases: CaseResult, gate: dict[str, Any] | None = None, **facts: Any) -> RunReport:
    return with_gate(replace(a_report(*cases), gate=replace(GATE, **(gate or {})), **facts))


TABLE: list[tuple[RunReport, str]] = [
    (a_gated(PASSES), "Nothing to do."),
    (a_gated(), "Nothing to do."),
    (a_gated(skipped("s")), "Nothing was graded: the reasons are below."),
    (
        a_gated(PASSES, FAILS, gate={"fail_on": "never"}),
        "Nothing to do: 1 failing case does not fail the gate.",
    ),
    (a_gated(PASSES, FAILS), "**To do**: open `b` (e.yaml:3)."),
    (a_gated(WORSE, PASSES, FAILS), "**To do**: open `b` (e.yaml:3), then 1 more case."),
    (
        a_gated(PASSES, grading_changes=(WEAKER,), gate={"on_weaker_grading": "fail"}),
        "**To do**: undo the changes to the grading, which the gate does not allow.",
    ),
    (
        a_gated(PASSES, grading_changes=(WEAKER,), gate={"on_changed_grading": "review"}),
        "**To do**: let a person review the changes to the grading.",
    ),
    (
        a_gated(PASSES, waivers=(WAIVER,)),
        "**To do**: edit `waivers.yaml`: 1 waiver to remove.",
    ),
    (
        a_gated(PASSES, errored("x"), errored("y"), errored("z", "no key")),
        "**To do**: fix what leaves 2 cases without a verdict: the judge was silent.",
    ),
    (a_gated(PASSES, scope=INCOMPLETE), "**To do**: run again: the run is incomplete."),
]


@pytest.mark.parametrize(("report", "line"), TABLE)
def test_the_first_line_of_a_comment(report: RunReport, line: str) -> None:
    assert markdown.render(report).split("\n\n")[1] == line


def test_the_page_links_the_case() -> None:
    text = page.render(a_gated(PASSES, FAILS))
    assert '<p class="to-do">To do: open <a href="#case-' in text
    assert '">b</a>.</p>' in text
