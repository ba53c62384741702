"""The rule for one case: how often it is asked again, and when it is broken.

A case whose verdict is worse than before is asked again until each side has k + 1 graded answers,
fewer as soon as the rest cannot change the outcome. With V the verdict before in the first round,
an answer holds if its verdict is V or better, else it falls. The case is broken if all but at most
one of its answers fall here, and all but at most one held before. `docs/compare.md` says it for
users, `benchmarks/against` measures it.
"""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import Answers, Graded, Trial
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.trials import first_result, tier, trials_of

KEPT: Final = 5  # answers that nights and default branches keep: then one may dissent
_STEPS: Final = ((30, 5), (100, 6), (300, 7), (1000, 8))
_MANY: Final = 9
_SOME: Final = 3  # kept answers, from which on one answer here may dissent

Found: TypeAlias = Literal["broken", "not-confirmed", "open"]
"""`open`: a side has too few answers."""


def times(rows: int) -> int:
    """Return how often a case is asked again (k), by the compared rows of the whole selection."""
    return next((k for most, k in _STEPS if rows <= most), _MANY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """How many graded answers a side needs, and how many of them may dissent."""

    answers: int
    dissents: int

    def is_met(self, answers: int, dissents: int) -> bool:
        """Return True if these answers meet it, even if each that is missing would dissent."""
        return dissents + max(0, self.answers - answers) <= self.dissents


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The needs of both sides."""

    here: Need
    before: Need


def needs(k: int, kept: int | None = None) -> Needs:
    """Return the needs of a suspect; `kept`: answers of a side that cannot be asked, else None."""
    both = Need(answers=k + 1, dissents=1)
    if kept is None:
        return Needs(here=both, before=both)
    here = both if kept >= _SOME else Need(answers=2 * k, dissents=0)
    return Needs(here=here, before=_as_kept(kept))


def as_they_are(here: int, before: int) -> Needs:
    """Return the needs of a suspect that no side can be asked about: the answers that there are."""
    dissents = int(here >= KEPT and before >= _SOME)
    return Needs(here=Need(answers=here, dissents=dissents), before=_as_kept(before))


def _as_kept(answers: int) -> Need:
    return Need(answers=answers, dissents=int(answers >= KEPT))


def verdict_of(trial: Trial | Graded) -> Verdict:
    """Return the verdict that is compared: without the criteria that are waived."""
    return trial.without_waived or trial.verdict


def is_suspect(here: Graded, before: Graded) -> bool:
    """Return True if the verdict of the first round is worse than before."""
    return tier(verdict_of(first_result(here))) < tier(verdict_of(before))


def held(case: Graded, first: Verdict) -> list[bool]:
    """Return for each answer of a case whether it holds: its verdict is `first` or better."""
    return [tier(verdict_of(trial)) >= tier(first) for trial in trials_of(case)]


def counts(case: Graded, first: Verdict) -> Answers:
    passed = sum(verdict_of(trial) == "pass" for trial in trials_of(case))
    each = held(case, first)
    return Answers(asked=len(each), passed=passed, held=sum(each))


def find(here: Sequence[bool], before: Sequence[bool], need: Needs) -> Found:
    """Return what the answers of both sides, each holds or falls, make of a suspect.

    It is not confirmed as soon as too many answers dissent, and broken as soon as those that are
    missing could not change it.
    """
    fell, stood = len(before) - sum(before), sum(here)
    if stood > need.here.dissents or fell > need.before.dissents:
        return "not-confirmed"
    met = need.here.is_met(len(here), stood) and need.before.is_met(len(before), fell)
    return "broken" if met else "open"
