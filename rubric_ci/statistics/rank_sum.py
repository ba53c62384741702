"""Exact one-sided rank-sum test of two small samples, conditional on their ties."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb
from typing import TypeAlias

Observation: TypeAlias = tuple[float, float]
"""One trial as its verdict (a higher tier is better) and its score, in this order."""

SUSPICIOUS = 0.75  # probability of superiority from which a case is a suspect


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
    groups = sorted(Counter([*head, *reference]).items())
    ranks = _double_mid_ranks([size for _, size in groups])
    by_value = {value: rank for (value, _), rank in zip(groups, ranks, strict=True)}
    observed = sum(by_value[value] for value in head)
    ways = _ways([size for _, size in groups], ranks, len(head))
    low = sum(count for total, count in ways.items() if total <= observed)
    return float(Fraction(low, sum(ways.values())))


def least_p_value(head: int, reference: int) -> float:
    """Return the lowest p-value of samples of these sizes: 1 / C(head + reference, head)."""
    return 1 / comb(head + reference, head)


def _double_mid_ranks(sizes: Sequence[int]) -> list[int]:
    """Return twice the mid-rank of each group of equal values; double, so that it is whole."""
    ranks, before = [], 0
    for size in sizes:
        ranks.append(2 * before + size + 1)
        before += size
    return ranks


def _ways(sizes: Sequence[int], ranks: Sequence[int], chosen: int) -> Counter[int]:
    """Return in how many ways `chosen` trials have each sum of ranks."""
    sums: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in range(chosen))]
    for size, rank in zip(sizes, ranks, strict=True):
        for number in range(chosen, 0, -1):  # downwards: smaller numbers are without this group
            for taken in range(1, min(size, number) + 1):
                for total, count in sums[number - taken].items():
                    sums[number][total + taken * rank] += count * comb(size, taken)
    return sums[chosen]
