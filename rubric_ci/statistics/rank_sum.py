"""Exact one-sided rank-sum test of two small samples, conditional on their ties."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb
from typing import TypeAlias

Observation: TypeAlias = tuple[float, float]
"""One trial as its verdict (a higher tier is better) and its score, in this order."""


def share_below(head: Sequence[Observation], reference: Sequence[Observation]) -> float:
    """Return P(head < reference) + P(head = reference) / 2 over all pairs of trials.

    The probability of superiority: U / (n m) of Mann and Whitney, "On a test of whether one of two
    random variables is stochastically larger than the other", Annals of Mathematical Statistics
    18 (1947).
    """
    pairs = list(product(head, reference))
    return sum((a < b) + (a == b) / 2 for a, b in pairs) / len(pairs)


def p_value_below(head: Sequence[Observation], reference: Sequence[Observation]) -> float:
    """Return the exact p-value of the null hypothesis that `head` is not below `reference`.

    The share of the C(n + m, n) ways to choose n trials out of all of them whose sum of mid-ranks
    is as low as that of `head`: the permutation distribution of the rank sum, conditional on the
    ties (Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945).
    """
    counts = Counter([*head, *reference])
    ranks: dict[Observation, int] = {}
    before = 0
    for value in sorted(counts):  # twice the mid-rank, less one: whole, and sums compare the same
        ranks[value] = 2 * before + counts[value]
        before += counts[value]
    observed = sum(ranks[value] for value in head)
    ways = _ways([(counts[value], rank) for value, rank in ranks.items()], len(head))
    low = sum(count for total, count in ways.items() if total <= observed)
    return float(Fraction(low, sum(ways.values())))


def least_p_value(head: int, reference: int) -> float:
    """Return the lowest p-value of samples of these sizes: 1 / C(head + reference, head)."""
    return 1 / comb(head + reference, head)


def _ways(groups: Sequence[tuple[int, int]], chosen: int) -> Counter[int]:
    """Return in how many ways `chosen` trials have each sum of ranks, from sizes and ranks."""
    sums: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in range(chosen))]
    for size, rank in groups:
        for number in range(chosen, 0, -1):  # downwards: smaller numbers are without this group
            for taken in range(1, min(size, number) + 1):
                for total, count in sums[number - taken].items():
                    sums[number][total + taken * rank] += count * comb(size, taken)
    return sums[chosen]
