"""Each variant changes one choice; a level of a range is a score of it."""

from rubric_ci.calibration.variants import Variant, other_mode, variants_of
from rubric_ci.model.config import DEFAULT_STYLE, Endpoint, JudgeConfig
from rubric_ci.model.evals import RubricSpec
from rubric_ci.model.rubric import Check, Levelled, Rubric, Scored, ScoreRange
from tests.cases import span

JUDGE = JudgeConfig(endpoint=Endpoint(model="gpt"))
RANGES = ((7, 10, "good"), (0, 3, "bad"), (4, 6, "fair"))
SPEC = RubricSpec(
    name="rubric",
    span=span(),
    rubric=Rubric(
        (
            Check(id="check", text="Asked", span=span()),
            Scored(
                id="depth",
                ranges=tuple(ScoreRange(low=a, high=b, text=text) for a, b, text in RANGES),
                weight=2.0,
                span=span(),
            ),
        )
    ),
)


def changed(variant: Variant) -> list[str]:
    """Return what differs from the judge as it is configured."""
    judge = variant.judge
    return [
        *(["between"] if judge.style.between_marks != DEFAULT_STYLE.between_marks else []),
        *(["evidence"] if judge.style.evidence != DEFAULT_STYLE.evidence else []),
        *(["mode"] if judge.mode != JUDGE.mode else []),
        *(["levels"] if variant.spec(SPEC) != SPEC else []),
    ]


def test_one_choice_at_a_time() -> None:
    found = [changed(variant) for variant in variants_of(JUDGE)]
    assert found == [["between"], ["evidence"], ["levels"], ["mode"]]


def test_the_other_mode_of_the_other_mode_is_the_first() -> None:
    assert other_mode(other_mode(JUDGE).judge).judge == JUDGE


def test_ranges_become_levels_in_their_middle() -> None:
    check, depth = next(v for v in variants_of(JUDGE) if v.ranges_as_levels).spec(SPEC).rubric
    assert check == SPEC.rubric.criteria[0]
    assert isinstance(depth, Levelled)
    assert [(level.level, level.text) for level in depth.levels] == [
        (1, "bad"),
        (5, "fair"),
        (8, "good"),
    ]
    assert (depth.id, depth.weight) == ("depth", 2.0)
