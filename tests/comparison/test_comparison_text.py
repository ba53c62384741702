"""A comparison in words."""

from dataclasses import replace

import pytest

from rubric_ci.comparison import comparison_text
from rubric_ci.comparison.compare import compare
from rubric_ci.model.results import CaseResult, Trial
from tests.sample_reports import a_report, errored, graded, skipped

FLIPPING = tuple(Trial(verdict=verdict, score=0.5) for verdict in ("pass", "fail"))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (graded("a", "pass"), graded("a", "fail"), "▼ regressed: pass 1.00 → fail 0.00"),
        (graded("a", "fail"), graded("a", "borderline"), "▲ improved: fail 0.00 → borderline 0.70"),
        (graded("a", "pass", score=0.9), graded("a", "pass", score=0.91), "same"),
        (graded("b", "pass"), graded("a", "pass"), "new"),
        (graded("a", "pass"), errored("a"), "was pass 1.00"),
        (errored("a"), errored("a"), ""),
        (graded("a", "pass"), skipped("a"), "was pass 1.00"),
        (graded("a", "pass"), graded("a", "pass", trials=FLIPPING), "same (flips)"),
        (
            graded("a", "pass", trials=FLIPPING),
            graded("a", "fail", trials=FLIPPING),
            "≈ flaky: pass 1.00 → fail 0.00",
        ),
    ],
    ids=[
        "regressed",
        "improved",
        "same",
        "new",
        "errored",
        "errored twice",
        "skipped",
        "flips",
        "flaky",
    ],
)
def test_case(before: CaseResult, after: CaseResult, shown: str) -> None:
    comparison = compare(a_report(after), a_report(before))
    assert comparison_text.by_case(comparison)["e.yaml", "a"] == shown


def test_the_whole() -> None:
    names = [f"c{n}" for n in range(12)]
    before = a_report(*(graded(name, "pass") for name in names), graded("left", "pass"))
    after = a_report(*(graded(name, "fail") for name in names))
    facts = "12 cases in both reports, 95 % interval -1.000 to -1.000, p = 0.000488"
    assert list(comparison_text.lines(compare(after, before))) == [
        "12 regressed, 1 gone",
        f"Mean score -1.000 ({facts}): significant",
        "Removed: `left`",
    ]


def test_a_mean_of_two_judges_is_not_comparable() -> None:
    after = a_report(graded("a", "fail"), graded("b", "fail"))
    before = a_report(graded("a", "pass"), graded("b", "pass"))
    moved = replace(compare(after, before), judge_moved="The judge moved", significant=False)
    assert list(comparison_text.lines(moved))[1] == (
        "Mean score -1.000 (2 cases in both reports, 95 % interval -1.000 to -1.000, p = 0.5): "
        "not comparable"
    )


def test_many_gone_are_counted() -> None:
    before = a_report(*(graded(f"c{n}", "pass") for n in range(12)))
    shown = list(comparison_text.lines(compare(a_report(), before)))
    assert shown[-1] == f"Removed: {', '.join(f'`c{n}`' for n in range(10))} and 2 more"


def test_nothing_to_compare() -> None:
    shown = list(comparison_text.lines(compare(a_report(), a_report())))
    assert shown == ["no case to compare"]
