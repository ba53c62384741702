"""Agreement between a judge's marks and a person's labels."""

import random
from collections.abc import Sequence

from rubric_ci.calibration.agreement import Resample
from rubric_ci.calibration.calibration import Calibration, Marked, calibrate
from rubric_ci.calibration.labels import Labelled
from rubric_ci.calibration.rejudge import Marks, NotJudged
from rubric_ci.grading.resolve import judge_info
from rubric_ci.model.config import JudgeConfig


def measure_agreement(
    labelled: Sequence[Labelled],
    judged: Sequence[Marks | NotJudged],
    judge: JudgeConfig,
    seed: int,
) -> Calibration | None:
    """Return the agreement on the answers that have marks; None if there are none."""
    marked = [
        _marked(each, marks)
        for each, marks in zip(labelled, judged, strict=True)
        if not isinstance(marks, NotJudged)
    ]
    if not marked:
        return None
    return calibrate(marked, judge_info(judge), _resample(seed), len(labelled) - len(marked))


def _marked(labelled: Labelled, marks: Marks) -> Marked:
    given = {name: criterion.mark for name, criterion in marks.items()}
    votes = {name: criterion.votes for name, criterion in marks.items() if criterion.votes}
    return Marked(labelled=labelled, marks=given, votes=votes)


def _resample(seed: int) -> Resample:
    generator = random.Random(seed)  # noqa: S311 - a reproducible bootstrap
    return lambda n: generator.choices(range(n), k=n)
