"""How one case differs from an earlier report: the separation of its trials, or its p-value."""

from dataclasses import replace

import pytest

from rubric_ci.gate.comparison import alarm_budget
from rubric_ci.gate.comparison.case_change import ChangeRules, change_of, changed
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.values.comparison import CaseKey, RegressionConfig
from rubric_ci.values.results import BaseResult, CaseResult, Graded, Trial
from rubric_ci.values.scoring import Verdict
from tests.sample_reports import errored, graded, skipped

FEW = ChangeRules(noun="baseline", config=RegressionConfig(tolerance=0.1))


def of_trials(*trials: tuple[Verdict, float]) -> Graded:
    """Return a case that counts as the middle one of its trials."""
    each = tuple(Trial(verdict=word, score=score) for word, score in trials)
    middle = sorted(each, key=lambda trial: trial.score)[len(each) // 2]
    return replace(graded("a", middle.verdict), score=middle.score, trials=each)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            of_trials(("pass", 0.9)), of_trials(("pass", 0.8)), "unchanged", id="at the tolerance"
        ),
        pytest.param(
            of_trials(("pass", 0.95)), of_trials(("pass", 0.84)), "broken", id="beyond it"
        ),
        pytest.param(
            of_trials(("pass", 0.84)), of_trials(("pass", 0.95)), "unchanged", id="a higher score"
        ),
        pytest.param(
            of_trials(("fail", 0.4)), of_trials(("fail", 0.55)), "failing-before", id="still fails"
        ),
        pytest.param(
            of_trials(("fail", 0.5)), of_trials(("borderline", 0.6)), "fixed", id="a better verdict"
        ),
        pytest.param(
            of_trials(("pass", 0.8), ("fail", 0.9), ("pass", 0.85)),
            of_trials(("fail", 0.7), ("fail", 0.75), ("fail", 0.72)),
            "broken",
            id="verdicts overlap, scores are apart by more than the tolerance",
        ),
        pytest.param(
            of_trials(("pass", 0.8), ("fail", 0.9), ("pass", 0.85)),
            of_trials(("fail", 0.74), ("fail", 0.76), ("fail", 0.75)),
            "flaky",
            id="verdicts overlap, scores are apart by the tolerance",
        ),
        pytest.param(
            of_trials(("pass", 0.9), ("pass", 0.7), ("pass", 0.8)),
            of_trials(("pass", 0.9), ("pass", 0.5), ("pass", 0.6)),
            "flaky",
            id="equal verdicts, scores overlap",
        ),
    ],
)
def test_few_trials_are_separated_or_not(before: Graded, after: Graded, expected: str) -> None:
    assert change_of(after, before, FEW).change == expected


def test_why_a_case_is_flaky() -> None:
    before, after = of_trials(("pass", 0.9), ("fail", 0.1), ("pass", 0.8)), of_trials(("fail", 0.5))
    assert change_of(after, before, FEW) == Compared(
        change="flaky", reason="differs by no more than its trials do"
    )


PASSED = of_trials(("pass", 1.0), ("pass", 1.0), ("pass", 1.0))
FAILED = of_trials(("fail", 0.0), ("fail", 0.0), ("fail", 0.0))
SEEN = "3 fail of 3 here, 3 pass of 3 in the reference (p = 0.01)"


@pytest.mark.parametrize(
    ("p_value", "undecided", "after", "expected"),
    [
        pytest.param(
            0.01,
            False,
            FAILED,
            Compared(change="broken", reason=f"confirmed: {SEEN}", suspected=True),
            id="a confirmed suspect",
        ),
        pytest.param(
            0.03,
            False,
            FAILED,
            Compared(
                change="flaky",
                reason=f"not confirmed: {SEEN}".replace("0.01", "0.03"),
                suspected=True,
            ),
            id="a suspect above the level",
        ),
        pytest.param(
            0.03,
            True,
            FAILED,
            Compared(
                change="flaky",
                reason=f"undecided, too few trials: {SEEN}".replace("0.01", "0.03"),
                suspected=True,
            ),
            id="a suspect with too few trials",
        ),
        pytest.param(
            None,
            False,
            FAILED,
            Compared(change="flaky", reason="lower, but by no more than its trials differ"),
            id="no suspect, and lower",
        ),
        pytest.param(None, False, PASSED, Compared(change="unchanged"), id="no suspect"),
    ],
)
def test_many_trials_have_a_p_value(
    p_value: float | None, undecided: bool, after: Graded, expected: Compared
) -> None:
    key = after.key
    tested = alarm_budget.Tested(
        level=0.025,
        p_values={} if p_value is None else {key: p_value},
        undecided=frozenset({key} if undecided else ()),
    )
    rules = ChangeRules(noun="reference", config=RegressionConfig(), tested=tested)
    assert change_of(after, PASSED, rules) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (
            frozenset[CaseKey](),
            Compared(change="flaky", reason=f"suspected in this night: {SEEN}", suspected=True),
        ),
        (
            frozenset({FAILED.key}),
            Compared(change="broken", reason=f"confirmed: {SEEN}", suspected=True),
        ),
    ],
    ids=["the first night", "the second night"],
)
def test_one_night_does_not_confirm_a_break(before: frozenset[CaseKey], expected: Compared) -> None:
    p_values = {FAILED.key: 0.01}
    tested = alarm_budget.Tested(
        level=0.025, p_values=p_values, undecided=frozenset(), before=before
    )
    rules = ChangeRules(noun="reference", config=RegressionConfig(), tested=tested)
    assert change_of(FAILED, PASSED, rules) == expected


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        (
            graded("a", "pass", answer="It was good."),
            BaseResult(
                outcome="graded", verdict="pass", score=1.0, answer="It was good.", source="report"
            ),
        ),
        (
            errored("a", "late"),
            BaseResult(outcome="errored", reason="late", source="report"),
        ),
        (skipped("a", "none"), BaseResult(outcome="skipped", reason="none", source="report")),
        (None, None),
    ],
    ids=["graded", "errored", "skipped", "new"],
)
def test_what_is_shown_of_the_case_before(
    before: CaseResult | None, shown: BaseResult | None
) -> None:
    found = changed(graded("a", "fail", answer="It is bad."), before, FEW)
    assert isinstance(found, Graded)
    assert found.before == shown
