"""The list of reasons: the rule, its words, what to do, and the exit code that they add up to."""

import re
from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.errors import ExitCode
from rubric_ci.gate.report.decision import exit_code, reasons, verdict_code, with_gate
from rubric_ci.parts.formats import page
from rubric_ci.reports import markdown, terminal
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.gate import GateInfo, PassRate
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import NOT_GRADABLE, CaseResult
from rubric_ci.values.scope import Scope
from rubric_ci.values.waivers import WaiverResult
from tests.sample_reports import a_report, errored, graded, skipped

GATE = GateInfo(fail_on="fail", passing=0.8, borderline=0.6, holds=False)
WEAKER = GradingChange(
    kind="criterion", direction="weaker", file="e.yaml", line=3, about="a/c", before="1", after="0"
)
EDITED = replace(WEAKER, direction="changed")
WAIVER = WaiverResult(
    file="e.yaml", case="a", criterion="c", until="2999-12-31", reason="known", owner="me",
    line=1, state="unneeded",
)  # fmt: skip
PASSES, FAILS, WORSE = graded("a", "pass"), graded("b", "fail"), graded("c", "fail", score=0.3)
INCOMPLETE = Scope(complete=False, narrowed_by=("interrupted",), suite=2)


def a_gated(*cases: CaseResult, gate: dict[str, Any] | None = None, **facts: Any) -> RunReport:
    return with_gate(replace(a_report(*cases), gate=replace(GATE, **(gate or {})), **facts))


BROKEN = graded("d", "fail", change="broken")
NEW = graded("n", "fail", change="new")
RATE = PassRate(min_pass_rate=1.0, group="safety")


SILENT = "fix what leaves 1 case without a verdict: the judge was silent"
TABLE: dict[str, tuple[RunReport, ExitCode, dict[str, str], str]] = {
    "passes": (a_gated(PASSES), ExitCode.OK, {}, ""),
    "nothing": (a_gated(), ExitCode.OK, {}, ""),
    "skipped": (a_gated(skipped("s")), ExitCode.OK, {}, ""),
    "never": (a_gated(PASSES, FAILS, gate={"fail_on": "never"}), ExitCode.OK, {}, ""),
    "no case decides": (
        a_gated(PASSES, gate={"none_decides": True, "tags": ("t",)}),
        ExitCode.NO_VERDICT,
        {"none-decides": "no case decides: the gate is about t"},
        "name tags and targets of cases under `gate`",
    ),
    "no case decides, never": (
        a_gated(PASSES, gate={"none_decides": True, "tags": ("t",), "fail_on": "never"}),
        ExitCode.OK,
        {},
        "",
    ),
    "a failure": (
        a_gated(PASSES, FAILS),
        ExitCode.GATE,
        {"verdict": "1 of 2 cases fails (fail_on: fail)"},
        "",
    ),
    "broken, new and old": (
        a_gated(PASSES, BROKEN, NEW, FAILS, gate={"fail_on": "regression"}),
        ExitCode.GATE,
        {
            "broke": "d broke",
            "new": "new and failing: n",
            "verdict": "3 of 4 cases fail (fail_on: regression, nothing to compare with)",
        },
        "",
    ),
    "a rate": (
        a_gated(PASSES, graded("s", tags=("safety",)), gate={"rates": (RATE,)}),
        ExitCode.GATE,
        {"rate": "tag safety: 0 of 1 pass, 1 must (min_pass_rate: 1.0)"},
        "",
    ),
    "weaker grading": (
        a_gated(PASSES, grading_changes=(WEAKER,), gate={"on_weaker_grading": "fail"}),
        ExitCode.GATE,
        {"weaker": "the change makes the grading weaker"},
        "undo the changes to the grading, which the gate does not allow",
    ),
    "changed grading": (
        a_gated(PASSES, grading_changes=(EDITED,), gate={"on_changed_grading": "fail"}),
        ExitCode.GATE,
        {"changed": "the change edits the grading"},
        "undo the changes to the grading, which the gate does not allow",
    ),
    "a service that starts at the base alone": (
        a_gated(PASSES, errored("x", change="broken"), gate={"fail_on": "regression"}),
        ExitCode.GATE,
        {
            "service": "the service of x gets ready at the base, and not here",
            "errored": "1 case errored",
        },
        f"fix the start of the service\n{SILENT}",
    ),
    "refused": (
        a_gated(PASSES, skipped("s", f"{NOT_GRADABLE}: its judge")),
        ExitCode.NO_VERDICT,
        {"refused": "1 case not gradable for an untrusted change"},
        "",
    ),
    "grading to review": (
        a_gated(PASSES, grading_changes=(WEAKER,), gate={"on_changed_grading": "review"}),
        ExitCode.OK,
        {"review": "review the changes to the grading"},
        "let a person review the changes to the grading",
    ),
    "waivers": (
        a_gated(PASSES, waivers=(WAIVER,), gate={"max_waivers": 0}),
        ExitCode.GATE,
        {"waivers": "1 waiver, at most 0 allowed"},
        "edit `waivers.yaml`: 1 waiver, at most 0 allowed",
    ),
    "errored": (
        a_gated(PASSES, errored("x"), errored("y"), errored("z", "no key")),
        ExitCode.NO_VERDICT,
        {"errored": "3 cases errored"},
        SILENT.replace("1 case", "2 of 3 cases"),
    ),
    "incomplete": (
        a_gated(PASSES, scope=INCOMPLETE),
        ExitCode.NO_VERDICT,
        {"incomplete": "the run is incomplete"},
        "run again: the run is incomplete",
    ),
    "a failure and an error": (
        a_gated(FAILS, errored("x")),
        ExitCode.GATE,
        {"verdict": "1 of 1 graded case fails (fail_on: fail)", "errored": "1 case errored"},
        SILENT,
    ),
}


@pytest.mark.parametrize(("report", "code", "told", "fix"), TABLE.values(), ids=TABLE)
def test_reasons(report: RunReport, code: ExitCode, told: dict[str, str], fix: str) -> None:
    found = reasons(report)
    assert [(each.rule, each.text) for each in found] == [*told.items()]
    assert "\n".join(each.fix for each in found if each.fix) == fix
    assert verdict_code(report) is exit_code(report) is code


def test_the_cases_of_a_reason_are_those_that_it_holds_against_the_run() -> None:
    report = a_gated(PASSES, WORSE, FAILS)
    assert [case.id for case in reasons(report)[0].cases] == ["c", "b"]


def test_every_output_begins_with_what_to_do() -> None:
    report = a_gated(PASSES, errored("x"))
    line = "To do: fix what leaves 1 case without a verdict: the judge was silent."
    assert line in terminal.render(report, width=100, color=False)
    assert line.replace("To do:", "**To do:**") in markdown.render(report)
    assert line in re.sub(r"\s+", " ", re.sub("<[^>]+>", "", page.render(report)))


def test_the_page_links_the_case_to_look_at_first() -> None:
    assert re.search(r'<a href="#case-[^"]+">b</a>', page.render(a_gated(PASSES, FAILS)))
