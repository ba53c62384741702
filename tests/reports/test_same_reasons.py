"""Errored cases with the same reason: one row for all of them."""

from rubric_ci.reports import markdown, terminal
from tests.sample_reports import a_report, errored

SIX = [errored(f"c{n}", "401: wrong *key*") for n in range(6)]
REPORT = a_report(*SIX, errored("other", "timeout"))


def test_markdown() -> None:
    assert (
        "| ⚠️ | 6 cases: c0, c1, c2, c3, c4, c5 |  | 401: wrong \\*key\\* |\n"
        "| ⚠️ | **other** |  | timeout |\n"
    ) in markdown.render(REPORT)


def test_terminal() -> None:
    text = terminal.render(REPORT, width=100, color=False)
    assert text.count("│ 401: wrong *key*") == 1
    assert "│ ! │ 6 cases: c0, c1, c2, c3, c4, c5 │" in text


def test_many() -> None:
    report = a_report(*[errored(f"c{n}", "401") for n in range(1300)])
    names = "c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 1,290 more"
    assert f"| ⚠️ | 1,300 cases: {names} |  | 401 |\n" in markdown.render(report)
