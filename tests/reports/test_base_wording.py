"""The words about a base that all formats share."""

from rubric_ci.model.report import Against, RemovedCase
from rubric_ci.reports import base_wording, terminal
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
