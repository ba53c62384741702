"""Agreement: published values, formulas of textbooks, κ within criteria, properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.parts.lab.agreement import Pair, agreement, interval, kappa, pair, recall
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import Choice, Chosen, Level, Levelled, Scored, ScoreRange
from rubric_ci.values.scoring import MarkValue
from tests.parts.lab.marks import CHECK, checks, seeded, table

HERE = Span(1, 1, 1, 2)
SCORED = Scored(id="s", ranges=(ScoreRange(low=0, high=10, text="any"),), span=HERE)
LEVELLED = Levelled(
    id="l", levels=tuple(Level(level=n, text=f"step {n}") for n in (1, 2, 5)), span=HERE
)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param([[20, 5], [10, 15]], 0.4, id="Cohen's two readers of 50 grant proposals"),
        pytest.param([[45, 15], [25, 15]], 0.1304, id="same accuracy 0.6, even marginals"),
        pytest.param([[25, 35], [5, 35]], 0.2593, id="same accuracy 0.6, uneven marginals"),
        pytest.param([[0, 50], [50, 0]], -1.0, id="never the same"),
        pytest.param([[90, 5], [5, 0]], -0.0526, id="accuracy 0.9 by saying yes to all"),
    ],
)
def test_kappa_of_checks_is_cohens(cells: list[list[int]], expected: float) -> None:
    assert agreement(checks(table(cells))).kappa == pytest.approx(expected, abs=5e-5)


def test_kappa_of_scales_is_quadratically_weighted() -> None:
    # Three even steps, [46, 44, 10] against [50, 40, 10]; the unweighted κ of these is 0.9315.
    marks = [0] * 46 + [5] * 44 + [10] * 10
    others = [0] * 50 + [5] * 40 + [10] * 10
    pairs = [pair(SCORED, str(i), *two) for i, two in enumerate(zip(marks, others, strict=True))]
    assert agreement(pairs).kappa == pytest.approx(0.9541, abs=5e-5)


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1))
def test_kappa_of_scores_is_the_textbook_sum_over_the_matrix(marks: list[tuple[int, int]]) -> None:
    n = len(marks)
    rows = [sum(a == k for a, _ in marks) for k in range(11)]
    columns = [sum(b == k for _, b in marks) for k in range(11)]
    weights = [[(i - j) ** 2 / 100 for j in range(11)] for i in range(11)]
    observed = sum(weights[a][b] for a, b in marks) * n
    expected = sum(weights[i][j] * rows[i] * columns[j] for i in range(11) for j in range(11))
    found = agreement([pair(SCORED, str(i), a, b) for i, (a, b) in enumerate(marks)]).kappa
    assert found == (pytest.approx(1 - observed / expected) if expected else None)


def test_levels_count_by_their_distance_not_by_their_rank() -> None:
    near = [pair(LEVELLED, str(i), *m) for i, m in enumerate([(1, 2), (5, 5), (2, 1)])]
    far = [pair(LEVELLED, str(i), *m) for i, m in enumerate([(2, 5), (5, 5), (5, 2)])]
    assert (agreement(near).kappa or 0) > 0.8 > (agreement(far).kappa or 0)


def test_cannot_assess_has_no_position() -> None:
    found = agreement(
        [
            pair(SCORED, "a", "cannot_assess", 0),
            pair(SCORED, "b", "cannot_assess", "cannot_assess"),
            pair(SCORED, "c", 10, 10),
        ]
    )
    assert found.kappa == pytest.approx(1 - (1 / 3) / (6 / 9))


def test_one_mark_everywhere_leaves_kappa_undefined() -> None:
    found = agreement(checks([(1, 1)] * 20), seeded(1))
    assert (found.accuracy, found.kappa) == (1.0, None)
    assert found.interval is not None
    assert found.interval[0] < 0
    assert found.interval[1] > 0.9


def test_criteria_with_one_answer_are_counted() -> None:
    pairs = [
        pair(CHECK, answer, True, True, name=name)
        for answer, name in [("a", "x"), ("b", "x"), ("a", "y")]
    ]
    assert agreement(pairs).lone_criteria == 1


@pytest.mark.parametrize(
    ("marks", "leniency"),
    [
        pytest.param([(0, 1), (1, 1)], 0.5, id="milder"),
        pytest.param([(1, 0), (1, 1)], -0.5, id="harsher"),
        pytest.param([(1, 0), (0, 1)], 0.0, id="both ways"),
    ],
)
def test_leniency_has_a_sign(marks: list[tuple[int, int]], leniency: float) -> None:
    assert agreement(checks(marks)).leniency == leniency


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30), st.integers())
def test_bounds(marks: list[tuple[bool, bool]], seed: int) -> None:
    pairs = [pair(CHECK, str(i), a, b) for i, (a, b) in enumerate(marks)]
    found = agreement(pairs, seeded(seed), draws=20)
    assert 0 <= found.accuracy <= 1
    assert -1 <= found.leniency <= 1
    assert found.n == len(marks)
    assert found.kappa is None or -1 - 1e-9 <= found.kappa <= 1
    if found.interval:
        assert found.interval[0] <= found.interval[1]


NO_GROUND = "cannot_assess"


@pytest.mark.parametrize(
    ("marks", "rates"),
    [
        pytest.param([], (None, None), id="no checks"),
        pytest.param([(True, True)] * 3, (1.0, None), id="the person never says no"),
        pytest.param(
            [(True, True)] * 3 + [(True, False), (False, True)] + [(False, False)] * 2,
            (3 / 4, 2 / 3),
            id="each of both",
        ),
        pytest.param(
            [(True, NO_GROUND), (True, True), (NO_GROUND, NO_GROUND)],
            (0.5, None),
            id="cannot_assess is not the person's mark",
        ),
    ],
)
def test_rates(
    marks: list[tuple[MarkValue, MarkValue]], rates: tuple[float | None, float | None]
) -> None:
    pairs = [pair(CHECK, str(n), a, b) for n, (a, b) in enumerate(marks)]
    assert (recall(pairs, mark=True), recall(pairs, mark=False)) == rates


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
