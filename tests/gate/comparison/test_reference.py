"""A pinned reference: its facts, its nights, and the part of a run that it lacks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from rubric_ci.text.statistics.night_effect import NightMeans

from rubric_ci.gate.comparison import drift, reference
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.values.comparison import (
    CaseKey,
    Comparison,
    Decision,
    Night,
    ReferenceInfo,
    ReferenceLog,
    ReferenceMove,
    RegressionConfig,
    SlowSlide,
)
from rubric_ci.values.report import Against, JudgeInfo, RemovedCase, RunReport, totals
from rubric_ci.values.results import BaseResult, CaseResult
from rubric_ci.values.usage import NOTHING_USED, Usage
from tests.nights import case, night
from tests.sample_reports import a_report, errored, graded

CONFIG = RegressionConfig()


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
                commit="",
                measured_at=at(2),
                age_days=1,
                trials=3,
                reason="day 2",
                moves=(MOVED,),
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


NIGHTS = NightMeans(nights=5, variance=0.01, trial=0.01, trials=3)


def test_only_what_has_the_trials_of_the_reference_is_evidence() -> None:
    """Clusters count together; a case that moved alone has fewer trials, and is left out."""
    then = [case("a", 10, 5), case("b", 10, 5), case("c", 2, 1), case("a", 15)]
    then[3] = replace(then[3], file="other.yaml")
    a_and_b = [case("a", 0, 3), case("b", 3)]
    moved = replace(case("a", 0, 3), file="other.yaml")
    head: list[CaseResult] = [*a_and_b, case("c", 0, 3), errored("d"), case("e", 0, 3), moved]
    matched = {(each.file, each.id): each for each in then}

    def observed(n: int, scores: Sequence[float]) -> drift.Observed:
        pooled = (1.0,) * 10 + (0.0,) * 5 if n < 3 else (1.0,) * 15
        return drift.Observed(head=scores, reference=pooled)

    a, b, other = observed(0, (0.0,) * 3), observed(1, (1.0,) * 3), observed(3, (0.0,) * 3)
    for nights in (None, NIGHTS):
        assert reference.evidence(head, matched, CONFIG, nights) == drift.log_products(
            [[a], [b], [other]], CONFIG.false_alarms, nights
        )
    joined = [replace(each, cluster="x") for each in a_and_b]
    assert reference.evidence(joined, matched, CONFIG, None) == drift.log_products(
        [[a, b]], CONFIG.false_alarms
    )
    again = replace(case("a", 1, 5), further_trials=5)
    first = [replace(a, head=(1.0,))]
    assert reference.evidence([again], matched, CONFIG, None) == drift.log_products(
        [first], CONFIG.false_alarms
    )
    assert reference.evidence([], matched, CONFIG, None) == ()


def test_the_nights_are_those_of_most_cases() -> None:
    """A case that was measured in other nights moved alone."""
    usual = {at(day): [0.2 * day, 0.2 * day] for day in (3, 1, 2)}
    nights: dict[CaseKey, Mapping[str, Sequence[float]]] = {
        ("e.yaml", "a"): usual,
        ("e.yaml", "b"): {name: [1.0, 1.0] for name in usual},
        ("e.yaml", "c"): {at(4): [0.0, 0.0]},
        ("e.yaml", "d"): {},
    }
    cases = [case(name, 3) for name in "abcde"]
    then = a_report(*cases)
    config = replace(CONFIG, reference_trials=6)
    head = night(9, *(case(name, 2) for name in "abcde"))
    pinned = Baseline(report=then, nights=nights)
    found = reference.night_means(pinned, cases, head, config)
    assert found is not None
    assert (found.nights, found.trials, found.correlation) == (3, 2, 1.0)
    assert found.variance == pytest.approx(0.01)  # of the means 0.6, 0.7 and 0.8
    assert reference.night_means(Baseline(report=then), cases, head, config) is None
    unknown = {("e.yaml", "z"): usual}
    apart = Baseline(report=then, nights=unknown)
    assert reference.night_means(apart, cases, head, config) is None


def test_nights_since_the_reference_show_how_much_nights_differ() -> None:
    """Those before the run that counted as evidence: others had other cases."""
    usual = {at(day): [0.2 * day] for day in (1, 2, 3)}
    then, config = a_report(case("a", 3)), replace(CONFIG, reference_trials=3)
    bets = (0.0,) * len(drift.BETS)
    since = (
        a_night(4, mean_difference=0.5, log_products=bets),
        a_night(5, mean_difference=-1.0),
        a_night(6, mean_difference=0.1, log_products=bets),
        a_night(7, mean_difference=0.3, log_products=bets),
        a_night(8, mean_difference=None, log_products=bets),
        a_night(9, mean_difference=0.9, log_products=bets),
    )
    log = ReferenceLog(decisions=(decided(1),), nights=since)
    pinned = Baseline(report=then, log=log, nights={("e.yaml", "a"): usual})
    found = reference.night_means(pinned, then.cases, night(9, case("a", 1)), config)
    alone = reference.night_means(replace(pinned, log=None), then.cases, night(9), config)
    assert alone is not None
    assert alone.nights == 3
    assert alone.variance == pytest.approx(0.04)
    assert found == alone.with_later([0.5, 0.1, 0.3], 1)
    assert reference.night_means(pinned, then.cases, night(9, errored("a")), config) == alone


@pytest.mark.parametrize(("trials", "enough"), [(3, 3), (15, 15), (20, 15)])
def test_enough_trials(trials: int, enough: int) -> None:
    then = Baseline(report=a_report(case("a", trials)))
    assert reference.enough_trials(then, CONFIG) == enough


def a_night(day: int, **facts: Any) -> Night:
    return Night(**{"started_at": at(day), "gate": "pass", "worse": False, **facts})


def test_a_slide_counts_the_nights_before_with_evidence() -> None:
    products, low = (1.0,) * len(drift.BETS), (-1.0,) * len(drift.BETS)
    nights = (
        a_night(2, log_products=low),
        a_night(3, log_products=products),
        a_night(4),
        a_night(6, log_products=products),
    )
    log = ReferenceLog(decisions=(decided(1),), nights=nights)
    found = reference.slide(log, night(5), products, CONFIG)
    expected = drift.detect([low, products, products], CONFIG.false_alarms)
    assert found == SlowSlide(
        evidence=round(expected.evidence, 6),
        threshold=8000.0,
        nights=3,
        since=at(3),
        detected=False,
    )
    assert found.evidence != expected.evidence
    large = a_night(4, log_products=(9.5,) * len(drift.BETS))
    many = replace(log, nights=(*nights[:1], *(replace(large, started_at=at(n)) for n in (3, 4))))
    assert not reference.slide(many, night(5), low, CONFIG).detected
    assert reference.slide(many, night(5), large.log_products, CONFIG).detected
    none = SlowSlide(evidence=0.0, threshold=8000.0, nights=0)
    assert reference.slide(replace(log, nights=()), night(5), (), CONFIG) == none


WORSE = (("e.yaml", "a"),)
LOWER: dict[str, Any] = {"significant": True, "mean_difference": -0.1}


@pytest.mark.parametrize(
    ("comparison", "facts"),
    [
        pytest.param(None, {}, id="the reference itself"),
        pytest.param({}, {}, id="as before"),
        pytest.param({"regressed": True}, {"worse": True}, id="worse"),
        pytest.param({"suspected": True}, {"worse": True}, id="suspected"),
        pytest.param({"worse_cases": WORSE}, {"regressed": WORSE}, id="cases"),
        pytest.param(LOWER, {"lower": True, "mean_difference": -0.1}, id="a lower mean"),
        pytest.param({"log_products": (1.0,)}, {"log_products": (1.0,)}, id="evidence"),
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
    compared = graded("a", "pass", change="fixed", change_reason="r", suspected=True, before=was)
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
