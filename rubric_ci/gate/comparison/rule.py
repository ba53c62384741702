"""When a case is broken and how often it is asked again, and when all cases together are worse.

A case whose verdict is worse than before is asked again until each side has k + 1 graded answers,
fewer as soon as the rest cannot change the outcome. With V the verdict before in the first round,
an answer holds if its verdict is V or better, else it falls. The case is broken if all but at most
one of its answers fall here, and all but at most one held before. `docs/compare.md` says it for
users, `benchmarks/against` measures it.

A drop that is spread over many cases shows in none of them. From 100 independent clusters on, the
signs of the clusters' differences in verdict are flipped at random, 10,000 times: without a change
for the worse each sign is as likely. Fewer clusters are not tested: asking single cases again finds
as much there.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import shake_256
from math import lcm
from typing import Final, Literal, TypeAlias

from rubric_ci.values.comparison import OF_SHARDS, Together
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import gating
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import (
    Answers,
    BaseResult,
    CaseResult,
    Graded,
    Trial,
    own_id,
    with_verdict,
)
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.trials import first_result, first_trials, tier, trials_of

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


LEAST_CLUSTERS: Final = 100  # clusters
LEVEL: Final = 0.01  # of the test
FLIPS: Final = 10_000
SEED: Final = b"rubric-ci"

Pair: TypeAlias = tuple[Graded, Graded]
"""The same case here and before."""


def find_together(pairs: Sequence[Pair]) -> Together | None:
    """Return the test of all cases together; None: they are too few clusters."""
    differences = _by_cluster(pairs)
    if len(differences) < LEAST_CLUSTERS:
        return None
    worse, p_value = is_worse_together(pairs)
    return Together(
        cases=len(pairs),
        clusters=len(differences),
        fewer_pass=-_more("pass", pairs),
        more_fail=_more("fail", pairs),
        p_value=p_value,
        worse=worse,
    )


def with_all_shards(merged: RunReport) -> RunReport:
    """Return merged shards with the test of all their cases: each may have had too few for one.

    A merge asks nothing, so that a drop that only the whole suite shows is undecided.
    """
    found = find_together(_with_before(gating(merged.cases, merged.gate)))
    shard = merged.against.together if merged.against else None  # the worst one
    if merged.against is None or found is None or (shard and (shard.worse or shard.problem)):
        return merged
    every = replace(found, worse=False, problem=OF_SHARDS) if found.worse else found
    return replace(merged, against=replace(merged.against, together=every))


def _with_before(cases: Sequence[CaseResult]) -> list[Pair]:
    """Return the cases that the base answered by itself, each with its result there."""
    return [
        (case, _as_before(case, before, before.verdict, before.score))
        for case in with_verdict(cases)
        if (before := case.before) and case.change not in {"new", "not-comparable"}
        if before.verdict is not None and before.score is not None
        if before.source != "shared" and not case.waived
    ]


def _as_before(case: Graded, before: BaseResult, verdict: Verdict, score: float) -> Graded:
    return replace(
        case,
        verdict=verdict,
        score=score,
        without_waived=None,
        trials=before.trials,
        further_trials=before.further_trials,
    )


def is_worse_together(pairs: Sequence[Pair]) -> tuple[bool, float]:
    """Return whether the cases together are worse, and the p-value."""
    p_value = _p_value(_by_cluster(pairs))
    return p_value <= LEVEL, p_value


def _more(verdict: str, pairs: Sequence[Pair]) -> int:
    return sum(_has(verdict, here) - _has(verdict, before) for here, before in pairs)


def _has(verdict: str, case: Graded) -> bool:
    return verdict_of(first_result(case)) == verdict


def _by_cluster(pairs: Sequence[Pair]) -> list[Fraction]:
    clusters: dict[object, Fraction] = defaultdict(Fraction)
    for here, before in pairs:
        own = here.file, own_id(here.id, here.target)  # the targets of a case are one cluster
        clusters[here.cluster or own] += _mean(here) - _mean(before)
    return list(clusters.values())


def _mean(case: Graded) -> Fraction:
    tiers = [tier(verdict_of(trial)) for trial in first_trials(case)]
    return Fraction(sum(tiers), len(tiers))


def _p_value(differences: Sequence[Fraction]) -> float:
    """Return the one-sided p-value of random sign flips, with the seed of every run."""
    moved = [each for each in differences if each]
    if sum(moved) >= 0:
        return 1.0
    unit = lcm(*(each.denominator for each in moved))  # in whole numbers, equal sums are equal
    observed, *sizes = (int(each * unit) for each in (sum(moved), *map(abs, moved)))
    width, low = len(sizes) // 8 + 1, 0
    drawn = shake_256(SEED).digest(width * FLIPS)  # the same on every machine
    for start in range(0, len(drawn), width):
        bits = int.from_bytes(drawn[start : start + width], "little")
        total = sum(size if bits >> n & 1 else -size for n, size in enumerate(sizes))
        low += total <= observed
    return (low + 1) / (FLIPS + 1)
