"""Sensitivity, specificity and macro-F1 of a judge's marks of checklist criteria."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import TypeAlias

from rubric_ci.model.mark_value import MarkValue

Weighed: TypeAlias = tuple[MarkValue, MarkValue, float]
"""The marks of person and judge, and the number of answers that the answer stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRates:
    """Shares of marks that the judge gives as the person does; None: there are no such marks."""

    sensitivity: float | None  # of the person's "satisfied"
    specificity: float | None  # of the person's "not satisfied"
    macro_f1: float | None  # mean F1 over the marks that either of them gave


NO_RATES = CheckRates(sensitivity=None, specificity=None, macro_f1=None)


def check_rates(marks: Sequence[Weighed]) -> CheckRates:
    """Return the rates of the marks of checklist criteria."""
    if not marks:
        return NO_RATES
    given = dict.fromkeys(mark for person, judge, _ in marks for mark in (person, judge))
    return CheckRates(
        sensitivity=_recall(marks, mark=True),
        specificity=_recall(marks, mark=False),
        macro_f1=fsum(_f1(marks, mark) for mark in given) / len(given),
    )


def _recall(marks: Sequence[Weighed], *, mark: MarkValue) -> float | None:
    judged = [(judge, weight) for person, judge, weight in marks if person == mark]
    found = fsum(weight for judge, weight in judged if judge == mark)
    return found / fsum(weight for _, weight in judged) if judged else None


def _f1(marks: Sequence[Weighed], mark: MarkValue) -> float:
    both = fsum(weight for person, judge, weight in marks if person == judge == mark)
    either = fsum(w * ((person == mark) + (judge == mark)) for person, judge, w in marks)
    return 2 * both / either
