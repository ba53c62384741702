"""The fewest marks that change a verdict, against trying every set of marks."""

from itertools import combinations, product

from hypothesis import example, given
from hypothesis import strategies as st

from rubric_ci.models.judge.voting import moves_to_change
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import (
    Check,
    Choice,
    Chosen,
    Judged,
    Judgement,
    Mark,
    Rubric,
    Scored,
    ScoreRange,
    score,
)
from rubric_ci.values.scoring import CANNOT_ASSESS, DEFAULT_THRESHOLDS, MarkValue

SPAN = Span(1, 1, 1, 2)
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 2.0])


def near(criterion: Judged, value: MarkValue) -> list[MarkValue]:
    if isinstance(criterion, Chosen):
        return [each.name for each in criterion.choices]
    scale: list[MarkValue] = [False, True] if isinstance(criterion, Check) else [*range(11)]
    if value == CANNOT_ASSESS:
        return scale
    place = scale.index(value)
    return scale[max(0, place - 1) : place + 2]


def fewest(rubric: Rubric, marks: dict[str, MarkValue]) -> int | None:
    def verdict(given: dict[str, MarkValue]) -> object:
        judgement = Judgement({name: Mark(value=value) for name, value in given.items()})
        return score(rubric, judgement, DEFAULT_THRESHOLDS).verdict

    now = verdict(marks)
    for count in range(1, len(rubric.judged) + 1):
        for some in combinations(rubric.judged, count):
            for values in product(*(near(each, marks[each.id]) for each in some)):
                moved = {each.id: value for each, value in zip(some, values, strict=True)}
                if verdict({**marks, **moved}) != now:
                    return count
    return None


@st.composite
def judged(draw: st.DrawFn) -> tuple[Rubric, dict[str, MarkValue]]:
    criteria: list[Judged] = []
    marks: dict[str, MarkValue] = {}
    for n in range(draw(st.integers(1, 4))):
        weight = draw(WEIGHTS) if n else 1.0
        fault = draw(st.booleans())
        if draw(st.booleans()):
            required = draw(st.booleans())
            criteria.append(
                Check(
                    id=f"r{n}",
                    text="x",
                    weight=weight,
                    required=required,
                    fault=fault,
                    span=SPAN,
                )
            )
            marks[f"r{n}"] = draw(
                st.booleans() if fault else st.booleans() | st.just(CANNOT_ASSESS)
            )
        elif draw(st.booleans()):
            scores = draw(st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=2, max_size=3))
            choices = tuple(Choice(name=f"{at}", score=each) for at, each in enumerate(scores))
            criteria.append(
                Chosen(id=f"r{n}", choices=choices, weight=weight, fault=fault, span=SPAN)
            )
            marks[f"r{n}"] = draw(st.sampled_from([each.name for each in choices]))
        else:
            ranges = (ScoreRange(low=0, high=10, text="x"),)
            least = draw(st.sampled_from([None, 5, 7]))
            criteria.append(
                Scored(
                    id=f"r{n}", ranges=ranges, weight=weight, required_min_score=least, span=SPAN
                )
            )
            marks[f"r{n}"] = draw(st.one_of(st.integers(0, 10), st.just(CANNOT_ASSESS)))
    return Rubric(tuple(criteria)), marks


LITTLE = Scored(id="r0", ranges=(ScoreRange(low=0, high=10, text="x"),), span=SPAN)
MUCH = Check(id="r1", text="x", required=False, span=SPAN)


@given(judged())
@example((Rubric((LITTLE, MUCH)), {"r0": 9, "r1": False}))  # MUCH alone passes
def test_it_is_the_fewest_of_all_sets(case: tuple[Rubric, dict[str, MarkValue]]) -> None:
    rubric, marks = case
    judgement = Judgement({name: Mark(value=value) for name, value in marks.items()})
    assert moves_to_change(rubric, judgement, DEFAULT_THRESHOLDS) == fewest(rubric, marks)
