"""The rule for one case."""

from typing import Any

import pytest

from rubric_ci.gate.comparison import rule
from rubric_ci.gate.comparison.rule import Need, Needs
from rubric_ci.values.comparison import Together
from rubric_ci.values.report import Against, RunReport
from rubric_ci.values.results import Answers, BaseResult, Trial
from tests.sample_reports import a_report, graded


@pytest.mark.parametrize(
    ("rows", "times"),
    [(1, 5), (30, 5), (31, 6), (100, 6), (101, 7), (300, 7), (301, 8), (1000, 8), (1001, 9)],
)
def test_how_often_a_suspect_is_asked_again(rows: int, times: int) -> None:
    assert rule.times(rows) == times


@pytest.mark.parametrize(
    ("kept", "here", "before"),
    [
        (None, (6, 1), (6, 1)),
        (15, (6, 1), (15, 1)),
        (5, (6, 1), (5, 1)),
        (4, (6, 1), (4, 0)),
        (3, (6, 1), (3, 0)),
        (2, (10, 0), (2, 0)),
        (1, (10, 0), (1, 0)),
    ],
)
def test_what_sides_need(kept: int | None, here: tuple[int, int], before: tuple[int, int]) -> None:
    found = rule.needs(5, kept)
    assert (found.here.answers, found.here.dissents) == here
    assert (found.before.answers, found.before.dissents) == before


@pytest.mark.parametrize(
    ("here", "before", "dissents"),
    [(1, 1, (0, 0)), (6, 1, (0, 0)), (6, 3, (1, 0)), (4, 3, (0, 0)), (5, 5, (1, 1))],
)
def test_answers_as_they_are(here: int, before: int, dissents: tuple[int, int]) -> None:
    found = rule.as_they_are(here, before)
    assert (found.here.answers, found.before.answers) == (here, before)
    assert (found.here.dissents, found.before.dissents) == dissents


BOTH = rule.needs(5)
CASES = {
    "every answer": ("000000", "111111", "broken"),
    "one dissents on each side": ("000100", "111011", "broken"),
    "two hold here": ("000110", "111111", "not-confirmed"),
    "two fell before": ("000000", "111001", "not-confirmed"),
    "not yet": ("0000", "11111", "open"),
    "the last may dissent": ("00000", "11111", "broken"),
    "one dissents, and the last may": ("00010", "11111", "open"),
    "one side is complete": ("000000", "1111", "open"),
    "two hold, whatever the others are": ("011", "1", "not-confirmed"),
    "two fell before, whatever the others are": ("0", "100", "not-confirmed"),
    "trials are answers": ("0" * 9, "1" * 9, "broken"),
}


@pytest.mark.parametrize(("here", "before", "found"), CASES.values(), ids=CASES)
def test_the_rule(here: str, before: str, found: str) -> None:
    now, then = ([each == "1" for each in side] for side in (here, before))
    assert rule.find(now, then, BOTH) == found


def test_no_answer_may_hold_where_one_is_kept() -> None:
    need = rule.needs(5, 1)
    assert rule.find([False] * 10, [True], need) == "broken"
    assert rule.find([*[False] * 9, True], [True], need) == "not-confirmed"
    assert need == Needs(here=Need(answers=10, dissents=0), before=Need(answers=1, dissents=0))


def test_an_answer_holds_with_the_verdict_of_before_or_a_better_one() -> None:
    trials = tuple(
        Trial(verdict=each, score=0.7 if each == "borderline" else float(each == "pass"))
        for each in ("pass", "borderline", "fail")
    )
    case = graded("a", "borderline", trials=trials)
    assert rule.held(case, "pass") == [True, False, False]
    assert rule.held(case, "borderline") == [True, True, False]
    assert rule.counts(case, "borderline") == Answers(asked=3, passed=1, held=2)


def test_waived_criteria_do_not_count() -> None:
    waived = graded("a", "fail", without_waived="pass")
    assert not rule.is_suspect(waived, graded("a", "pass"))
    assert rule.is_suspect(graded("a", "fail"), waived)
    assert rule.is_suspect(graded("a", "borderline"), graded("a", "pass"))


def merged(cases: int, worse: int, **sums: Any) -> RunReport:
    """Return a report in which some cases fell, and were not confirmed."""
    before = BaseResult(outcome="graded", verdict="pass", score=1.0)
    results = [
        graded(
            f"c{n}", "fail" if n < worse else "pass", before=before, change="unchanged", line=n + 1
        )
        for n in range(cases)
    ]
    return a_report(*results, against=Against(ref="main", commit="a" * 40, **sums))


SHARD = Together(cases=100, clusters=100, fewer_pass=9, more_fail=9, p_value=0.004, worse=True)


@pytest.mark.parametrize(
    ("report", "found"),
    [
        (merged(99, 20), None),
        (merged(120, 0), (0, False, "")),
        (merged(120, 20), (20, False, "a merge of shards asks nothing")),
        (merged(120, 20, together=SHARD), (9, True, "")),
    ],
    ids=["too few", "quiet", "only all shards show it", "a shard asked the base again"],
)
def test_all_shards_are_tested(report: RunReport, found: tuple[int, bool, str] | None) -> None:
    against = rule.with_all_shards(report).against
    assert against
    every = against.together
    assert (every and (every.more_fail, every.worse, every.problem)) == found
