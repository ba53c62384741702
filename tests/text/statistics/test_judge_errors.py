"""Independent votes of several judges, from their errors."""

import random

import pytest

from rubric_ci.text.statistics.judge_errors import FEWEST, centred, effective_votes


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[1, 1, 1], [0, 0, 0]] * 10, 1.0),  # copies of one judge
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]] * 5, 3.0),  # never wrong together
        ([[1, 1, 0], [0, 0, 1]] * 10, 3 / (1 + 2 / 3)),  # two are copies, the third is not
        ([[0, 0, 0]] * 20, 3.0),  # no errors, so none in common
        ([[1, 1], [0, 0]] * 10, 1.0),
        ([[1, -1], [-1, 1]] * 10, 2.0),  # opposite errors count as independent, not as more
        ([[1, 1]] * (FEWEST - 1), None),
        ([[1]] * FEWEST, 1.0),  # one judge
    ],
)
def test_the_worth_of_judges(rows: list[list[float]], expected: float | None) -> None:
    assert effective_votes(rows) == (expected and pytest.approx(expected))


def test_each_row_has_a_number_of_every_judge() -> None:
    for rows in ([[1.0, 0.0]] * FEWEST + [[1.0]], [[1.0]] * FEWEST + [[1.0, 0.0]]):
        with pytest.raises(ValueError, match=r"shorter|longer"):
            effective_votes(rows)
        with pytest.raises(ValueError, match=r"shorter|longer"):
            centred(rows)


def test_a_known_correlation_is_found() -> None:
    draw = random.Random(1)
    rows = []
    for _ in range(20_000):
        shared = draw.gauss(0, 1)
        rows.append([shared + draw.gauss(0, 1) for _ in range(3)])  # correlation 0.5
    assert effective_votes(rows) == pytest.approx(1.5, abs=0.02)


def test_marks_less_the_mean_of_their_judge() -> None:
    assert centred([[1.0, 0.5], [0.0, 0.5]]) == [[0.5, 0.0], [-0.5, 0.0]]


def test_independent_judges_that_err_on_bad_answers_only_are_independent() -> None:
    """Half of the answers are bad, and each judge passes three in ten of these."""
    draw = random.Random(2)
    good = [[-float(draw.random() < 0.02) for _ in range(3)] for _ in range(2000)]
    bad = [[float(draw.random() < 0.3) for _ in range(3)] for _ in range(2000)]
    within = effective_votes([*centred(good), *centred(bad)])
    assert within == pytest.approx(3, abs=0.15)
    assert (effective_votes([*good, *bad]) or 0) < 2.2
