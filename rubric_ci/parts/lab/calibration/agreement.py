"""Inter-rater agreement: accuracy, κ with a confidence interval, rates, leniency, flips."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import fsum
from typing import TypeAlias

from rubric_ci.parts.lab.calibration.kappa import (
    DRAWS,
    DrawGamma,
    Pair,
    Position,
    by_criterion,
    interval,
    kappa,
)
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.rubric import Check, Chosen, Judged, Mark, is_fault
from rubric_ci.values.scoring import CANNOT_ASSESS, NOT_APPLICABLE, MarkValue

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


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkPair(Pair):
    """Two raters' marks, with the values that they gave."""

    reference: MarkValue
    other: MarkValue
    lenience: float = 0.0  # the value of the other mark less that of the reference
    fault: bool = False  # the criterion names one, so that a mark of true is present


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement over all pairs; a number that is undefined for them is None.

    Each pair counts with its weight, except in `n` and `confusion`.
    """

    n: int
    accuracy: float  # the share of identical marks
    kappa: float | None  # None: both raters gave the same mark of a criterion everywhere
    interval: tuple[float, float] | None = None  # 95 %, of κ
    rates: CheckRates  # of checklist criteria
    leniency: float  # mean of other - reference, in -1..1; above 0: the other is more lenient
    confusion: Mapping[tuple[str, str], int]  # (reference, other) -> count
    lone_criteria: int  # criteria marked in one answer only: they cannot raise κ


def pair(
    criterion: Judged,
    answer: str,
    reference: MarkValue,
    other: MarkValue,
    *,
    name: str = "",
    case: str = "",
    weight: float = 1.0,
) -> MarkPair:
    """Return two marks with their normalised values.

    `name` is unique to the criterion; without `case`, the answer is the only one of its case.
    """
    worth = [criterion.normalise(Mark(value=value)) for value in (reference, other)]
    return MarkPair(
        criterion=name or criterion.id,
        kind=criterion.kind,
        fault=is_fault(criterion),
        answer=answer,
        case=case or answer,
        weight=weight,
        cell=(position(criterion, reference), position(criterion, other)),
        reference=reference,
        other=other,
        lenience=worth[1] - worth[0],
    )


def position(criterion: Judged, value: MarkValue) -> Position:
    """Return the normalised value of a mark, a choice itself, or None for `cannot_assess`."""
    if value == CANNOT_ASSESS:
        return None
    if isinstance(criterion, Chosen) or value == NOT_APPLICABLE:
        return str(value)
    return criterion.normalise(Mark(value=value))


def agreement(
    pairs: Sequence[MarkPair], draw: DrawGamma | None = None, draws: int = DRAWS
) -> Agreement:
    """Return the agreement of one or more pairs; without `draw` it has no interval."""
    total = fsum(p.weight for p in pairs)
    checks = [(p.reference, p.other, p.weight) for p in pairs if p.kind == Check.kind]
    return Agreement(
        n=len(pairs),
        accuracy=fsum(p.weight * (p.reference == p.other) for p in pairs) / total,
        kappa=kappa(pairs),
        interval=interval(pairs, draw, draws) if draw else None,
        rates=check_rates(checks),
        leniency=fsum(p.weight * p.lenience for p in pairs) / total,
        confusion=dict(Counter(map(_in_words, pairs))),
        lone_criteria=sum(len({p.answer for p in group}) == 1 for group in by_criterion(pairs)),
    )


def self_agreement(votes: Sequence[Sequence[MarkValue]]) -> float | None:
    """Return the share of equal pairs among repeated votes; None if there is one vote each."""
    equal = [a == b for panel in votes for a, b in combinations(panel, 2)]
    return fsum(equal) / len(equal) if equal else None


def flips(votes: Sequence[Sequence[MarkValue]]) -> float | None:
    """Return the share of repeated votes that differ; None if there is one vote each."""
    repeated = [panel for panel in votes if len(panel) > 1]
    return fsum(len(set(panel)) > 1 for panel in repeated) / len(repeated) if repeated else None


def mark_text(value: MarkValue, *, fault: bool = False) -> str:
    """Return a mark as reports and label files write it."""
    if isinstance(value, bool):
        yes = "present" if fault else "satisfied"
        return yes if value else f"not {yes}"
    return str(value)


def _in_words(pair: MarkPair) -> tuple[str, str]:
    return mark_text(pair.reference, fault=pair.fault), mark_text(pair.other, fault=pair.fault)
