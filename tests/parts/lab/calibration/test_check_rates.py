"""Sensitivity, specificity and macro-F1."""

from dataclasses import replace

import pytest

from rubric_ci.parts.lab.calibration.agreement import NO_RATES, CheckRates, check_rates
from rubric_ci.values.scoring import MarkValue

NO_GROUND = "cannot_assess"


@pytest.mark.parametrize(("marks", "expected"), [
    pytest.param([], NO_RATES, id="no checks"),
    pytest.param(
        [(True, True)] * 3, CheckRates(sensitivity=1.0, specificity=None, macro_f1=1.0),
        id="the person never says no",
    ),
    pytest.param(
        [(True, True), (True, False), (False, True), (False, False), (False, False)],
        CheckRates(sensitivity=0.5, specificity=2 / 3, macro_f1=7 / 12), id="both err",
    ),
    pytest.param(
        [(True, NO_GROUND), (True, True), (NO_GROUND, NO_GROUND)],
        CheckRates(sensitivity=0.5, specificity=None, macro_f1=2 / 3),
        id="cannot_assess is not the person's mark",
    ),
])  # fmt: skip
def test_rates(marks: list[tuple[MarkValue, MarkValue]], expected: CheckRates) -> None:
    found = check_rates([(*pair, 1.0) for pair in marks])
    assert found.macro_f1 == (expected.macro_f1 and pytest.approx(expected.macro_f1))
    assert replace(found, macro_f1=expected.macro_f1) == expected


def test_an_answer_counts_as_often_as_it_stands_for() -> None:
    marks: list[tuple[MarkValue, MarkValue]] = [(True, True), (True, False), (False, False)]
    weights = (3, 1, 2)
    weighed = [(*pair, float(n)) for pair, n in zip(marks, weights, strict=True)]
    repeated = [(*pair, 1.0) for pair, n in zip(marks, weights, strict=True) for _ in range(n)]
    assert check_rates(weighed) == check_rates(repeated)
