"""Errored cases with the same reason: one line for all of them."""

from rubric_ci.render import markdown, terminal
from tests.sample_reports import a_report, errored

SIX = [errored(f"c{n}", "401: wrong *key*") for n in range(6)]
REPORT = a_report(*SIX, errored("other", "timeout"))


def test_markdown() -> None:
    text = markdown.render(REPORT)
    assert (
        "- **6 cases**: 401: wrong \\*key\\*<br>`c0` (line 3), `c1` (line 3), `c2` (line 3), "
        "`c3` (line 3), `c4` (line 3), `c5` (line 3)\n"
        "- `other` (line 3): timeout\n"
    ) in text


def test_terminal() -> None:
    text = terminal.render(REPORT, width=100, color=False)
    assert "! 6 cases: 401: wrong *key*\n  c0, c1, c2, c3, c4, c5\n\n" in text
    assert text.count("401: wrong *key*") == 1
    assert text.count("one of 6 cases with the same reason, see below") == 6
    assert "timeout" in text


def test_many() -> None:
    report = a_report(*[errored(f"c{n}", "401") for n in range(1300)])
    assert "`c9` (line 3) and 1,290 more\n" in markdown.render(report)
    assert "! 1,300 cases: 401\n  c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 1,290 more\n" in (
        terminal.render(report, width=100, color=False)
    )
