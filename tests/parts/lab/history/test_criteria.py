"""How often criteria decided a verdict: each past verdict is computed again without them."""

from typing import Any

from rubric_ci.parts.lab.history.criteria import CriterionRecord, criteria, idle, text
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CriterionResult
from rubric_ci.values.scoring import Verdict
from tests.sample_reports import a_criterion, a_report, graded


def mark(name: str, met: bool, **changes: Any) -> CriterionResult:
    facts = {"mark": met, "normalised": float(met), "gated": not met, "evidence": ""}
    return a_criterion(name, **{**facts, "reasoning": "", **changes})


def night(answer: str, **met: bool) -> RunReport:
    verdict: Verdict = "pass" if all(met.values()) else "fail"
    marks = [mark(name, value) for name, value in met.items()]
    return a_report(graded("case", verdict, *marks, answer=answer))


def facts(*reports: RunReport) -> dict[str, tuple[int, int, int]]:
    return {each.id: (each.answers, each.met, each.decided) for each in criteria(reports)}


def test_a_gate_decides_where_it_alone_fails() -> None:
    nights = [night(str(n), limit=n != 1, polite=True, fee=n not in {1, 2}) for n in range(6)]
    assert facts(*nights) == {"limit": (6, 5, 0), "polite": (6, 6, 0), "fee": (6, 4, 1)}


def test_a_weight_decides_through_the_score() -> None:
    marks = [
        mark("heavy", True, weight=3.0),
        mark("light", False, weight=1.0, gated=False),
        mark("none", False, weight=0.0, gated=False),
    ]
    report = a_report(graded("case", "borderline", *marks, score=0.75, gated_by=()))
    assert facts(report) == {"heavy": (1, 1, 1), "light": (1, 0, 1), "none": (1, 1, 0)}


def test_equal_answers_with_other_marks_are_flips() -> None:
    nights = [night("same", a=True), night("same", a=False), night("other", a=True)]
    (found,) = criteria(nights)
    assert found.flips == 1
    (found,) = criteria([*nights, night("same", a=False), night("same", a=True)])
    assert found.flips == 2


def test_a_criterion_that_always_goes_with_another_one() -> None:
    nights = [night(str(n), a=n != 1, b=n != 1, c=True) for n in range(5)]
    assert {each.id: each.like for each in criteria(nights)} == {
        "a": ("b", 5),
        "b": ("a", 5),
        "c": None,
    }
    assert [each.like for each in criteria(nights[:4])] == [None] * 3


def test_the_marks_of_an_earlier_text_are_another_criterion() -> None:
    before = a_report(graded("case", "fail", mark("a", False, text="before")))
    now = a_report(graded("case", "pass", mark("a", True, text="now")))
    assert facts(before, now) == {"a": (1, 1, 0)}


def test_text() -> None:
    nights = [night("same", limit=n != 1, polite=True) for n in range(5)]
    assert text(criteria(nights)) == (
        "e.yaml:5: case/polite: decided 0 of 5, met 5\n"
        "e.yaml:5: case/limit: decided 1 of 5, met 4, other mark for an equal answer 2 times\n"
        "\n"
        "1 criterion of 2 decided no verdict: each past verdict was computed again without the "
        "criterion and is the same. That holds for each alone, not for all of them together."
    )
    assert text(criteria([a_report()])) == ""


def test_few_answers_prove_nothing() -> None:
    def record(answers: int, decided: int) -> CriterionRecord:
        (found,) = criteria([night(str(n), a=n >= decided) for n in range(answers)])
        return found

    assert [idle(record(n, 0)) for n in (4, 5)] == [False, True]
    assert not idle(record(5, 1))


def test_tokens_are_of_the_judges_words() -> None:
    report = a_report(
        graded("case", "pass", mark("a", True, reasoning="x" * 30, evidence="y" * 10))
    )
    (found,) = criteria([report])
    assert found.tokens == 10
    assert "about 10 tokens of the judge's reply" in text([found])
