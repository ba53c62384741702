"""Errored cases with the same reason: one line for all of them."""

import re

from rubric_ci.reports.render import markdown, terminal
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
    lines = terminal.render(REPORT, width=100, color=False).splitlines()
    assert [re.split(r" *│ *", line)[1:5] for line in lines[3:6]] == [
        ["other", "-", "! errored", "timeout"],
        ["6 cases", "-", "! errored", "401: wrong *key*"],
        ["c0, c1, c2, c3, c4, c5", "", "", ""],
    ]
    assert "\n".join(lines).count("401: wrong *key*") == 1


def test_many() -> None:
    report = a_report(*[errored(f"c{n}", "401") for n in range(1300)])
    assert "`c9` (line 3) and 1,290 more\n" in markdown.render(report)
    text = terminal.render(report, width=100, color=False)
    assert "│ 1,300 cases" in text
    assert "and 1,290 more" in text
    assert "report files only" not in text
