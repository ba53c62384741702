"""Scores and verdicts: the worked examples of the documents, and properties."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import (
    Check,
    Criterion,
    Judgement,
    Level,
    Levelled,
    Mark,
    Rubric,
    Scored,
    ScoreRange,
    score,
)
from rubric_ci.values.scoring import (
    ASSERTION,
    CANNOT_ASSESS,
    CHECKLIST,
    YES_OR_NO,
    MarkValue,
    Score,
    Thresholds,
    Weighed,
    combine,
    format_score,
    rubric_score,
    total_points,
    verdict,
    weighted_mean,
)

SPAN = Span(1, 1, 1, 2)
RANGES = (ScoreRange(low=0, high=10, text="anything"),)
FIVE = tuple(Level(level=n, text=str(n)) for n in range(1, 6))


def check(name: str = "c", *, weight: float = 1.0, required: bool = False) -> Check:
    return Check(id=name, text="text", weight=weight, required=required, span=SPAN)


def fault(name: str = "f", *, penalty: float = 1.0, required: bool = False) -> Check:
    return Check(id=name, text="text", weight=penalty, required=required, fault=True, span=SPAN)


def scored(name: str = "s", *, weight: float = 1.0, minimum: int | None = None) -> Scored:
    return Scored(id=name, weight=weight, ranges=RANGES, required_min_score=minimum, span=SPAN)


def levelled(
    name: str = "l",
    *,
    weight: float = 1.0,
    levels: tuple[Level, ...] = FIVE,
    minimum: int | None = None,
) -> Levelled:
    return Levelled(id=name, weight=weight, levels=levels, required_min_level=minimum, span=SPAN)


def judged(*pairs: tuple[Criterion, MarkValue]) -> Score:
    rubric = Rubric(tuple(criterion for criterion, _ in pairs))
    return score(rubric, Judgement({c.id: Mark(value=value) for c, value in pairs}))


@pytest.mark.parametrize(("level", "value"), [(5, 1.0), (4, 0.75), (3, 0.5), (2, 0.25), (1, 0.0)])
def test_five_point_scale(level: int, value: float) -> None:
    assert judged((levelled(), level)).value == value


PAIRS: dict[str, tuple[list[tuple[Criterion, MarkValue]], str]] = {
    "satisfied": ([(check(), True)], "1.0 pass"),
    "not satisfied, not required": ([(check(), False)], "0.0 fail"),
    "0.1 + 0.7 of 1.0 reaches 0.8": (
        [
            (check("a", weight=0.1), True),
            (check("b", weight=0.7), True),
            (check("c", weight=0.2), False),
        ],
        "0.8 pass",
    ),
    "0.6 is borderline": (
        [(check("a", weight=3), True), (check("b", weight=2), False)],
        "0.6 borderline",
    ),
    "a missed required criterion fails 0.95": (
        [(check("a", weight=19), True), (check("b", required=True), False)],
        "0.95 fail: b",
    ),
    "seven of ten": ([(scored(minimum=7), 7)], "0.7 borderline"),
    "six is under a gate of seven": ([(scored(minimum=7), 6)], "0.6 fail: s"),
    "a level under its gate": ([(levelled(minimum=5), 4)], "0.75 fail: l"),
    "levels need not be contiguous": (
        [(levelled(levels=(Level(level=-2, text="a"), Level(level=2, text="b"))), 2)],
        "1.0 pass",
    ),
    "no ground counts 0 and misses a gate": (
        [(scored(minimum=0), CANNOT_ASSESS), (check("a", weight=9), True)],
        "0.9 fail: s",
    ),
    "no ground on a required check": ([(check("a", required=True), CANNOT_ASSESS)], "0.0 fail: a"),
    "a present fault takes its penalty": (
        [(check("a", weight=12), True), (fault(penalty=3), True)],
        "0.75 borderline",
    ),
    "no score is below 0": ([(check("a"), False), (fault(penalty=5), True)], "0.0 fail"),
    "of faults alone, the share that is not present": (
        [(fault("a", penalty=1), True), (fault("b", penalty=3), False)],
        "0.75 borderline",
    ),
    "a weight of 0 beside a fault is none": (
        [(check("a", weight=0), True), (fault(penalty=3), False)],
        "1.0 pass",
    ),
    "a required fault that is present fails": (
        [(check("a", weight=19), True), (fault(required=True), True)],
        "0.947368 fail: f",
    ),
    "a required fault that is not present gates nothing": (
        [(check("a"), True), (fault(required=True), False)],
        "1.0 pass",
    ),
    "kinds mix": (
        [(check("a", weight=2), True), (scored("b"), 8), (levelled("c"), 4)],
        "0.8875 pass",
    ),
}


@pytest.mark.parametrize(("pairs", "expected"), PAIRS.values(), ids=PAIRS)
def test_score(pairs: list[tuple[Criterion, MarkValue]], expected: str) -> None:
    found = judged(*pairs)
    gated = f": {' '.join(found.gated_by)}" if found.gated_by else ""
    assert f"{found.value} {found.verdict}{gated}" == expected


def part(value: float, *gated_by: str) -> Score:
    return Score(value=value, verdict=verdict(value, gated_by), gated_by=gated_by)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(1, part(1.0)), (1, part(0.5))], part(0.75)),
        ([(3, part(1.0)), (1, part(0.0))], part(0.75)),
        ([(1, part(1.0)), (0, part(0.0, "gate"))], part(1.0)),
        ([(9, part(1.0)), (1, part(0.9, "gate"))], part(0.99, "gate")),
    ],
    ids=["mean", "weights", "weight 0 neither counts nor gates", "a gate of one fails the case"],
)
def test_combine(parts: list[tuple[float, Score]], expected: Score) -> None:
    assert combine(parts) == expected


def test_thresholds_are_configurable() -> None:
    strict = Thresholds(passing=0.95, borderline=0.9)
    assert [verdict(v, (), strict) for v in (0.95, 0.9, 0.89)] == ["pass", "borderline", "fail"]


@pytest.mark.parametrize(
    ("parts", "mean"),
    [
        ([(1, 1.0), (2, 0.0)], 0.333333),  # six decimals
        ([(2, 1.0), (1, 0.0)], 0.666667),
        ([(0.1, 1.0), (0.7, 1.0), (0.2, 0.0)], 0.8),
        ([(1, 0.7999996), (0, 1.0)], 0.8),
        ([(1, 0.7999994)], 0.799999),
        ([(1e308, 1.0), (1.7e308, 0.0)], 0.37037),  # more than a number can hold
        ([(1.7e308, 1.0), (1e-308, 0.0)], 1.0),
    ],
)
def test_a_mean_is_rounded_once(parts: list[tuple[float, float]], mean: float) -> None:
    assert weighted_mean(parts) == mean


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.8, "0.80"),
        (0.799999, "0.79"),  # never shown as what it does not reach
        (0.7999999, "0.80"),  # the same number as 0.8, as scores have six decimals
        (0.005, "0.00"),
        (1.0, "1.00"),
        (0.0, "0.00"),
        (1e-6, "0.00"),
        (0.29, "0.29"),
        (0.999999, "0.99"),
    ],
)
def test_a_score_is_shown_rounded_down(value: float, text: str) -> None:
    assert format_score(value) == text


@pytest.mark.parametrize(
    ("value", "word"),
    [(0.8, "pass"), (0.799999, "borderline"), (0.6, "borderline"), (0.599999, "fail"), (0, "fail")],
)
def test_the_verdict_at_its_thresholds(value: float, word: str) -> None:
    assert verdict(value) == word
    assert verdict(value, ("gate",)) == "fail"


weights = st.floats(min_value=0.01, max_value=100)


@st.composite
def rubrics(draw: st.DrawFn) -> list[tuple[Criterion, MarkValue]]:
    pairs: list[tuple[Criterion, MarkValue]] = []
    for n in range(draw(st.integers(1, 6))):
        weight = draw(weights)
        gate = draw(st.none() | st.integers(0, 10))
        criterion: Criterion
        mark: MarkValue
        match draw(st.sampled_from(["check", "scored", "levelled", "fault"])):
            case "fault":
                criterion = fault(f"{n}", penalty=weight, required=draw(st.booleans()))
                mark = draw(st.booleans())
            case "check":
                criterion = check(f"{n}", weight=weight, required=draw(st.booleans()))
                mark = draw(st.booleans() | st.just(CANNOT_ASSESS))
            case "scored":
                criterion = scored(f"{n}", weight=weight, minimum=gate)
                mark = draw(st.integers(0, 10) | st.just(CANNOT_ASSESS))
            case _:
                criterion = levelled(f"{n}", weight=weight, minimum=gate)
                mark = draw(st.integers(1, 5) | st.just(CANNOT_ASSESS))
        pairs.append((criterion, mark))
    return pairs


@given(rubrics())
def test_score_is_within_bounds(pairs: list[tuple[Criterion, MarkValue]]) -> None:
    assert 0 <= judged(*pairs).value <= 1


@given(rubrics(), weights)
def test_a_fault_never_raises_a_score(
    pairs: list[tuple[Criterion, MarkValue]], penalty: float
) -> None:
    absent, present = (judged(*pairs, (fault(penalty=penalty), mark)) for mark in (False, True))
    assert present.value <= absent.value


Points = list[tuple[float, bool]]


def healthbench(points: Points) -> float | None:
    """Return the points met by the positive points, clipped; None: there are no positive ones."""
    possible = sum(Fraction(p) for p, _ in points if p > 0)
    met = sum(Fraction(p) for p, is_met in points if is_met)
    return None if not possible else float(min(max(met / possible, Fraction(0)), Fraction(1)))


def autorubric(points: Points) -> float:
    """Return `score_reports`: clipped, and from 1 downwards where there are penalties alone."""
    met = sum(Fraction(p) for p, is_met in points if is_met)
    positive = sum(Fraction(p) for p, _ in points if p > 0)
    total = positive or -sum(Fraction(p) for p, _ in points)
    value = met / total if positive else 1 + met / total
    return float(min(max(value, Fraction(0)), Fraction(1)))


def test_lists_of_points_score_as_in_healthbench_and_autorubric() -> None:
    random, compared = Random(62), 0
    while compared < 20_000:
        size = random.randint(1, 12)
        drawn = [(random.randint(-10, 10), random.random() < 0.5) for _ in range(size)]
        points = [(weight / random.choice((1, 4, 3)), is_met) for weight, is_met in drawn]
        if not any(weight for weight, _ in points):
            continue
        parts = [Weighed(abs(p), float(is_met is not (p < 0)), p < 0) for p, is_met in points]
        found = rubric_score(parts)
        assert abs(found - autorubric(points)) <= 5.1e-7
        expected = healthbench(points)
        assert expected is None or abs(found - expected) <= 5.1e-7
        compared += 1


@pytest.mark.parametrize(
    ("parts", "value", "total"),
    [
        ([Weighed(1e308, 1.0), Weighed(1.7e308, 0.0)], 0.37037, float("inf")),
        ([Weighed(1e308, 1.0), Weighed(1e308, 0.0, fault=True)], 0.0, 1e308),
        ([Weighed(1e-300, 1.0), Weighed(1e308, 0.0, fault=True)], 0.0, 1e-300),
        ([Weighed(4, 1.0), Weighed(0, 0.0, fault=True)], 1.0, 4),
    ],
    ids=["weights", "both", "a small weight", "a penalty of 0"],
)
def test_points_of_any_size(parts: list[Weighed], value: float, total: float) -> None:
    assert (rubric_score(parts), total_points(parts)) == (value, total)


@given(rubrics())
def test_a_missed_gate_always_fails(pairs: list[tuple[Criterion, MarkValue]]) -> None:
    result = judged(*pairs)
    missed = [c.id for c, value in pairs if c.gates(Mark(value=value))]
    assert list(result.gated_by) == missed
    if missed:
        assert result.verdict == "fail"


@given(rubrics(), st.randoms())
def test_order_does_not_matter(pairs: list[tuple[Criterion, MarkValue]], random: Random) -> None:
    shuffled = pairs.copy()
    random.shuffle(shuffled)
    first, second = judged(*pairs), judged(*shuffled)
    assert (first.value, first.verdict) == (second.value, second.verdict)


def test_the_kinds_with_two_marks() -> None:
    assert {CHECKLIST, ASSERTION} == YES_OR_NO
