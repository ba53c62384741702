"""The exact tests against scipy, on samples drawn at random.

It is imported by its tests alone, which takes 3 s: every worker imports this module.
"""

from random import Random

import pytest

from rubric_ci.text.p_values_and_intervals import p_value

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
