"""The words about a comparison that all formats share."""

from dataclasses import replace

import pytest

from rubric_ci.comparison import wording
from rubric_ci.model.report import Against, RemovedCase
from rubric_ci.model.results import CaseResult, Trial
from rubric_ci.render import terminal
from tests.compared import compared, whole
from tests.sample_reports import a_report, errored, graded, skipped

BASE = Against(ref="main", commit="a" * 40, committed_at="2026-11-20T10:00:00+00:00")
CASES = [
    *(graded(f"bad{number}", change="broken") for number in range(12)),
    graded("same", "pass", change="unchanged"),
]
REPORT = a_report(*CASES, against=BASE, removed=(RemovedCase(file="e.yaml", id="gone"),))
LINES = [
    f"12 broken: {', '.join(f'bad{number}' for number in range(10))} and 2 more",
    "1 unchanged",
    "1 removed: gone",
]


def test_a_line_per_class_names_the_first_cases() -> None:
    assert list(wording.kind_lines(REPORT)) == LINES


def test_the_terminal_shows_a_line_per_class() -> None:
    text = terminal.render(REPORT, width=200, color=False)
    block = "\n  ".join(["Compared with the base: `aaaaaaaaaa` of 2026-11-20", *LINES])
    assert f"\n{block}\n" in text


def test_no_case_and_no_base() -> None:
    report = a_report(against=Against(ref="auto", commit=""))
    assert (wording.source(report), wording.counts(report)) == ("no base", "no case to compare")
    assert wording.source(a_report()) == ""


@pytest.mark.parametrize(
    ("now", "shown"),
    [
        ("2026-11-22T10:00:00+00:00", "`abc1234567` of 2026-11-20, 2 days old"),
        ("2026-11-21T10:00:00Z", "`abc1234567` of 2026-11-20, 1 day old"),
        ("2026-11-20T12:00:00Z", "`abc1234567` of 2026-11-20, less than a day old"),
        ("2026-11-20T01:00:00Z", "`abc1234567` of 2026-11-20"),
        ("not a time", "`abc1234567` of 2026-11-20"),
        ("2026-11-22T10:00:00", "`abc1234567` of 2026-11-20"),
    ],
)
def test_the_age_of_the_base(now: str, shown: str) -> None:
    base = Against(ref="auto", commit="abc1234567890", committed_at="2026-11-20T09:00:00+00:00")
    assert wording.commit(base, now) == shown


def test_no_base() -> None:
    assert wording.commit(Against(ref="auto", commit=""), "2026-11-20T09:00:00Z") == "no base"


def test_a_waived_case_is_named_as_waived() -> None:
    case = graded("known", waived=("c",), change="failing-before", without_waived="pass")
    report = a_report(case, against=BASE)
    title, cases = next(wording.listed(report))
    assert (title, cases) == ("1 failing before as well", [("known", "waived: because")])


FLIPPING = tuple(Trial(verdict=verdict, score=0.5) for verdict in ("pass", "fail"))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (graded("a", "pass"), graded("a", "fail"), "▼ broken: pass 1.00 → fail 0.00"),
        (graded("a", "fail"), graded("a", "borderline"), "▲ fixed: fail 0.00 → borderline 0.70"),
        (
            graded("a", "pass", score=0.9),
            graded("a", "pass", score=0.91),
            "unchanged: pass 0.90 → pass 0.91",
        ),
        (graded("b", "pass"), graded("a", "pass"), "new"),
        (graded("a", "pass"), errored("a"), "not comparable"),
        (errored("a"), errored("a"), "not comparable"),
        (graded("a", "pass"), skipped("a"), "not comparable"),
        (graded("a", "pass"), graded("a", "pass", trials=FLIPPING), "unchanged"),
        (
            graded("a", "pass", trials=FLIPPING),
            graded("a", "fail", trials=FLIPPING),
            "≈ flaky: pass 1.00 → fail 0.00",
        ),
    ],
    ids=[
        "broken",
        "fixed",
        "unchanged",
        "new",
        "errored",
        "errored twice",
        "skipped",
        "flips",
        "flaky",
    ],
)
def test_case(before: CaseResult, after: CaseResult, shown: str) -> None:
    (case,) = compared(a_report(after), a_report(before)).cases
    assert wording.in_words(case) == shown


def test_the_whole() -> None:
    names = [f"c{n}" for n in range(12)]
    before = a_report(*(graded(name, "pass") for name in names), graded("left", "pass"))
    after = a_report(*(graded(name, "fail") for name in names))
    facts = "12 cases in both reports, p = 0.000488"
    assert list(wording.lines(compared(after, before))) == [
        "12 broken, 1 removed",
        f"Mean score -1.000 ({facts}): significant",
        "Removed: `left`",
    ]


def test_a_mean_of_two_judges_is_not_comparable() -> None:
    after = a_report(graded("a", "fail"), graded("b", "fail"))
    before = a_report(graded("a", "pass"), graded("b", "pass"))
    found = compared(after, before)
    moved = replace(whole(found), judge_moved="The judge moved", significant=False)
    assert list(wording.lines(replace(found, comparison=moved)))[1] == (
        "Mean score -1.000 (2 cases in both reports, p = 0.5): not comparable"
    )


def test_many_removed_are_counted() -> None:
    before = a_report(*(graded(f"c{n}", "pass") for n in range(12)))
    shown = list(wording.lines(compared(a_report(), before)))
    assert shown[-1] == f"Removed: {', '.join(f'`c{n}`' for n in range(10))} and 2 more"


def test_nothing_to_compare() -> None:
    shown = list(wording.lines(compared(a_report(), a_report())))
    assert shown == ["no case to compare"]
