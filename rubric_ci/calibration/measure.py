"""Agreement between a judge's marks and a person's labels."""

import random
from collections.abc import Sequence

from rubric_ci.calibration.calibration import Calibration, JudgedLabel, calibrate
from rubric_ci.calibration.kappa import DrawGamma
from rubric_ci.calibration.labels import LabelledAnswer
from rubric_ci.calibration.rejudge import Marks, NotJudged
from rubric_ci.grading.resolve import judge_info
from rubric_ci.model.config import JudgeConfig


def measure_agreement(
    labelled: Sequence[LabelledAnswer],
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
    return calibrate(marked, judge_info(judge), _draw_gamma(seed), len(labelled) - len(marked))


def _marked(labelled: LabelledAnswer, marks: Marks) -> JudgedLabel:
    given = {name: criterion.mark for name, criterion in marks.items()}
    votes = {name: criterion.votes for name, criterion in marks.items() if criterion.votes}
    reasons = {name: criterion.reasoning for name, criterion in marks.items()}
    return JudgedLabel(labelled=labelled, marks=given, votes=votes, reasons=reasons)


def _draw_gamma(seed: int) -> DrawGamma:
    generator = random.Random(seed)  # noqa: S311 - reproducible draws
    return lambda shape: generator.gammavariate(shape, 1.0)
