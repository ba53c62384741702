"""The gate: pass rates, and what red is, in exact arithmetic."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import ExitCode
from rubric_ci.gate.report.decision import Facts, verdict_code
from rubric_ci.values.changes import Direction, GradingChange
from rubric_ci.values.gate import (
    FailOn,
    GateConfig,
    GateInfo,
    OnChangedGrading,
    PassRate,
    TargetDifference,
    gating,
    is_forbidden,
    is_held_against,
    lacks_difference,
    needs_review,
    pass_rates,
    required_passes,
)
from rubric_ci.values.results import CaseResult, Graded
from rubric_ci.values.scope import WHOLE
from rubric_ci.values.waivers import WaiverResult, WaiverState
from tests.sample_reports import errored, graded, skipped


def gate_passes(
    cases: Sequence[CaseResult],
    gate: GateInfo,
    waivers: Sequence[WaiverResult] = (),
    changes: Sequence[GradingChange] = (),
) -> bool:
    """Return False if a reason fails the gate."""
    gate = replace(gate, rates=pass_rates(gating(cases, gate), gate.rates, changes))
    facts = Facts(cases, gate, WHOLE, waivers, changes)
    return verdict_code(facts) is not ExitCode.GATE


def a_gate(fail_on: FailOn = "fail", **rates: float) -> GateInfo:
    """Return a gate; the rate `every` is that of all cases."""
    return GateInfo(
        fail_on=fail_on,
        passing=0.8,
        borderline=0.6,
        rates=tuple(
            PassRate(min_pass_rate=rate, group="" if tag == "every" else tag)
            for tag, rate in rates.items()
        ),
        holds=False,
    )


def test_nothing_is_asked_of_cases_unless_it_is_set() -> None:
    gate = GateConfig()
    assert (gate.fail_on, gate.require_rubrics, gate.require_verdict) == ("fail", False, False)


def of(verdict: Any, *tags: str, **facts: Any) -> Graded:
    return graded("c", verdict, tags=tags, **facts)


@pytest.mark.parametrize(
    ("rate", "size", "required"),
    [
        (0.95, 11, 11),
        (0.95, 20, 19),
        (0.7, 10, 7),  # 0.7 * 10 is 7.000000000000001 in some orders of floats
        (0.55, 100, 55),  # 0.55 * 100 is 55.00000000000001
        (0.29, 100, 29),  # 0.29 * 100 is 28.999999999999996
        (1.0, 3, 3),
        (0.001, 5, 1),
        (0.9, 0, 0),
    ],
)
def test_required_passes_are_exact(rate: float, size: int, required: int) -> None:
    assert required_passes(rate, size) == required


FAIL, PASS, EDGE = of("fail"), of("pass"), of("borderline")
TAGGED = of("fail", "safety")
FAILED_BEFORE = of("fail", change="failing-before")
CHANGED = a_gate("regression")
TABLE: dict[str, tuple[GateInfo, list[CaseResult], bool]] = {
    "one fails": (a_gate(), [PASS, FAIL], False),
    "borderline is no fail": (a_gate(), [PASS, EDGE], True),
    "borderline is forbidden": (a_gate("borderline"), [EDGE], False),
    "errored counts neither way": (a_gate(), [errored("e"), skipped("s")], True),
    "never": (a_gate("never", every=1.0), [FAIL], True),
    "a rate tolerates": (a_gate(every=0.5), [PASS, FAIL], True),
    "a rate is missed": (a_gate(every=0.6), [PASS, FAIL], False),
    "borderline is no pass in a rate": (a_gate(every=0.6), [PASS, EDGE], False),
    "errored is not in a rate": (a_gate(every=0.5), [PASS, FAIL, errored("e")], True),
    "a rate of nothing": (a_gate(every=1.0), [errored("e")], True),
    "a group tolerates its own": (a_gate(safety=0.5), [TAGGED, of("pass", "safety")], True),
    "a group is missed": (a_gate(safety=1.0), [TAGGED, PASS], False),
    "outside of groups no case may fail": (a_gate(safety=0.5), [FAIL], False),
    "both rates hold": (a_gate(every=0.6, safety=1.0), [PASS, PASS, FAIL], True),
    "a group does not reach it": (a_gate(every=0.5, safety=1.0), [PASS, PASS, TAGGED], False),
    "broken": (CHANGED, [of("borderline", change="broken")], False),
    "broken and passing": (CHANGED, [of("pass", change="broken")], False),
    "failing before": (CHANGED, [FAILED_BEFORE], True),
    "new and failing": (CHANGED, [of("fail", change="new")], False),
    "new and borderline": (CHANGED, [of("borderline", change="new")], True),
    "without a base every case is new": (a_gate("regression"), [FAIL], False),
    "fixed": (CHANGED, [of("pass", change="better")], True),
    "unchanged": (CHANGED, [of("pass", change="unchanged")], True),
    "a rate holds as well": (a_gate("regression", every=1.0), [FAILED_BEFORE], False),
    "not comparable counts as it is": (CHANGED, [of("fail", change="not-comparable")], False),
    "not confirmed": (CHANGED, [of("fail", change="not-confirmed")], True),
}


@pytest.mark.parametrize(("gate", "cases", "passes"), TABLE.values(), ids=TABLE)
def test_when_the_gate_passes(gate: GateInfo, cases: list[CaseResult], passes: bool) -> None:
    assert gate_passes(cases, gate) is passes


WAIVED = of("fail", "safety", without_waived="pass")
OUTAGE = errored("e", tags=("safety",))
CASES_OF_A_RATE: list[CaseResult] = [PASS, FAIL, EDGE, WAIVED, OUTAGE, skipped("s")]


@pytest.mark.parametrize(
    ("rate", "counted"),
    [
        (
            PassRate(min_pass_rate=0.6),
            PassRate(min_pass_rate=0.6, passed=1, counted=3, errored=1, waived=1, required=2),
        ),
        (
            PassRate(min_pass_rate=0.6, group="safety"),
            PassRate(min_pass_rate=0.6, group="safety", errored=1, waived=1),
        ),
        (PassRate(min_pass_rate=0.6, group="tone"), PassRate(min_pass_rate=0.6, group="tone")),
    ],
    ids=["every case", "a group", "an empty group"],
)
def test_a_rate_says_what_it_counted(rate: PassRate, counted: PassRate) -> None:
    assert pass_rates(CASES_OF_A_RATE, [rate]) == (counted,)
    assert counted.holds is bool(counted.group)


def added(*names: str) -> list[GradingChange]:
    place: Any = {"file": "evals/a.eval.yaml", "line": 1, "before": "", "after": "added"}
    return [GradingChange(kind="case", direction="stronger", about=n, **place) for n in names]


def named(name: str, verdict: Any) -> Graded:
    return graded(name, verdict, file="evals/a.eval.yaml")


OLD: list[CaseResult] = [named("a", "pass"), named("b", "fail")]
EASY: list[CaseResult] = [named(f"easy-{n}", "pass") for n in range(20)]
HARD: list[CaseResult] = [named(f"hard-{n}", "fail") for n in range(2)]
NEW = added(*(f"easy-{n}" for n in range(20)), "hard-0", "hard-1")


@pytest.mark.parametrize(
    ("cases", "changes", "passed", "counted", "left_out", "passes"),
    [
        ([*OLD, *EASY], [], 21, 22, 0, True),
        ([*OLD, *EASY], NEW, 1, 2, 20, False),
        ([*OLD[:1], *EASY], NEW, 21, 21, 0, True),
        ([*OLD[:1], *HARD], NEW, 1, 3, 0, False),
        ([*EASY, *HARD], NEW, 20, 22, 0, True),
        ([*OLD, *EASY], added("easy"), 21, 22, 0, True),
    ],
    ids=["no base", "lifted", "reached without", "lowered", "new cases only", "others are new"],
)
def test_new_cases_cannot_lift_a_rate(
    cases: list[CaseResult],
    changes: list[GradingChange],
    passed: int,
    counted: int,
    left_out: int,
    passes: bool,
) -> None:
    gate = a_gate(every=0.9)
    [rate] = pass_rates(cases, gate.rates, changes)
    assert (rate.passed, rate.counted, rate.new, rate.holds) == (passed, counted, left_out, passes)
    assert gate_passes(cases, gate, (), changes) is passes


def a_waiver(state: WaiverState) -> WaiverResult:
    facts = {"case": "c", "criterion": "x", "reason": "r", "owner": "o", "until": "2026-12-31"}
    return WaiverResult(state=state, line=1, **facts)


@pytest.mark.parametrize(
    ("fail_on", "allowed", "states", "passes"),
    [
        ("fail", None, ["applied", "not-run", "expired", "edited", "unmatched", "safety"], True),
        ("fail", 2, ["applied", "not-run"], True),
        ("fail", 1, ["applied", "not-run"], False),
        ("fail", 0, [], True),
        ("fail", None, ["unneeded", "met"], True),
        ("regression", 0, ["applied"], False),
        ("never", 0, ["unneeded"], True),
    ],
)
def test_waivers(
    fail_on: FailOn, allowed: int | None, states: list[WaiverState], passes: bool
) -> None:
    gate = replace(a_gate(fail_on), max_waivers=allowed)
    assert gate_passes([WAIVED], gate, [a_waiver(state) for state in states]) is passes


@pytest.mark.parametrize(
    ("fail_on", "enforced", "directions", "passes"),
    [
        ("fail", True, ["stronger", "changed"], True),
        ("fail", True, ["changed", "weaker"], False),
        ("regression", True, ["weaker"], False),
        ("never", True, ["weaker"], True),
        ("fail", False, ["weaker"], True),
    ],
)
def test_weaker(fail_on: FailOn, enforced: bool, directions: list[Direction], passes: bool) -> None:
    gate = replace(a_gate(fail_on), on_weaker_grading="fail" if enforced else "note")
    place = {"about": "gate.fail_on", "file": "rubric-ci.yaml", "before": "fail", "after": "never"}
    changes = [GradingChange(kind="gate", direction=each, line=1, **place) for each in directions]
    assert gate_passes([PASS], gate, (), changes) is passes


@pytest.mark.parametrize(
    ("word", "fail_on", "direction", "passes", "review"),
    [
        ("note", "fail", "weaker", True, False),
        ("review", "fail", "weaker", True, True),
        ("review", "fail", "changed", True, True),
        ("review", "regression", "changed", True, True),
        ("review", "fail", "stronger", True, False),
        ("review", "never", "changed", True, False),
        ("fail", "fail", "changed", False, False),
        ("fail", "regression", "weaker", False, False),
        ("fail", "fail", "stronger", True, False),
        ("fail", "never", "changed", True, False),
    ],
)
def test_changed_grading(
    word: OnChangedGrading, fail_on: FailOn, direction: Direction, passes: bool, review: bool
) -> None:
    gate = replace(a_gate(fail_on), on_changed_grading=word)
    place: Any = {"about": "a/b", "file": "a.yaml", "before": "x", "after": "y", "line": 1}
    changes = [GradingChange(kind="criterion", direction=direction, **place)]
    assert gate_passes([PASS], gate, (), changes) is passes
    assert needs_review(gate, changes) is review


def test_a_waived_case_is_neither_forbidden_nor_held_against_a_rate() -> None:
    gate = a_gate(every=1.0)
    gate = replace(gate, rates=pass_rates([WAIVED, FAIL], gate.rates))
    assert not any(check(WAIVED, gate) for check in (is_forbidden, is_held_against))
    assert is_held_against(FAIL, a_gate())  # alone, without a rate


def test_a_case_is_held_against_the_gate_only_if_the_rate_is_missed() -> None:
    for rate, held in ((0.5, False), (0.6, True)):
        gate = a_gate(every=rate)
        counted = replace(gate, rates=pass_rates([PASS, FAIL], gate.rates))
        assert is_held_against(FAIL, counted) is held
        assert not is_held_against(PASS, counted)


VERDICTS = st.sampled_from(["fail", "borderline", "pass"])
TAGS = st.lists(st.sampled_from(["a", "b"]), unique=True).map(tuple)
CHANGES = st.sampled_from(["broken", "better", "failing-before", "new", "not-comparable", None])
RATE = st.integers(1, 100).map(lambda percent: percent / 100)
CASES = st.lists(
    st.builds(
        lambda verdict, tags, change: of(verdict, *tags, change=change), VERDICTS, TAGS, CHANGES
    ),
    max_size=30,
)
GATES = st.builds(
    lambda fail_on, rates: a_gate(fail_on, **rates),
    st.sampled_from(["fail", "borderline", "regression", "never"]),
    st.dictionaries(st.sampled_from(["every", "a", "b"]), RATE),
)


@given(gate=GATES, cases=CASES, tags=TAGS)
def test_one_more_pass_never_turns_a_green_gate_red(
    gate: GateInfo, cases: list[Graded], tags: tuple[str, ...]
) -> None:
    if gate_passes(cases, gate):
        assert gate_passes([*cases, graded("more", "pass", tags=tags, change="new")], gate)
        for at, case in enumerate(cases):
            better = graded("c", "pass", tags=case.tags, change="unchanged")
            assert gate_passes([*cases[:at], better, *cases[at + 1 :]], gate)


def side(case: str, target: str, verdict: Any = "fail") -> Graded:
    """Return the result of one of several targets."""
    return graded(f"{case} [{target}]", verdict, target=target)


@pytest.mark.parametrize(
    ("targets", "cases", "passes"),
    [
        (("a",), [side("one", "a", "pass"), side("one", "b")], True),
        (("b",), [side("one", "a", "pass"), side("one", "b")], False),
        (("a", "b"), [side("one", "a", "pass"), side("one", "b")], False),
        ((), [side("one", "a", "pass"), side("one", "b")], False),
        (("a",), [graded("alone", target="b")], False),
        (("a",), [side("one", "a", "pass"), skipped("two")], True),
    ],
    ids=[*("of the gate", "of no interest", "both", "all", "a case of one target", "skipped")],
)
@pytest.mark.parametrize("base", [a_gate(), a_gate(every=1.0)], ids=["each case", "a rate"])
def test_of_several_targets_those_of_the_gate_must_pass(
    targets: tuple[str, ...], cases: list[CaseResult], base: GateInfo, *, passes: bool
) -> None:
    gate = replace(base, targets=targets)
    assert gate_passes(cases, gate) == passes
    found = replace(gate, rates=pass_rates(gating(cases, gate), gate.rates))
    assert any(is_held_against(case, found) for case in cases) != passes


@pytest.mark.parametrize(
    ("mean", "significant", "better"),
    [(0.1, True, True), (0.1, False, False), (-0.1, True, False), (0.0, True, False)],
)
def test_a_target_that_must_be_better(mean: float, *, significant: bool, better: bool) -> None:
    found = TargetDifference(
        target="a", than="b", cases=9, mean=mean, p_value=0.01, significant=significant
    )
    gate = replace(a_gate(), better_than="b", difference=found)
    assert gate_passes([], gate) == better
    assert gate_passes([], replace(gate, better_than=""))
    assert gate_passes([], replace(gate, fail_on="never"))


LOWER = TargetDifference(target="a", than="b", cases=9, mean=-0.1, p_value=0.01, significant=True)


@pytest.mark.parametrize(
    ("cases", "changes", "open_"),
    [
        ([of("pass")], {}, True),
        ([], {}, False),
        ([skipped("c")], {}, False),
        ([of("pass")], {"better_than": ""}, False),
        ([of("pass")], {"fail_on": "never"}, False),
        ([of("pass")], {"difference": LOWER}, False),
    ],
    ids=["graded", "no case", "skipped", "not demanded", "never", "compared"],
)
def test_a_target_that_must_be_better_was_compared_with_none(
    cases: list[CaseResult], changes: dict[str, Any], *, open_: bool
) -> None:
    gate = replace(a_gate(), **{"better_than": "b", **changes})
    assert lacks_difference(cases, gate) is open_
    assert gate_passes(cases, gate) is ("difference" not in changes)


def test_a_break_that_a_waiver_excuses() -> None:
    gate = a_gate("regression")
    assert is_forbidden(of("fail", change="broken"), gate)
    assert not is_forbidden(of("fail", change="broken", without_waived="pass"), gate)
