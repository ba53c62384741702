"""The rank-sum test: against every choice of trials, and against scipy."""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rubric_ci.text.statistics.significance import (
    Observation,
    least_p_value,
    p_value_below,
    share_below,
)

TRIALS = st.tuples(st.integers(0, 2), st.integers(0, 3))
SAMPLES = st.lists(TRIALS, min_size=1, max_size=5)


def scored(*scores: float) -> list[Observation]:
    return [(0, score) for score in scores]


@pytest.mark.parametrize(
    ("head", "reference", "p_value", "share"),
    [
        pytest.param([1], [2], 0.5, 1.0, id="one-trial-each"),
        pytest.param([1, 1, 1], [2, 2, 2], 1 / 20, 1.0, id="three-trials-each"),
        pytest.param([1] * 3, [2] * 15, 1 / 816, 1.0, id="the-pinned-reference"),
        pytest.param([1] * 10, [2] * 15, 1 / 3_268_760, 1.0, id="a-suspect-asked-again"),
        pytest.param([2], [1], 1.0, 0.0, id="better"),
        pytest.param([1, 1], [1, 1, 1], 1.0, 0.5, id="all-equal"),
        pytest.param([1, 2], [2, 3], 1 / 3, 0.875, id="a-tie"),
    ],
)
def test_values(head: list[float], reference: list[float], p_value: float, share: float) -> None:
    assert p_value_below(scored(*head), scored(*reference)) == pytest.approx(p_value)
    assert share_below(scored(*head), scored(*reference)) == share


def test_a_lower_verdict_is_below_whatever_its_score() -> None:
    assert share_below([(0, 0.95)], [(2, 0.8)]) == 1


@given(SAMPLES, SAMPLES)
def test_p_value_counts_every_choice_of_trials(
    head: list[Observation], reference: list[Observation]
) -> None:
    every = [*head, *reference]
    observed = _rank_sum(head, every)
    sums = [_rank_sum(chosen, every) for chosen in combinations(every, len(head))]
    assert p_value_below(head, reference) == pytest.approx(
        sum(total <= observed for total in sums) / len(sums)
    )
    assert p_value_below(head, reference) >= least_p_value(len(head), len(reference))


def _rank_sum(chosen: Sequence[Observation], every: Sequence[Observation]) -> float:
    return sum(
        sum(v < value for v in every) + sum(v == value for v in every) / 2 for value in chosen
    )


def test_tables_of_two_values_agree_with_scipy() -> None:
    """With two values the rank sum has the hypergeometric distribution."""
    draw = Random(13)
    for _ in range(500):
        n, m = draw.randint(1, 10), draw.randint(1, 15)
        head = [draw.random() < 0.7 for _ in range(n)]
        reference = [draw.random() < 0.9 for _ in range(m)]
        passes = sum(head) + sum(reference)
        expected = stats.hypergeom.cdf(sum(head), n + m, passes, n)
        found = p_value_below(scored(*head), scored(*reference))
        assert found == pytest.approx(float(expected), rel=1e-9)


def test_samples_without_ties_agree_with_scipy() -> None:
    draw = Random(13)
    for _ in range(100):
        values = draw.sample(range(1_000), draw.randint(2, 25))
        n = draw.randint(1, len(values) - 1)
        expected = stats.mannwhitneyu(
            values[:n], values[n:], alternative="less", method="exact"
        ).pvalue
        found = p_value_below(scored(*values[:n]), scored(*values[n:]))
        assert found == pytest.approx(float(expected), rel=1e-9)


def test_samples_with_ties_agree_with_scipy() -> None:
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
