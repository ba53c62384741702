"""The rank-sum test: against every choice of trials."""

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
