"""Agreement between a judge's marks and a person's labels."""

import random
from collections.abc import Sequence
from dataclasses import replace

from rubric_ci.calibration.agreement import position
from rubric_ci.calibration.calibration import Calibration, JudgedLabel, calibrate, marked
from rubric_ci.calibration.kappa import DrawGamma
from rubric_ci.calibration.labels import LabelledAnswer
from rubric_ci.calibration.rejudge import Marks, NotJudged
from rubric_ci.grading.resolve import judge_info
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.rubric import Judged
from rubric_ci.model.scoring import MarkValue
from rubric_ci.statistics.effective_votes import effective_votes


def measure_agreement(
    labelled: Sequence[LabelledAnswer],
    judged: Sequence[Marks | NotJudged],
    judge: JudgeConfig,
    seed: int,
) -> Calibration | None:
    """Return the agreement on the answers that have marks; None if there are none."""
    with_marks = [
        _marked(each, marks)
        for each, marks in zip(labelled, judged, strict=True)
        if not isinstance(marks, NotJudged)
    ]
    if not with_marks:
        return None
    silent = len(labelled) - len(with_marks)
    found = calibrate(with_marks, judge_info(judge), _draw_gamma(seed), silent)
    return replace(found, effective_votes=_effective_votes(with_marks))


def _marked(labelled: LabelledAnswer, marks: Marks) -> JudgedLabel:
    given = {name: criterion.mark for name, criterion in marks.items()}
    votes = {
        name: criterion.votes
        for name, criterion in marks.items()
        if criterion.votes and not criterion.judges
    }
    reasons = {name: criterion.reasoning for name, criterion in marks.items()}
    panel = {name: c.votes for name, c in marks.items() if c.votes and c.judges}
    return JudgedLabel(labelled=labelled, marks=given, votes=votes, panel=panel, reasons=reasons)


def _effective_votes(judged: Sequence[JudgedLabel]) -> tuple[int, float] | None:
    """Return the judges of a panel and their independent votes, from the errors of their marks."""
    rows = [
        [_value(criterion, mark) - _value(criterion, person) for mark in each.panel[criterion.id]]
        for each, criterion in marked(judged)
        if criterion.id in each.panel
        for person in [each.labelled.label.marks[criterion.id]]
    ]
    judges = max(map(len, rows), default=0)
    found = effective_votes([row for row in rows if len(row) == judges])
    return None if found is None else (judges, found)


def _value(criterion: Judged, value: MarkValue) -> float:
    return position(criterion, value) or 0.0


def _draw_gamma(seed: int) -> DrawGamma:
    generator = random.Random(seed)  # noqa: S311 - reproducible draws
    return lambda shape: generator.gammavariate(shape, 1.0)
