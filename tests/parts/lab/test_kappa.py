"""κ within criteria, and its interval against large-sample formulas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.parts.lab.agreement import Pair, interval, kappa, pair
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import Choice, Chosen, Scored, ScoreRange
from tests.parts.lab.marks import CHECK, checks, seeded, table

SCORED = Scored(id="s", ranges=(ScoreRange(low=0, high=10, text="any"),), span=Span(1, 1, 1, 2))

# One criterion is met by 95 % of the answers, the other by 5 %; the judge never reads an answer.
CONSTANT_JUDGE = [
    *checks([(1, 1)] * 95 + [(0, 1)] * 5, name="usually met"),
    *checks([(0, 0)] * 95 + [(1, 0)] * 5, name="usually missed"),
]


def scores(marks: list[tuple[int, int]]) -> list[Pair]:
    return [pair(SCORED, str(i), a, b) for i, (a, b) in enumerate(marks)]


def test_a_judge_that_never_reads_the_answer_has_kappa_0() -> None:
    assert kappa(CONSTANT_JUDGE) == 0
    low, high = interval(CONSTANT_JUDGE, seeded(1)) or (1, 1)
    assert -0.2 < low < 0 < high < 0.4


def test_criteria_are_summed_before_the_division() -> None:
    even, uneven = table([[20, 5], [10, 15]]), table([[45, 15], [25, 15]])
    pairs = [*checks(even, name="even"), *checks(uneven, name="uneven")]
    # Observed 15 and 40 differences; expected 25 and 46.
    assert kappa(pairs) == pytest.approx(1 - (15 + 40) / (25 + 46))


def test_a_criterion_of_one_answer_does_not_raise_kappa() -> None:
    pairs = checks(table([[20, 5], [10, 15]]))
    assert kappa([*pairs, *checks([(1, 1)], name="lone")]) == kappa(pairs)
    assert (kappa([*pairs, *checks([(1, 0)], name="lone")]) or 1) < (kappa(pairs) or 0)


MARKS = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=2, max_size=15)


def test_choices_have_no_order() -> None:
    choices = tuple(Choice(name=name, score=at / 2) for at, name in enumerate("abc"))
    chosen = Chosen(id="c", choices=choices, span=Span(1, 1, 1, 2))
    marks = [*["aa"] * 20, *["ab"] * 5, *["ba"] * 10, *["bb"] * 10, *["cc"] * 5]
    pairs = [pair(chosen, str(n), both[0], both[1]) for n, both in enumerate(marks)]
    chance = (25 * 30 + 20 * 15 + 5 * 5) / 50  # Cohen 1960
    assert kappa(pairs) == pytest.approx((35 - chance) / (50 - chance))


def test_the_interval_repeats_with_its_seed() -> None:
    pairs = checks(table([[20, 5], [10, 15]]))
    assert interval(pairs, seeded(7)) == interval(pairs, seeded(7))
    assert interval(pairs, seeded(7)) != interval(pairs, seeded(8))


def test_the_interval_is_near_the_large_sample_one() -> None:
    # κ 0.4 of 50, asymptotic standard error 0.128 (Fleiss, Cohen and Everitt 1969).
    low, high = interval(checks(table([[20, 5], [10, 15]])), seeded(3)) or (0, 0)
    assert low == pytest.approx(0.4 - 1.96 * 0.128, abs=0.04)
    assert high == pytest.approx(0.4 + 1.96 * 0.128, abs=0.04)


@pytest.mark.parametrize(
    ("pairs", "low", "high"),
    [
        pytest.param(checks([(1, 1)] * 20), -0.08, 0.98, id="one mark of a check everywhere"),
        pytest.param(checks([(1, 1)] * 19 + [(0, 0)]), 0.14, 0.99, id="19 to 1 without difference"),
        pytest.param(scores([(9, 9)] * 19 + [(2, 2)]), 0.75, 1.0, id="scores without difference"),
    ],
)
def test_full_agreement_is_not_certainty(pairs: list[Pair], low: float, high: float) -> None:
    found = interval(pairs, seeded(1)) or (0, 0)
    assert found[0] == pytest.approx(low, abs=0.1)
    assert found[1] == pytest.approx(high, abs=0.03)


def test_one_score_everywhere_has_no_interval() -> None:
    assert interval(scores([(9, 9)] * 20), seeded(1)) is None


def test_marks_of_one_answer_are_not_independent() -> None:
    marks = table([[20, 5], [10, 15]])
    alone = interval(checks(marks), seeded(3)) or (0, 0)
    together = [
        pair(CHECK, str(i), bool(a), bool(b)) for i, (a, b) in enumerate(marks) for _ in range(4)
    ]
    assert interval(together, seeded(3)) == pytest.approx(alone, abs=0.03)


@given(MARKS, st.integers(0, 9))
def test_bounds_of_the_interval(marks: list[tuple[int, int]], seed: int) -> None:
    found = interval(scores(marks), seeded(seed), draws=20)
    assert found is None or -1 <= found[0] <= found[1] <= 1
