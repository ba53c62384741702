"""The overview: verdict first, then three cards."""

from tests.parts.formats import drawn
from tests.sample_reports import a_report, skipped


def test_without_a_graded_case_there_are_no_scores() -> None:
    assert "Mean score" not in drawn.part("overview.html", a_report(skipped("a")))
    assert "0 cases" in drawn.part("overview.html", a_report())
