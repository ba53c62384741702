"""The words about a base that all formats share."""

import pytest

from rubric_ci.model.report import Against, RemovedCase
from rubric_ci.render import base_wording, terminal
from tests.sample_reports import a_report, graded

BASE = Against(ref="main", commit="a" * 40, committed_at="2026-11-20T10:00:00+00:00")
CASES = [
    *(graded(f"bad{number}", change="broken") for number in range(12)),
    graded("same", "pass", change="unchanged"),
]
REPORT = a_report(*CASES, against=BASE, removed=(RemovedCase(file="e.yaml", id="gone"),))
LINES = [
    f"12 broken by this change: {', '.join(f'bad{number}' for number in range(10))} and 2 more",
    "1 unchanged",
    "1 removed: gone",
]


def test_a_line_per_class_names_the_first_cases() -> None:
    assert list(base_wording.class_lines(REPORT)) == LINES


def test_the_terminal_shows_a_line_per_class() -> None:
    text = terminal.render(REPORT, width=200, color=False)
    block = "\n  ".join(["Compared with the base: `aaaaaaaaaa` of 2026-11-20", *LINES])
    assert f"\n{block}\n" in text


def test_no_case_and_no_base() -> None:
    report = a_report(against=Against(ref="auto", commit=""))
    assert (base_wording.base(report), base_wording.counts(report)) == ("no base", "no case")
    assert base_wording.base(a_report()) == ""


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
    assert base_wording.commit(base, now) == shown


def test_no_base() -> None:
    assert base_wording.commit(Against(ref="auto", commit=""), "2026-11-20T09:00:00Z") == "no base"


def test_a_waived_case_is_named_as_waived() -> None:
    case = graded("known", waived=("c",), change="failing-before", without_waived="pass")
    report = a_report(case, against=BASE)
    title, cases = next(base_wording.listed(report))
    assert (title, cases) == ("1 failing before as well", [("known", "waived: because")])
