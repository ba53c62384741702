"""A waived case is a state of its own in every format."""

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from rubric_ci.gate.report import consistency, json_format
from rubric_ci.gate.report.decision import concluded
from rubric_ci.gate.waivers.waiver_report import (
    applied_lines,
    excuses,
    merged,
    problem_lines,
    with_outcomes,
)
from rubric_ci.parts.formats import junit, page, sarif
from rubric_ci.reports import annotations, markdown, summary
from rubric_ci.reports import terminal as at_terminal
from rubric_ci.values.report import RunReport
from rubric_ci.values.waivers import WaiverResult, WaiverState
from tests.sample_reports import a_criterion, a_report, errored, graded

WAIVED = graded(
    "c", "fail", a_criterion("gated"), waived=("gated",), without_waived="pass", file="e.yaml"
)


def a_waiver(state: WaiverState = "applied", **facts: Any) -> WaiverResult:
    defaults: dict[str, Any] = {
        "case": "c",
        "criterion": "gated",
        "file": "e.yaml",
        "line": 7,
        "reason": "index is rebuilt",
        "owner": "ana",
        "until": "2026-12-31",
    }
    return WaiverResult(state=state, **{**defaults, **facts})


def reported(*waivers: WaiverResult) -> RunReport:
    report = a_report(WAIVED, graded("d", "pass"), waivers=waivers)
    gate = concluded(report.gate, report.cases, report.scope, waivers)
    return replace(report, gate=gate)


APPLIED = reported(a_waiver())
UNNEEDED = reported(a_waiver(), a_waiver("unneeded", case="d", line=14))
REASON = "index is rebuilt (ana, until 2026-12-31)"


def test_it_passes_the_gate_and_is_no_pass() -> None:
    assert (APPLIED.verdict, APPLIED.gate.holds) == ("pass", True)
    assert (APPLIED.totals.passed, APPLIED.totals.failed, APPLIED.totals.waived) == (1, 0, 1)
    assert list(consistency.problems(APPLIED)) == []
    assert json_format.read(json_format.render(APPLIED)) == APPLIED


def test_at_the_terminal() -> None:
    text = at_terminal.render(APPLIED, width=100, color=False)
    assert "│ w │ c             │ 0.00  │ asked  │" in text
    assert f"Waived, neither a pass nor a fail\n  c/gated: {REASON}\n" in text
    assert text.startswith("Gate passes: 1 of 2 cases pass, 1 waived (fail_on: fail)\n")


def test_in_markdown() -> None:
    text = markdown.render(APPLIED)
    assert "⏸️ <b>" in text
    assert f"**Waived, neither a pass nor a fail**\n\n- c/gated: {REASON}" in text


def test_in_html() -> None:
    assert '<span class="badge waived">waived</span>' in page.render(APPLIED)


def test_in_junit() -> None:
    root = ElementTree.fromstring(junit.render(APPLIED))
    assert (root.get("failures"), root.get("skipped")) == ("0", "1")
    skipped = root.find(".//skipped")
    assert skipped is not None
    assert skipped.get("message") == f"waived: gated: {REASON}"


def test_in_sarif() -> None:
    [result] = json.loads(sarif.render(APPLIED))["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("waived", "note")
    assert result["suppressions"] == [{"kind": "external", "justification": f"gated: {REASON}"}]


@pytest.mark.parametrize(
    ("state", "level", "advice"),
    [
        ("unneeded", "notice", "its criterion was met in six runs in a row: remove the waiver"),
        ("expired", "warning", "its date has passed: fix the failure, or set a new `until`"),
        (
            "edited",
            "warning",
            "the criterion or the question was edited: review it and write the waiver again",
        ),
        ("unmatched", "warning", "there is no such case or criterion: remove the waiver"),
        (
            "safety",
            "warning",
            "a case or criterion with the tag `safety` cannot be waived: remove the waiver",
        ),
    ],
)
def test_a_waiver_to_fix_is_told_at_its_line(state: WaiverState, level: str, advice: str) -> None:
    report = reported(a_waiver(), a_waiver(state, case="d", line=14))
    [found] = [each for each in annotations.annotations(report) if each.rule == "waiver"]
    text = f"the waiver of d/gated (until 2026-12-31): {advice}"
    assert (found.level, found.file, found.line, found.message) == (
        level, "waivers.yaml", 14, text,
    )  # fmt: skip
    assert report.gate.holds
    listed = "**Waivers to fix**\n\n- waivers.yaml:&#8203;14: the waiver of d/gated"
    assert listed in markdown.render(report)


def test_what_became_of_a_waiver() -> None:
    waivers = [a_waiver("not-run"), a_waiver("not-run", case="d"), a_waiver("not-run", case="e")]
    found = with_outcomes(waivers, [WAIVED, graded("d", "pass")])
    assert [waiver.state for waiver in found] == ["applied", "met", "not-run"]
    assert merged([waivers, found]) == (found[0], found[1], found[2])
    lost = with_outcomes(waivers[:1], [errored("c", file="e.yaml")])
    assert [waiver.state for waiver in lost] == ["not-run"]


def test_the_waivers_of_all_shards_are_apart_and_in_order() -> None:
    first = a_waiver("applied")
    others = [
        a_waiver("applied", line=6),
        a_waiver("applied", file="d.yaml"),
        a_waiver("applied", criterion="other"),
    ]
    assert merged([[first, *others]]) == (others[0], others[1], first, others[2])


def test_only_waivers_in_force_excuse_a_case() -> None:
    late = a_waiver("expired", criterion="other")
    report = replace(APPLIED, waivers=(a_waiver(), late, a_waiver(case="d")))
    assert excuses(WAIVED, report) == [f"gated: {REASON}"]
    assert applied_lines(report) == [f"c/gated: {REASON}", f"d/gated: {REASON}"]


def test_more_waivers_than_the_gate_allows() -> None:
    report = a_report(WAIVED, waivers=(a_waiver(),))
    limited = replace(report, gate=replace(report.gate, max_waivers=0, holds=False))
    expected = "fail-on: fail; 1 waiver, at most 0 allowed"
    assert summary.gate_settings(limited) == expected
    assert problem_lines(limited) == [("waivers.yaml", "1 waiver, at most 0 allowed")]
    assert problem_lines(report) == []
