"""All cases together, in a comparison of 100 independent clusters or more.

A drop that is spread over many cases shows in none of them. The signs of the clusters' differences
in verdict are flipped at random, 10,000 times: without a change for the worse each sign is as
likely. Fewer clusters are not tested: below, asking single cases again finds as much.
"""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from hashlib import shake_256
from math import lcm
from typing import Final, TypeAlias

from rubric_ci.gate.comparison import rule
from rubric_ci.values.comparison import Together
from rubric_ci.values.results import Graded
from rubric_ci.values.trials import first_result, first_trials, tier

LEAST: Final = 100  # clusters
LEVEL: Final = 0.01  # of the test
FLIPS: Final = 10_000
SEED: Final = b"rubric-ci"

Pair: TypeAlias = tuple[Graded, Graded]
"""The same case here and before."""


def find(pairs: Sequence[Pair]) -> Together | None:
    """Return the test of all cases together; None: they are too few clusters."""
    differences = _by_cluster(pairs)
    if len(differences) < LEAST:
        return None
    worse, p_value = is_worse(pairs)
    return Together(
        cases=len(pairs),
        clusters=len(differences),
        fewer_pass=-_more("pass", pairs),
        more_fail=_more("fail", pairs),
        p_value=p_value,
        worse=worse,
    )


def is_worse(pairs: Sequence[Pair]) -> tuple[bool, float]:
    """Return whether the cases together are worse, and the p-value."""
    p_value = _p_value(_by_cluster(pairs))
    return p_value <= LEVEL, p_value


def _more(verdict: str, pairs: Sequence[Pair]) -> int:
    return sum(_has(verdict, here) - _has(verdict, before) for here, before in pairs)


def _has(verdict: str, case: Graded) -> bool:
    return rule.verdict_of(first_result(case)) == verdict


def _by_cluster(pairs: Sequence[Pair]) -> list[Fraction]:
    clusters: dict[object, Fraction] = defaultdict(Fraction)
    for here, before in pairs:
        own = here.id.removesuffix(f" [{here.target}]")  # the targets of a case are one cluster
        clusters[here.cluster or (here.file, own)] += _mean(here) - _mean(before)
    return list(clusters.values())


def _mean(case: Graded) -> Fraction:
    tiers = [tier(rule.verdict_of(trial)) for trial in first_trials(case)]
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
