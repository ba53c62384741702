"""The filters above the list."""

import re

from tests.parts.formats import drawn
from tests.sample_reports import a_report, graded, skipped


def test_a_choice_for_each_outcome() -> None:
    text = drawn.part("filters.html", a_report(graded("a"), graded("b", "pass"), skipped("s")))
    assert re.findall(r'id="show-(\w+)"( checked)?> ([^<]+)<', text) == [
        ("all", " checked", "all 3"),
        ("pass", "", "1 passed"),
        ("fail", "", "1 failed"),
        ("skipped", "", "1 skipped"),
    ]


def test_without_cases_there_are_no_filters() -> None:
    assert drawn.part("filters.html", a_report()) == ""
