"""The judge without one choice of its prompt or scales at a time, to compare on the same labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.evals import RubricSpec
from rubric_ci.model.rubric import Criterion, Level, Levelled, Rubric, Scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A judge, and whether it marks score ranges as levels."""

    name: str
    judge: JudgeConfig
    ranges_as_levels: bool = False

    def spec(self, spec: RubricSpec) -> RubricSpec:
        """Return the rubric that this variant marks."""
        if not self.ranges_as_levels:
            return spec
        return replace(spec, rubric=Rubric(tuple(map(_as_levels, spec.rubric))))


def other_mode(judge: JudgeConfig) -> Variant:
    """Return the judge in the other of the modes batched and isolated."""
    if judge.mode == "batched":
        return Variant(name="isolated", judge=replace(judge, mode="isolated"))
    return Variant(name="batched", judge=replace(judge, mode="batched"))


def variants_of(judge: JudgeConfig) -> Sequence[Variant]:
    """Return a variant for each choice."""
    free = replace(judge.style, between_marks="free")
    last = replace(judge.style, evidence="last")
    return (
        Variant(name="no rule between two marks", judge=replace(judge, style=free)),
        Variant(name="evidence after the mark", judge=replace(judge, style=last)),
        Variant(name="a level per score range", judge=judge, ranges_as_levels=True),
        other_mode(judge),
    )


def _as_levels(criterion: Criterion) -> Criterion:
    """Return a criterion of score ranges with one level per range: the middle of its scores.

    Such a mark is a score as well, so that a person's 0 to 10 is compared with it as it is.
    """
    if not isinstance(criterion, Scored) or len(criterion.ranges) < 2:
        return criterion
    ranges = sorted(criterion.ranges, key=lambda each: each.low)
    levels = tuple(Level(level=(each.low + each.high) // 2, text=each.text) for each in ranges)
    return Levelled(
        id=criterion.id,
        text=criterion.text,
        weight=criterion.weight,
        levels=levels,
        tags=criterion.tags,
        span=criterion.span,
    )
