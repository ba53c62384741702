"""Words and figures that every format shares."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.reports import wording
from rubric_ci.values.results import Assessed, CriterionResult
from rubric_ci.values.scope import Scope
from rubric_ci.values.scoring import MarkValue
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("checklist", True, "satisfied"),
        ("checklist", False, "not satisfied"),
        ("score-range", 0, "0 of 10"),
        ("score-range", 1, "1 of 10"),
        ("levels", -1, "level -1"),
        ("choices", "refund", "refund"),
        ("levels", "cannot_assess", "cannot be assessed"),
    ],
)
def test_mark(kind: str, value: MarkValue, shown: str) -> None:
    assert wording.mark(a_criterion(kind=kind, mark=value)) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(True, "present, \N{MINUS SIGN}5 of 12 points"), (False, "not present")]
)
def test_the_mark_of_a_fault(value: MarkValue, shown: str) -> None:
    fault = a_criterion(mark=value, normalised=float(not value), weight=5, fault=True, points=12)
    assert wording.mark(fault) == shown


@pytest.mark.parametrize(
    ("gate", "gated", "shown"),
    [
        ("", False, ""),
        ("required", True, "required"),
        ("required", False, "required"),
        ("score >= 6", True, "score >= 6 to pass"),
        ("score >= 6", False, "gate met: score >= 6"),
        ("level >= 3", False, "gate met: level >= 3"),
    ],
)
def test_gate_of(gate: str, shown: str, *, gated: bool) -> None:
    assert wording.gate_of(a_criterion(gate=gate, gated=gated)) == shown


@pytest.mark.parametrize(
    ("totals", "replayed", "shown"),
    [
        ({}, False, []),
        ({"marks": 3}, False, []),
        ({"marks": 3, "cached_marks": 2}, False, ["2 of 3 marks from the cache"]),
        ({"marks": 3}, True, ["model replies from a recording"]),
        ({"recorded_answers": 1}, False, ["1 of 2 answers recorded"]),
    ],
    ids=["nothing", "fresh", "cached", "replayed", "recorded"],
)
def test_provenance(totals: dict[str, Any], replayed: bool, shown: list[str]) -> None:
    report = a_report(
        graded("a"), errored("b"), scope=Scope().narrowed("replay") if replayed else Scope()
    )
    assert wording.provenance(replace(report, totals=replace(report.totals, **totals))) == shown


def test_votes_are_shown_only_if_they_differ() -> None:
    assert wording.votes(a_criterion(votes=(True, True, True))) == ""
    shown = wording.votes(a_criterion(votes=(True, False, True)))
    assert shown == "votes differ: satisfied, not satisfied, satisfied"
    mixed = a_criterion(kind="score-range", votes=(1, 1, 1))
    assert wording.votes(mixed) == ""


def test_a_criterion_that_does_not_count_is_not_missed() -> None:
    assert not a_criterion(weight=0.0, gated=False).is_missed(0.8)
    assert a_criterion(weight=0.0, gated=True).is_missed(0.8)
    assert not a_criterion(gated=False, normalised=0.8).is_missed(0.8)
    assert a_criterion(gated=False, normalised=0.79).is_missed(0.8)


@pytest.mark.parametrize(
    ("reasoning", "misses", "shown"),
    [
        ("called: read", ("find with 1",), ["called: read", "missed: find with 1"]),
        ("", ("a", "b"), ["missed: a", "missed: b"]),
        ("", ("",), []),
        ("9 of at most 5 ms", ("9 of at most 5 ms",), ["9 of at most 5 ms"]),
        (
            "1 of at most 5 x; 9 of at most 5 y",
            ("9 of at most 5 y",),
            ["1 of at most 5 x; 9 of at most 5 y"],
        ),
        ("has 160 words", ("60",), ["has 160 words", "missed: 60"]),
    ],
)
def test_what_an_evaluator_missed_is_said_once(
    reasoning: str, misses: tuple[str, ...], shown: list[str]
) -> None:
    assert wording.reasons(a_rubric(reasoning=reasoning, misses=misses)) == shown


def open_mark(name: str, weight: float = 1, **changes: Any) -> CriterionResult:
    return a_criterion(name, **{"weight": weight, "gate": "", "gated": False, **changes})


@pytest.mark.parametrize(
    ("evaluators", "order"),
    [
        ([a_rubric(open_mark("small"), open_mark("large", 3))], ["large", "small"]),
        ([a_rubric(open_mark("half", 2, normalised=0.5), open_mark("all"))], ["half", "all"]),
        ([a_rubric(open_mark("large", 9), a_criterion("gate"))], ["gate", "large"]),
        ([a_rubric(a_criterion("one"), a_criterion("two", weight=3))], ["two", "one"]),
        ([a_rubric(a_criterion("waived"), open_mark("large"))], ["large", "waived"]),
        ([a_rubric(open_mark("fault", 4, fault=True), open_mark("c", 3))], ["fault", "c"]),
        (
            [a_rubric(open_mark("light")), a_rubric(open_mark("heavy"), weight=2)],
            ["heavy", "light"],
        ),
        ([a_rubric(open_mark("c", 0, gated=True)), a_rubric(name="script")], ["c", "script"]),
        ([a_rubric(open_mark("c"), open_mark("d")), a_rubric(name="script")], ["script", "c", "d"]),
        ([a_rubric(name="script", verdict="pass"), a_rubric(name="s", weight=0)], []),
    ],
)
def test_a_missed_gate_then_the_larger_loss(evaluators: list[Assessed], order: list[str]) -> None:
    case = graded("a", evaluators=tuple(evaluators), waived=("waived",))
    found = wording.misses(case, a_report())
    assert [m.criterion.id if m.criterion else m.evaluator.name for m in found] == order


def test_the_text_of_an_assertion_is_said_once() -> None:
    said = "Contains `x`: it does not occur"
    result = a_criterion(kind="assertion", text="Contains `x`", reasoning=said)
    assert result.found == "it does not occur"
    assert replace(result, text="Has an x").found == result.reasoning


def one(text: str, *, mark: bool, gate: str = "required", **changes: Any) -> Assessed:
    """Return a rubric with one criterion, whose id other rubrics have as well."""
    missed = bool(gate) and not mark
    said = f"{text} is {mark}"
    made = a_criterion("rubric-1", text=text, mark=mark, gate=gate, gated=missed, reasoning=said)
    return a_rubric(made, **changes)


MISSED = "`rubric-1` is required and not satisfied: Thanks is False"
LOST = "score 0.50 is below 0.60; largest loss: `rubric-1`: Thanks is False"


@pytest.mark.parametrize(
    ("evaluators", "said"),
    [
        ([one("Greets", mark=True), one("Thanks", mark=False)], MISSED),
        ([one("Greets", mark=False, weight=0), one("Thanks", mark=False)], MISSED),
        ([one("Greets", mark=True, gate=""), one("Thanks", mark=False, gate="")], LOST),
    ],
    ids=["a missed gate", "not counted", "the largest loss"],
)
def test_a_reason_names_the_criterion_of_its_rubric(evaluators: list[Assessed], said: str) -> None:
    case = graded("a", evaluators=tuple(evaluators), reason=said)
    assert wording.reason(case) == said.replace("`rubric-1`", "“Thanks”")
