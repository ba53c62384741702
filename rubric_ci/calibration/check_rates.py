"""Sensitivity, specificity and macro-F1 of a judge's marks of checklist criteria."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from rubric_ci.model.mark_value import MarkValue


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRates:
    """Shares of marks that the judge gives as the person does; None: there are no such marks."""

    sensitivity: float | None  # of the person's "satisfied"
    specificity: float | None  # of the person's "not satisfied"
    macro_f1: float | None  # mean F1 over the marks that either of them gave


NO_RATES = CheckRates(sensitivity=None, specificity=None, macro_f1=None)


def check_rates(marks: Sequence[tuple[MarkValue, MarkValue]]) -> CheckRates:
    """Return the rates of (person, judge) pairs of checklist marks."""
    if not marks:
        return NO_RATES
    given = dict.fromkeys(mark for pair in marks for mark in pair)
    return CheckRates(
        sensitivity=_recall(marks, mark=True),
        specificity=_recall(marks, mark=False),
        macro_f1=fsum(_f1(marks, mark) for mark in given) / len(given),
    )


def _recall(marks: Sequence[tuple[MarkValue, MarkValue]], *, mark: MarkValue) -> float | None:
    judged = [judge for person, judge in marks if person == mark]
    return judged.count(mark) / len(judged) if judged else None


def _f1(marks: Sequence[tuple[MarkValue, MarkValue]], mark: MarkValue) -> float:
    both = sum(person == judge == mark for person, judge in marks)
    either = sum((person == mark) + (judge == mark) for person, judge in marks)
    return 2 * both / either
