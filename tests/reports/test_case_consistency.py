"""What the engine grades never contradicts itself."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from rubric_ci.evaluators.rubric import _criterion_result
from rubric_ci.grading.trials import median_trial
from rubric_ci.model.results import Assessed, Graded
from rubric_ci.model.rubric import (
    CANNOT_ASSESS,
    Check,
    Judgement,
    Level,
    Levelled,
    Mark,
    Rubric,
    Scored,
    ScoreRange,
)
from rubric_ci.model.scoring import Score, Thresholds, Verdict, combine, score
from rubric_ci.reports import case_consistency
from tests.cases import span

LIMITS = Thresholds()
WEIGHTS = st.floats(0.01, 100) | st.integers(1, 9)
MINIMUM = st.none() | st.integers(0, 10)
CRITERIA = st.one_of(
    st.tuples(
        st.builds(Check, id=st.just("a"), text=st.just("t"), weight=WEIGHTS, span=st.just(span())),
        st.booleans(),
    ),
    st.tuples(
        st.builds(
            Scored,
            id=st.just("a"),
            weight=WEIGHTS,
            ranges=st.just((ScoreRange(low=0, high=10, text="t"),)),
            required_min_score=MINIMUM,
            span=st.just(span()),
        ),
        st.integers(0, 10),
    ),
    st.tuples(
        st.builds(
            Levelled,
            id=st.just("a"),
            weight=WEIGHTS,
            levels=st.just(tuple(Level(level=n, text="t") for n in (-3, 0, 7))),
            required_min_level=st.none() | st.sampled_from([-3, 0, 7]),
            span=st.just(span()),
        ),
        st.sampled_from([-3, 0, 7]),
    ),
)


@st.composite
def assessed(draw: st.DrawFn) -> Assessed:
    drawn = draw(st.lists(CRITERIA, min_size=1, max_size=4))
    criteria = tuple(replace(each, id=f"c{at}") for at, (each, _) in enumerate(drawn))
    marks = {
        f"c{at}": Mark(value=CANNOT_ASSESS if draw(st.integers(0, 9)) == 0 else mark)
        for at, (_, mark) in enumerate(drawn)
    }
    found = score(Rubric(criteria), Judgement(marks), LIMITS)
    return Assessed(
        name="rubric",
        type="rubric",
        weight=draw(WEIGHTS),
        line=1,
        score=found.value,
        verdict=found.verdict.value,
        gated_by=found.gated_by,
        criteria=tuple(_criterion_result(each, marks[each.id]) for each in criteria),
    )


@st.composite
def trial(draw: st.DrawFn) -> Graded:
    found = tuple(draw(st.lists(assessed(), min_size=1, max_size=3)))
    parts = [
        (e.weight, Score(value=e.score, verdict=Verdict(e.verdict), gated_by=e.gated_by))
        for e in found
    ]
    whole = combine(parts, LIMITS)
    return Graded(
        file="e.yaml",
        line=1,
        id="x",
        verdict=whole.verdict.value,
        score=whole.value,
        reason="r",
        gated_by=whole.gated_by,
        evaluators=found,
    )


@settings(max_examples=50)
@given(st.lists(trial(), min_size=1, max_size=5))
def test_what_is_graded_is_consistent(trials: list[Graded]) -> None:
    graded = median_trial(trials)
    assert isinstance(graded, Graded)
    assert list(case_consistency.problems(graded, LIMITS)) == []
