"""Criteria and files of a report, grouped for its tables; bars are as long as their counts."""

from dataclasses import replace

from rubric_ci.parts.formats.groups import bar, criterion_groups, file_groups
from rubric_ci.values.usage import Usage
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded, skipped

MET = a_criterion("met", normalised=1.0, gated=False)
MISSED = a_criterion("missed")


def test_criteria_are_grouped_by_id_and_text() -> None:
    other = replace(MET, text="another")
    report = a_report(graded("a", "fail", MET, MISSED), graded("b", "pass", MET, other))
    groups = criterion_groups(report)
    assert [(g.id, g.text, g.cases, g.missed, g.mean) for g in groups] == [
        ("missed", "asked", 1, 1, 0.0),
        ("met", "asked", 2, 0, 1.0),
        ("met", "another", 1, 0, 1.0),
    ]


def test_a_criterion_that_does_not_count_is_not_missed() -> None:
    shown = a_rubric(MISSED, weight=0.0)
    [group] = criterion_groups(a_report(graded("a", "pass", evaluators=(shown,))))
    assert (group.cases, group.missed) == (1, 0)


def test_files_with_failing_cases_come_first() -> None:
    cost = Usage(calls=1, cost_usd=0.25)
    report = a_report(
        graded("a", "pass", file="a.yaml", usage=cost),
        skipped("b"),
        graded("c", "fail", file="z.yaml"),
        errored("d", file="a.yaml"),
    )
    groups = file_groups(report)
    assert [(g.file, dict(g.counts), g.mean, g.cost_usd) for g in groups] == [
        ("z.yaml", {"fail": 1}, 0.0, 0),
        ("a.yaml", {"pass": 1, "errored": 1}, 1.0, 0.25),
        ("e.yaml", {"skipped": 1}, None, 0),
    ]


def test_parts_of_the_bar() -> None:
    assert [*bar([("pass", 1_500, "passed"), ("fail", 500, "failed")])] == [
        ("pass", "0.00", "75.00", "1,500 passed"),
        ("fail", "75.00", "25.00", "500 failed"),
    ]
