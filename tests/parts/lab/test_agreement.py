"""Agreement: published values, the textbook definition, and properties for any marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.parts.lab.agreement import agreement, flips, pair, recall
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import Check, Level, Levelled, Scored, ScoreRange
from rubric_ci.values.scoring import MarkValue
from tests.parts.lab.marks import checks, seeded, table

HERE = Span(1, 1, 1, 2)
CHECK = Check(id="c", text="Says so", span=HERE)
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
    assert found.confusion == {
        ("cannot_assess", "0"): 1,
        ("cannot_assess", "cannot_assess"): 1,
        ("10", "10"): 1,
    }


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


def test_a_drawn_label_counts_as_often_as_it_stands_for() -> None:
    marks = [(True, True, 9), (True, False, 1), (False, True, 2), (False, False, 4)]
    weighed = [pair(CHECK, f"{a} {b}", a, b, weight=n) for a, b, n in marks]
    repeated = [pair(CHECK, f"{a} {b} {i}", a, b) for a, b, n in marks for i in range(n)]
    one, other = agreement(weighed), agreement(repeated)
    assert one.kappa == pytest.approx(other.kappa)
    assert (one.n, one.accuracy, one.leniency) == (4, other.accuracy, other.leniency)
    assert (other.n, other.sensitivity) == (16, one.sensitivity)


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


def test_confusion_has_words() -> None:
    assert agreement(checks([(1, 0), (1, 1), (1, 0)])).confusion == {
        ("satisfied", "not satisfied"): 2,
        ("satisfied", "satisfied"): 1,
    }


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30), st.integers())
def test_bounds(marks: list[tuple[bool, bool]], seed: int) -> None:
    pairs = [pair(CHECK, str(i), a, b) for i, (a, b) in enumerate(marks)]
    found = agreement(pairs, seeded(seed), draws=20)
    assert 0 <= found.accuracy <= 1
    assert -1 <= found.leniency <= 1
    assert sum(found.confusion.values()) == found.n == len(marks)
    assert found.kappa is None or -1 - 1e-9 <= found.kappa <= 1
    if found.interval:
        assert found.interval[0] <= found.interval[1]


@pytest.mark.parametrize(
    ("votes", "flipped"),
    [
        pytest.param([[True, True, True]], 0.0, id="unanimous"),
        pytest.param([[True, True, False], [8, 8, 8]], 0.5, id="one of two flips"),
        pytest.param([[True], [False]], None, id="nothing repeated"),
        pytest.param([], None, id="nothing"),
    ],
)
def test_votes(votes: list[list[MarkValue]], flipped: float | None) -> None:
    assert flips(votes) == flipped


NO_GROUND = "cannot_assess"


@pytest.mark.parametrize(
    ("marks", "rates"),
    [
        pytest.param([], (None, None), id="no checks"),
        pytest.param([(True, True, 1)] * 3, (1.0, None), id="the person never says no"),
        pytest.param(
            [(True, True, 3), (True, False, 1), (False, True, 1), (False, False, 2)],
            (3 / 4, 2 / 3),
            id="each counts as often as it stands for",
        ),
        pytest.param(
            [(True, NO_GROUND, 1), (True, True, 1), (NO_GROUND, NO_GROUND, 1)],
            (0.5, None),
            id="cannot_assess is not the person's mark",
        ),
    ],
)
def test_rates(
    marks: list[tuple[MarkValue, MarkValue, int]], rates: tuple[float | None, float | None]
) -> None:
    pairs = [pair(CHECK, str(n), a, b, weight=w) for n, (a, b, w) in enumerate(marks)]
    assert (recall(pairs, mark=True), recall(pairs, mark=False)) == rates
