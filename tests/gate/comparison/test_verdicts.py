"""How a case differs from the base, before and after its further trials."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.comparison import verdicts
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.values.comparison import Comparison, Drop, RegressionConfig
from rubric_ci.values.report import Against
from rubric_ci.values.results import AnswerSource, BaseResult, CaseResult, Errored, Graded, Trial
from rubric_ci.values.usage import Usage
from tests.sample_reports import errored, graded, skipped

PASS, BORDERLINE, FAIL = graded("a", "pass"), graded("a", "borderline"), graded("a", "fail")
CONFIG = RegressionConfig()


def with_trials(passes: int, fails: int) -> Graded:
    failed = Trial(verdict="fail", score=0.0)
    trials = (failed,) * fails + (Trial(verdict="pass", score=1.0),) * passes
    return replace(graded("a", "fail" if fails >= passes else "pass"), trials=trials)


@pytest.mark.parametrize(
    ("head", "base", "expected"),
    [
        (PASS, PASS, Compared(change="unchanged")),
        (BORDERLINE, BORDERLINE, Compared(change="unchanged")),
        (FAIL, FAIL, Compared(change="failing-before")),
        (PASS, FAIL, Compared(change="fixed", suspected=True)),
        (BORDERLINE, FAIL, Compared(change="fixed", suspected=True)),
        (FAIL, PASS, Compared(change="broken", suspected=True)),
        (BORDERLINE, PASS, Compared(change="broken", suspected=True)),
        (FAIL, BORDERLINE, Compared(change="broken", suspected=True)),
        (
            errored("a", "late"),
            PASS,
            Compared(change="not-comparable", reason="no verdict: late"),
        ),
        (
            FAIL,
            errored("a", "late"),
            Compared(change="not-comparable", reason="no verdict at the base: late"),
        ),
        (
            PASS,
            skipped("a", "no rubrics"),
            Compared(change="not-comparable", reason="not graded at the base: no rubrics"),
        ),
    ],
)
def test_before_further_trials(head: CaseResult, base: CaseResult, expected: Compared) -> None:
    assert verdicts.compare(head, base) == expected


@pytest.mark.parametrize(
    ("head", "base", "lost", "change", "reason"),
    [
        ((0, 3), (3, 0), 0, "broken", "confirmed: 3 fail of 3 here, 3 pass of 3 at the base"),
        (
            (1, 2),
            (3, 0),
            0,
            "unchanged",
            "not confirmed: 1 pass, 2 fail of 3 here, 3 pass of 3 at the base",
        ),
        (
            (0, 3),
            (1, 2),
            0,
            "failing-before",
            "not confirmed: 3 fail of 3 here, 1 pass, 2 fail of 3 at the base",
        ),
        ((0, 2), (2, 0), 1, "not-comparable", "suspected, and further trials gave no verdict: 429"),
        (
            (2, 1),
            (3, 0),
            1,
            "unchanged",
            "not confirmed: 2 pass, 1 fail of 3 here, 3 pass of 3 at the base",
        ),
    ],
)
def test_after_further_trials(
    head: tuple[int, int], base: tuple[int, int], lost: int, change: str, reason: str
) -> None:
    sides = with_trials(*head), with_trials(*base)
    found = verdicts.conclude("broken", *sides, counted=sides, level=0.05, lost=["429"] * lost)
    assert (found.change, found.reason, found.suspected) == (change, reason, True)


@pytest.mark.parametrize(
    ("head", "base", "lost", "change", "reason"),
    [
        ((3, 0), (0, 3), 0, "fixed", "confirmed: 3 pass of 3 here, 3 fail of 3 at the base"),
        (
            (2, 1),
            (0, 3),
            0,
            "unchanged",
            "not confirmed: 2 pass, 1 fail of 3 here, 3 fail of 3 at the base",
        ),
        ((2, 0), (0, 2), 1, "not-comparable", "suspected, and further trials gave no verdict: 429"),
    ],
)
def test_a_fix_is_confirmed_as_a_break_is(
    head: tuple[int, int], base: tuple[int, int], lost: int, change: str, reason: str
) -> None:
    sides = with_trials(*head), with_trials(*base)
    found = verdicts.conclude("fixed", *sides, counted=sides, level=0.05, lost=["429"] * lost)
    assert (found.change, found.reason, found.suspected) == (change, reason, True)


@pytest.mark.parametrize(
    ("worse", "same", "p_value"),
    [
        pytest.param(10, 0, 0.5**10, id="all are worse"),
        pytest.param(10, 9, 0.5**10, id="most are worse"),
        pytest.param(10, 190, 0.5**10, id="few are worse"),
        pytest.param(0, 10, 1.0, id="none is worse"),
    ],
)
def test_all_cases_are_tested_together(worse: int, same: int, p_value: float) -> None:
    pairs = [
        (replace(head, id=f"{head.verdict} {n}"), PASS)
        for head, count in ((FAIL, worse), (PASS, same))
        for n in range(count)
    ]
    assert verdicts.mean_p_value(pairs) == pytest.approx(p_value)


@pytest.mark.parametrize(("clusters", "may"), [(6, False), (7, True), (40, True)])
def test_seven_clusters_can_be_tested_together(clusters: int, *, may: bool) -> None:
    assert verdicts.may_decide_together(clusters, CONFIG) is may
    pairs = [(replace(FAIL, id=f"{n}"), PASS) for n in range(clusters)]
    assert (verdicts.drop_of(pairs, CONFIG) is not None) is may


@pytest.mark.parametrize(("worse", "most"), [(6, True), (5, False)])
def test_most_cases_are_more_than_half(worse: int, *, most: bool) -> None:
    pairs = [(FAIL if n < worse else PASS, PASS) for n in range(10)]
    assert verdicts.most_are_worse(pairs) is most


def test_a_drop_counts_cases_and_its_level_is_a_fifth_of_the_budget() -> None:
    heads = [FAIL] * 29 + [PASS] * 161 + [FAIL] * 10
    bases = [PASS] * 190 + [FAIL] * 10
    pairs = [
        (replace(head, id=f"{n}"), base)
        for n, (head, base) in enumerate(zip(heads, bases, strict=True))
    ]
    found = verdicts.drop_of(pairs, CONFIG)
    level = 0.05 * verdicts.MEAN_SHARE
    assert found == Drop(
        cases=200, fewer_pass=29, more_fail=29, level=level, p_value=0.5**29, confirmed=True
    )
    assert level == pytest.approx(0.01)
    assert verdicts.for_cases(CONFIG).false_alarms == pytest.approx(0.04)


def test_a_waived_failure_is_no_part_of_a_drop() -> None:
    waived = replace(FAIL, without_waived="pass")
    pairs = [(replace(waived, id=f"{n}"), PASS) for n in range(40)]
    assert verdicts.drop_of(pairs, CONFIG) is None
    borderline = replace(FAIL, without_waived="borderline")
    found = verdicts.drop_of([(replace(borderline, id=f"{n}"), PASS) for n in range(40)], CONFIG)
    assert found
    assert (found.more_fail, found.fewer_pass) == (0, 40)


def test_cases_of_one_cluster_are_one_difference() -> None:
    pairs = [(replace(FAIL, id=f"{n}", cluster="one"), PASS) for n in range(20)]
    assert verdicts.mean_p_value(pairs) == 0.5


@pytest.mark.parametrize(
    ("suspects", "trials", "level", "most"),
    [(1, 1, 0.05, 5), (2, 1, 0.025, 6), (40, 1, 0.00125, 9), (1, 3, 0.025, 4)],
)
def test_suspects_share_the_budget_of_false_alarms(
    suspects: int, trials: int, level: float, most: int
) -> None:
    assert verdicts.level_of(suspects, trials, CONFIG) == pytest.approx(level)
    assert verdicts.most_trials(suspects, trials, CONFIG) == most


def test_no_further_trials() -> None:
    assert verdicts.most_trials(1, 1, replace(CONFIG, further_trials=0)) == 0


FOUND = Compared(change="broken", reason="confirmed", suspected=True)
BEFORE = BaseResult(outcome="graded", verdict="pass", score=1.0)


@pytest.mark.parametrize("case", [FAIL, errored("a", "late")], ids=["graded", "errored"])
def test_a_case_keeps_how_it_differs(case: Graded | Errored) -> None:
    assert verdicts.changed(case, FOUND, BEFORE) == replace(
        case, change="broken", change_reason="confirmed", suspected=True, before=BEFORE
    )


def test_a_skipped_case_keeps_why_it_is_not_compared() -> None:
    assert verdicts.changed(skipped("a", "no rubrics"), FOUND, BEFORE) == replace(
        skipped("a", "no rubrics"), change="broken", change_reason="confirmed"
    )


ANSWERED: dict[str, Any] = {
    "answer": "Hello.",
    "answered_at": "2026-01-01T00:00:00Z",
    "usage": Usage(calls=2),
    "reason": "because",
}


@pytest.mark.parametrize(
    ("facts", "source"),
    [
        ({}, "asked"),
        ({"answer_reused": True}, "reused"),
        ({"recorded": True}, "recorded"),
    ],
)
def test_what_a_report_shows_of_the_base(facts: dict[str, Any], source: AnswerSource) -> None:
    trials = (Trial(verdict="pass", score=1.0), Trial(verdict="fail", score=0.0))
    base = graded("a", "pass", trials=trials, further_trials=1, **ANSWERED, **facts)
    assert verdicts.base_result(base) == BaseResult(
        outcome="graded",
        verdict="pass",
        score=1.0,
        source=source,
        trials=trials,
        further_trials=1,
        evaluators=base.evaluators,
        **ANSWERED,
    )


def test_what_a_report_shows_of_a_base_without_verdict() -> None:
    late = errored("a", **{**ANSWERED, "reason": "late"})
    assert verdicts.base_result(late) == BaseResult(
        outcome="errored", **{**ANSWERED, "reason": "late"}
    )
    assert verdicts.base_result(skipped("a", "none")) == BaseResult(
        outcome="skipped", reason="none"
    )


NOTHING_BEFORE = BaseResult(outcome="errored", reason="late")


@pytest.mark.parametrize(
    ("cases", "paired", "regressed"),
    [
        ((replace(FAIL, change="broken", before=BEFORE),), 1, True),
        ((replace(PASS, change="unchanged", before=BEFORE),), 1, False),
        ((replace(PASS, change="not-comparable", before=NOTHING_BEFORE),), 0, False),
        ((replace(FAIL, change="new"), errored("b", before=BEFORE)), 0, False),
    ],
    ids=["broken", "unchanged", "no verdict before", "new and errored"],
)
def test_the_comparison_with_a_commit(
    cases: tuple[CaseResult, ...], paired: int, *, regressed: bool
) -> None:
    against = Against(ref="main", commit="1" * 40)
    assert verdicts.of_commit(against, cases) == Comparison(
        source="commit", ref="main", commit="1" * 40, paired=paired, regressed=regressed
    )


def test_each_verdict_of_the_trials_is_counted() -> None:
    trials = tuple(Trial(verdict=word, score=0.5) for word in ("fail", "borderline", "pass"))
    several = replace(PASS, trials=trials)
    assert verdicts.seen(several, PASS, "at the base") == (
        "1 pass, 1 borderline, 1 fail of 3 here, 1 pass of 1 at the base"
    )


@pytest.mark.parametrize(
    ("head", "base", "suspect"),
    [
        (FAIL, PASS, True),
        (PASS, PASS, False),
        (PASS, FAIL, False),
        (FAIL, errored("a"), False),
        (errored("a"), PASS, False),
    ],
)
def test_a_suspect_has_a_worse_verdict(
    head: CaseResult, base: CaseResult, *, suspect: bool
) -> None:
    assert verdicts.is_suspect(head, base) is suspect


def test_a_case_that_is_the_same_is_no_suspect() -> None:
    assert not verdicts.same(PASS).suspected


def test_the_worst_further_trials_are_below_every_verdict() -> None:
    """Only complete separation has the p-value 1 / C(10, 5)."""
    borderline = replace(PASS, verdict="borderline", score=0.7)
    assert verdicts.may_be_broken(FAIL, borderline, 1 / 252, (4, 4))
    assert not verdicts.may_be_broken(PASS, PASS, 1 / 252, (4, 4))


def test_cases_of_two_files_are_two_differences() -> None:
    pairs = [(replace(FAIL, file=f"{n}"), PASS) for n in range(3)]
    assert verdicts.mean_p_value(pairs) == 0.5**3


@pytest.mark.parametrize(
    ("fixed", "p_value"), [(1, 12 / 32), (2, 1.0)], ids=["lower", "as high as before"]
)
def test_the_mean_verdict_must_be_lower(fixed: int, p_value: float) -> None:
    """Four cases are worse by one tier; each fixed case is better by two."""
    borderline = replace(PASS, verdict="borderline", score=0.7)
    pairs = [(replace(borderline, id=f"{n}"), PASS) for n in range(4)]
    pairs += [(replace(PASS, id=f"fixed {n}"), FAIL) for n in range(fixed)]
    assert verdicts.mean_p_value(pairs) == p_value
