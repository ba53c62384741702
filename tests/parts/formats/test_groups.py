"""Criteria and files of a report, grouped for its tables; bars are as long as their counts."""

import re
from dataclasses import replace

import pytest

from rubric_ci.parts.formats.groups import bar, bin_of, criterion_groups, file_groups, histogram
from rubric_ci.values.usage import Usage
from tests.parts.formats import drawn
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
    text = drawn.macro(
        "parts.html", "chart", bar([("pass", 1_500, "passed"), ("fail", 500, "failed")])
    )
    assert 'aria-label="1,500 passed, 500 failed"' in text
    assert re.findall(r'class="(\w+)" x="(\S+)" y="0.00" width="(\S+)"', text) == [
        ("pass", "0.00", "75.00"),
        ("fail", "75.00", "25.00"),
    ]


def test_columns_of_the_histogram_are_stacked_by_verdict() -> None:
    cases = [graded("a", "pass"), graded("b", "fail", score=1.0), graded("c", "fail", score=0.33)]
    text = drawn.macro("parts.html", "chart", histogram(cases))
    assert 'aria-label="scores of 3 cases from 0 to 1"' in text
    assert re.findall(
        r'class="(\w+)" x="(\S+)" y="(\S+)" .*? height="(\S+)"><title>(.*?)<', text
    ) == [
        ("fail", "6.06", "50.00", "50.00", "0.30 to 0.35: 1 case, fail"),
        ("pass", "19.06", "50.00", "50.00", "0.95 to 1.00: 1 case, pass"),
        ("fail", "19.06", "0.00", "50.00", "0.95 to 1.00: 1 case, fail"),
    ]


@pytest.mark.parametrize(
    ("score", "position"),
    [(0.0, 0), (0.049, 0), (0.05, 1), (0.15, 3), (0.3, 6), (0.7, 14), (1.0, 19)],
)
def test_bins(score: float, position: int) -> None:
    assert bin_of(score) == position
