"""The exact tests against scipy, on samples drawn at random.

It is imported by its tests alone, which takes 3 s: every worker imports this module.
"""

from math import comb
from random import Random

import pytest

from rubric_ci.text.statistics.significance import p_value, p_value_below
from tests.text.statistics.test_rank_sum import scored

pytestmark = pytest.mark.deep


def test_sign_flips() -> None:
    from scipy import stats

    draw = Random(13)
    for _ in range(100):
        differences = [draw.randint(-100, 100) / 100 for _ in range(draw.randint(2, 10))]
        # NOTE: scipy counts sums within rounding of the observed one, as the hundredths do here.
        found = stats.permutation_test(
            ([round(d * 100) for d in differences],),
            sum,
            permutation_type="samples",
            n_resamples=10_000,
        )
        assert p_value(differences) == pytest.approx(float(found.pvalue))


def test_rank_sums_of_two_values() -> None:
    """With two values the rank sum has the hypergeometric distribution."""
    from scipy import stats

    draw = Random(13)
    for _ in range(500):
        n, m = draw.randint(1, 10), draw.randint(1, 15)
        head = [draw.random() < 0.7 for _ in range(n)]
        reference = [draw.random() < 0.9 for _ in range(m)]
        passes = sum(head) + sum(reference)
        expected = stats.hypergeom.cdf(sum(head), n + m, passes, n)
        found = p_value_below(scored(*head), scored(*reference))
        assert found == pytest.approx(float(expected), rel=1e-9)


def test_rank_sums_without_ties() -> None:
    from scipy import stats

    draw = Random(13)
    for _ in range(100):
        values = draw.sample(range(1_000), draw.randint(2, 25))
        n = draw.randint(1, len(values) - 1)
        expected = stats.mannwhitneyu(
            values[:n], values[n:], alternative="less", method="exact"
        ).pvalue
        found = p_value_below(scored(*values[:n]), scored(*values[n:]))
        assert found == pytest.approx(float(expected), rel=1e-9)


def test_rank_sums_with_ties() -> None:
    from scipy import stats

    draw = Random(13)
    for _ in range(200):
        head = [draw.randint(0, 4) for _ in range(draw.randint(2, 4))]
        reference = [draw.randint(0, 5) for _ in range(draw.randint(2, 6))]
        ranks = [round(2 * rank) for rank in stats.rankdata([*head, *reference])]
        found = stats.permutation_test(
            (ranks[: len(head)], ranks[len(head) :]),
            lambda x, _, axis: x.sum(axis=axis),
            alternative="less",
            vectorized=True,
            n_resamples=comb(10, 4),
        )
        assert p_value_below(scored(*head), scored(*reference)) == pytest.approx(
            float(found.pvalue), rel=1e-9
        )
