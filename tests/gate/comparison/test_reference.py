"""A pinned reference: its facts, its nights, and the part of a run that it lacks."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.comparison import reference
from rubric_ci.gate.comparison.reference import Decision, Night, ReferenceLog
from rubric_ci.values.comparison import Comparison, ReferenceInfo, ReferenceMove, Together
from rubric_ci.values.report import Against, JudgeInfo, RemovedCase, RunReport, totals
from rubric_ci.values.results import BaseResult
from rubric_ci.values.usage import NOTHING_USED, Usage
from tests.nights import case, night
from tests.sample_reports import a_report, errored, graded


def at(day: int) -> str:
    return f"2026-01-{day:02}T00:00:00+00:00"


def decided(day: int, *, partial: bool = False) -> Decision:
    return Decision(
        reason=f"day {day}",
        commit=f"{day}" * 40,
        measured_at=at(day),
        decided_at=at(day),
        cases=day,
        partial=partial,
    )


WHOLE, PART = decided(2), decided(3, partial=True)
MOVED = ReferenceMove(commit="3" * 40, measured_at=at(3), age_days=0, cases=3, reason="day 3")


@pytest.mark.parametrize(
    ("log", "commit", "info"),
    [
        pytest.param(None, "", None, id="an unknown commit"),
        pytest.param(
            None,
            "1" * 40,
            ReferenceInfo(commit="1" * 40, measured_at=at(1), age_days=2, trials=3),
            id="a report of a commit",
        ),
        pytest.param(
            ReferenceLog(decisions=(WHOLE,)),
            "1" * 40,
            ReferenceInfo(commit="2" * 40, measured_at=at(2), age_days=1, trials=3, reason="day 2"),
            id="pinned",
        ),
        pytest.param(
            ReferenceLog(decisions=(replace(WHOLE, commit=""), PART)),
            "1" * 40,
            ReferenceInfo(
                commit="", measured_at=at(2), age_days=1, trials=3, reason="day 2", moves=(MOVED,)
            ),
            id="pinned without a commit, and moved in part",
        ),
    ],
)
def test_the_facts(log: ReferenceLog | None, commit: str, info: ReferenceInfo | None) -> None:
    metadata = {"head_sha": commit} if commit else {}
    then = replace(night(1, case("a", 3)), metadata=metadata)
    assert reference.info(night(3, case("a", 1)), then, log) == info


def test_the_age_of_a_later_reference_is_unknown() -> None:
    found = reference.info(night(1), night(2), ReferenceLog(decisions=(WHOLE, decided(3))))
    assert found is not None
    assert found.age_days is None


def a_night(day: int, **facts: Any) -> Night:
    return Night(**{"started_at": at(day), "gate": "pass", "worse": False, **facts})


WORSE = (("e.yaml", "a"),)
LOWER = Together(cases=120, clusters=120, fewer_pass=9, more_fail=9, p_value=0.001, worse=True)


@pytest.mark.parametrize(
    ("comparison", "facts"),
    [
        pytest.param(None, {}, id="the reference itself"),
        pytest.param({}, {}, id="as before"),
        pytest.param({"worse": True}, {"worse": True}, id="worse"),
        pytest.param({"suspected": True}, {"worse": True}, id="suspected"),
        pytest.param({"worse_cases": WORSE}, {"regressed": WORSE}, id="cases"),
        pytest.param({"together": LOWER}, {"lower": True}, id="all cases together"),
    ],
)
def test_the_entry_of_a_night(comparison: dict[str, Any] | None, facts: dict[str, Any]) -> None:
    compared = None if comparison is None else Comparison(source="reference", **comparison)
    head = replace(night(2, case("a", 1)), comparison=compared)
    url = "https://github.example/acme/app/actions/runs/2"
    assert reference.night_of(head) == a_night(2, commit="2" * 40, run_url=url, **facts)
    bare = replace(head, metadata={})
    assert reference.night_of(bare) == a_night(2, **facts)


@pytest.mark.parametrize(
    ("nights", "first"),
    [
        ("", None),
        ("w", 1),
        ("ww", 1),
        ("gww", 2),
        ("wgw", 3),
        ("wwg", None),
        ("w?w", 1),
        ("g?w", 3),
        ("w??", 1),
        ("wg?w", 4),
    ],
)
def test_since_when_something_holds(nights: str, first: int | None) -> None:
    """A night without a verdict says nothing."""
    every = tuple(
        a_night(day, worse=letter == "w", gate="no-verdict" if letter == "?" else "fail")
        for day, letter in enumerate(nights, 1)
    )
    log = ReferenceLog(decisions=(decided(1),), nights=every)
    found = reference.since(log, lambda each: each.worse)
    assert (found.started_at if found else None) == (at(first) if first else None)


def test_the_cases_that_were_worse_in_the_last_night() -> None:
    nights = (a_night(2, regressed=WORSE), a_night(3, gate="no-verdict"), a_night(5))
    log = ReferenceLog(decisions=(decided(1),), nights=nights)
    assert reference.worse_before(log) == frozenset()
    assert reference.worse_before(log, at(5)) == frozenset(WORSE)
    assert reference.worse_before(replace(log, nights=())) == frozenset()


JUDGE = JudgeInfo(model="m", prompt_version="1")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"judge": JUDGE}, False),
        ({"gate": {"passing": 0.9}}, False),
        ({"gate": {"borderline": 0.5}}, False),
        ({"gate": {"fail_on": "never"}}, True),
        ({"judge": JUDGE, "gate": {"passing": 0.9}}, False),
    ],
)
def test_what_is_comparable(changes: dict[str, Any], *, expected: bool) -> None:
    one = a_report()
    gate = replace(one.gate, **changes.get("gate", {}))
    other = replace(one, gate=gate, judge=changes.get("judge"))
    assert reference.comparable(one, other) is expected
    assert reference.comparable(other, one) is expected


def names(report: RunReport | None) -> list[str]:
    return [f"{each.file} {each.id}" for each in report.cases] if report else []


def test_what_a_reference_lacks() -> None:
    head = a_report(case("a", 1), case("b", 1), case("c", 1), errored("d"), case("e", 1))
    then = a_report(case("a", 3), case("b", 2), graded("c", "pass"), errored("e"), case("d", 3))
    assert names(reference.lacking(head, then, 3)) == ["e.yaml b", "e.yaml c", "e.yaml e"]
    assert names(reference.lacking(head, then, 1)) == ["e.yaml e"]
    assert names(reference.lacking(head, None, 1)) == [f"e.yaml {name}" for name in "abce"]
    moved = a_report(replace(case("a", 3), file="other.yaml"), case("b", 3))
    assert names(reference.lacking(a_report(case("a", 1)), moved, 3)) == ["e.yaml a"]
    assert reference.lacking(a_report(case("a", 1)), a_report(case("a", 1)), 1) is None


def test_a_part_of_a_run_is_a_run_without_a_comparison() -> None:
    was = BaseResult(outcome="graded", verdict="pass", score=1.0)
    compared = graded("a", "pass", change="fixed", change_reason="r", before=was)
    head = replace(
        a_report(compared, graded("b"), errored("c"), against=Against(ref="main", commit="1")),
        removed=(RemovedCase(file="e.yaml", id="gone"),),
        beyond_cases=Usage(calls=1),
    )
    found = reference.part(head, lambda each: each.id == "a")
    alone = graded("a", "pass")
    assert found == replace(
        head,
        cases=(alone,),
        totals=totals((alone,)),
        beyond_cases=NOTHING_USED,
        verdict="pass",
        gate=replace(head.gate, holds=True),
        comparison=None,
        against=None,
        removed=(),
    )
    assert (head.verdict, head.gate.holds) == ("fail", False)
    assert reference.part(head, lambda each: each.id == "c") is None
