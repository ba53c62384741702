"""The gate of a report, reports that claim another, and which fact decides the exit code."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.errors import ExitCode
from rubric_ci.gate.report import consistency
from rubric_ci.gate.report.decision import (
    concluded,
    exit_code,
    gate_of,
    rate_text,
    settings_of,
    with_gate,
)
from rubric_ci.reports import summary
from rubric_ci.values.comparison import Comparison, Together
from rubric_ci.values.gate import FailOn, GateConfig, GateInfo, Group, PassRate
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult
from rubric_ci.values.scope import WHOLE, Scope
from tests.sample_reports import a_report, errored, graded

CONFIG = GateConfig(min_pass_rate=0.5, groups={"safety": Group(min_pass_rate=1.0)})


def gated(report: RunReport, config: GateConfig = CONFIG) -> RunReport:
    gate = concluded(gate_of(config, None), report.cases, report.scope)
    return replace(report, gate=gate)


TOLERATED = gated(a_report(graded("a", "pass", tags=("safety",)), graded("b"), errored("c")))
MISSED = gated(a_report(graded("a", "pass"), graded("b", tags=("safety",))))
CHOSEN = gated(
    a_report(graded("a", "pass", tags=("t",)), graded("b", tags=("u",))),
    GateConfig(
        tags=("t", "v"), not_tags=("u",), targets=("x",), groups={"c": Group(min_score=0.6)}
    ),
)
ALONE = gated(a_report(graded("a", "pass")), GateConfig(better_than="b"))
NOT_COMPARED = gated(
    a_report(graded("a", change="not-comparable")), GateConfig(fail_on="regression")
)


HALF = "fail-on: fail; all cases: 1 of 2 pass, 1 must (min_pass_rate: 0.5)"
WORDS = {
    "tolerated": (
        TOLERATED,
        f"{HALF}, 1 errored not counted; tag safety: 1 of 1 pass, 1 must (min_pass_rate: 1.0)",
        ExitCode.NO_VERDICT,
    ),
    "missed": (
        MISSED,
        f"{HALF}; tag safety: 0 of 1 pass, 1 must (min_pass_rate: 1.0)",
        ExitCode.GATE,
    ),
    "chosen cases": (
        CHOSEN,
        (
            "fail-on: fail; gate of x; gate of 1 of 2 cases: tagged t or v, not tagged u; "
            "criteria tagged c: no criterion, 0.6 needed"
        ),
        ExitCode.NO_VERDICT,
    ),
    "not compared": (NOT_COMPARED, "fail-on: regression", ExitCode.GATE),
    "no other target": (ALONE, "fail-on: fail; must be better than b", ExitCode.NO_VERDICT),
}


@pytest.mark.parametrize(("report", "text", "code"), WORDS.values(), ids=WORDS)
def test_the_gate_in_words(report: RunReport, text: str, code: ExitCode) -> None:
    assert summary.gate_settings(report) == text
    assert exit_code(report) is code
    assert list(consistency.problems(report)) == []


def test_the_settings_of_a_configuration() -> None:
    groups = {"safety": Group(min_pass_rate=1.0), "new": Group(min_pass_rate=0.25)}
    config = GateConfig(
        min_pass_rate=0.5,
        groups=groups,
        max_waivers=3,
        on_weaker_grading="fail",
        on_changed_grading="review",
    )
    settings = GateInfo(
        fail_on="fail",
        passing=0.8,
        borderline=0.6,
        rates=(
            PassRate(min_pass_rate=0.5),
            PassRate(min_pass_rate=1.0, group="safety"),
            PassRate(min_pass_rate=0.25, group="new"),
        ),
        on_weaker_grading="fail",
        on_changed_grading="review",
        max_waivers=3,
        holds=False,
    )
    assert gate_of(config, None) == settings
    assert gate_of(replace(config, min_pass_rate=None), None).rates == settings.rates[1:]
    counted = concluded(settings, (graded("a", "pass", tags=("new", "safety")),), WHOLE)
    assert counted.holds
    assert [rate.counted for rate in counted.rates] == [1, 1, 1]
    assert settings_of(counted) == settings


def test_a_target_that_must_be_better_is_compared_again() -> None:
    cases = [graded("a [old]"), *(graded(f"{n} [{t}]", "pass") for n in "ab" for t in ("x", "y"))]
    gate = gate_of(GateConfig(better_than="x", fail_on="never"), None)
    counted = concluded(gate, cases, WHOLE)
    assert counted.difference is not None
    assert (counted.difference.target, counted.difference.than) == ("old", "x")
    assert (counted.difference.cases, counted.difference.mean) == (1, -1.0)
    assert settings_of(counted) == gate
    assert concluded(counted, cases[1:3], WHOLE).difference != counted.difference


def test_a_run_with_an_error_does_not_hold() -> None:
    gate = gate_of(GateConfig(), None)
    assert not concluded(gate, (errored("a"),), WHOLE).holds
    assert not concluded(gate, (), WHOLE.narrowed("invalid")).holds
    assert not concluded(gate, (), WHOLE.narrowed("interrupted")).holds
    assert concluded(gate, (), WHOLE).holds


MUST, OTHER = graded("a", "fail", tags=("must", "slow")), graded("b", "fail", tags=("nice",))
PASSES = graded("c", "pass", tags=("must",))


@pytest.mark.parametrize(
    ("settings", "cases", "code"),
    [
        ({"tags": ("must",)}, (OTHER, PASSES), ExitCode.OK),
        ({"tags": ("must",)}, (MUST, PASSES), ExitCode.GATE),
        ({"tags": ("must", "nice")}, (OTHER, PASSES), ExitCode.GATE),
        ({"not_tags": ("nice",)}, (OTHER, PASSES), ExitCode.OK),
        ({"not_tags": ("nice",)}, (OTHER, MUST), ExitCode.GATE),
        ({"tags": ("must",), "not_tags": ("slow",)}, (MUST, PASSES), ExitCode.OK),
        ({"tags": ("must",)}, (errored("d"), PASSES), ExitCode.OK),
        ({"not_tags": ("nice",)}, (errored("d"), PASSES), ExitCode.NO_VERDICT),
        ({"tags": ("must",), "min_pass_rate": 0.5}, (OTHER, MUST, PASSES), ExitCode.OK),
        ({"tags": ("must",), "min_pass_rate": 1.0}, (OTHER, MUST, PASSES), ExitCode.GATE),
        ({"min_pass_rate": 0.0}, (OTHER, MUST), ExitCode.OK),
        ({"tags": ("must",), "fail_on": "regression"}, (OTHER, PASSES), ExitCode.OK),
    ],
)
def test_tags_say_which_cases_decide(
    settings: dict[str, Any], cases: tuple[CaseResult, ...], code: ExitCode
) -> None:
    report = gated(a_report(*cases), GateConfig(**settings))
    assert exit_code(report) == code
    assert report.gate.holds is (code == ExitCode.OK)


def test_fail_on_of_the_command_line_comes_first() -> None:
    assert gate_of(GateConfig(fail_on="never"), "borderline").fail_on == "borderline"


def test_a_report_that_claims_another_gate() -> None:
    every, safety = MISSED.gate.rates
    counted = replace(MISSED.gate, rates=(every, replace(safety, passed=1)))
    assert list(consistency.problems(replace(MISSED, gate=counted))) == [
        "gate.rates: group safety: 1 of 1, 1 required; its cases give 0 of 1, 1 required"
    ]
    undecided = replace(ALONE, gate=replace(ALONE.gate, holds=True))
    assert list(consistency.problems(undecided)) == ["gate.holds is true, its cases give false"]


def test_new_cases_that_are_not_counted_in_words() -> None:
    rate = PassRate(min_pass_rate=0.9, passed=18, counted=21, required=19, new=20)
    assert rate_text(rate) == (
        "all cases: 18 of 21 pass, 19 must (min_pass_rate: 0.9), 20 new not counted before the "
        "merge"
    )
    empty = PassRate(min_pass_rate=1.0, group="safety", waived=1)
    said = "tag safety: no case counts (min_pass_rate: 1.0), 1 waived not counted"
    assert rate_text(empty) == said


TOGETHER = Together(cases=200, clusters=200, fewer_pass=9, more_fail=9, p_value=0.001, worse=True)


@pytest.mark.parametrize(
    ("fail_on", "worse", "holds"),
    [
        ("regression", True, False),
        ("regression", False, True),
        ("fail", True, True),
        ("never", True, True),
    ],
)
def test_all_cases_together_fail_the_gate(fail_on: FailOn, *, worse: bool, holds: bool) -> None:
    comparison = Comparison(source="reference", together=replace(TOGETHER, worse=worse))
    gate = GateInfo(fail_on=fail_on, passing=0.8, borderline=0.6, holds=True)
    case = graded("a", "pass", change="unchanged")
    report = with_gate(a_report(case, gate=gate, comparison=comparison))
    assert report.gate.holds is holds
    assert exit_code(report) == (ExitCode.OK if holds else ExitCode.GATE)
    assert summary.heading(report).startswith(
        "Gate passes" if holds else "Gate fails: 9 more of 200 fail than before · "
    )


PASS = a_report(graded("a", "pass"))
FAIL = a_report(graded("a"), errored("b"))
ERRORED = a_report(graded("a", "pass"), errored("b"))
NEVER = replace(FAIL, gate=replace(FAIL.gate, fail_on="never"))
INTERRUPTED = replace(PASS, scope=Scope().narrowed("interrupted"))
# As `merge` sees a shard with unusable eval files.
UNREADABLE = replace(PASS, verdict="error", scope=Scope().narrowed("invalid"))
CODES: dict[str, tuple[RunReport, bool, ExitCode]] = {
    "passes": (PASS, False, ExitCode.OK),
    "unusable file": (PASS, True, ExitCode.USAGE),
    "gate fails before a missing verdict": (FAIL, False, ExitCode.GATE),
    "gate fails before an unusable file": (FAIL, True, ExitCode.GATE),
    "missing verdict": (ERRORED, False, ExitCode.NO_VERDICT),
    "unusable file before a missing verdict": (ERRORED, True, ExitCode.USAGE),
    "gate never fails": (NEVER, False, ExitCode.NO_VERDICT),
    "interrupted": (INTERRUPTED, False, ExitCode.NO_VERDICT),
    "verdict error": (UNREADABLE, False, ExitCode.NO_VERDICT),
}


@pytest.mark.parametrize(("report", "invalid_files", "code"), CODES.values(), ids=CODES)
def test_exit_code(report: RunReport, invalid_files: bool, code: ExitCode) -> None:
    assert exit_code(report, invalid_files=invalid_files) is code
