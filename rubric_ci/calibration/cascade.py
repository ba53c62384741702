"""The margin of a cascade, fitted to people's labels, and the error of its verdicts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from rubric_ci.calibration.labels import LabelledAnswer
from rubric_ci.history.from_report import rate_interval
from rubric_ci.judge.judges import is_sure
from rubric_ci.judge.voting import moves_to_change
from rubric_ci.model.results import CriterionResult
from rubric_ci.model.rubric import Judgement, Mark
from rubric_ci.model.scoring import Thresholds, score
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeAnswer:
    """A labelled answer: how near the first judge is to another verdict, and who is wrong."""

    case: str
    moves: float  # marks of the first judge that change its verdict; 0: unsure; inf: none do
    first_wrong: bool  # its verdict is not that of the person's marks
    last_wrong: bool

    def wrong(self, margin: int) -> bool:
        """Return True if the cascade gives another verdict than the person."""
        return self.last_wrong if self.moves <= margin else self.first_wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeFit:
    """The fitted margin. `left_out` is the share of wrong verdicts with each case not fitted."""

    answers: tuple[CascadeAnswer, ...]
    margin: int
    left_out: float
    interval: tuple[float, float]  # 95 %, of `left_out`


def compared(
    labelled: LabelledAnswer,
    first: Mapping[str, CriterionResult],
    last: Mapping[str, CriterionResult],
    thresholds: Thresholds,
) -> CascadeAnswer | None:
    """Return how the verdicts of both judges compare; None if the person left marks out."""
    rubric, label = labelled.spec.rubric, labelled.label
    if any(criterion.id not in label.marks for criterion in rubric.judged):
        return None
    cheap, dear = (
        {name: Mark(value=of.mark) for name, of in each.items()} for each in (first, last)
    )
    given = {name: Mark(value=value) for name, value in label.marks.items()}
    person, one, two = (
        score(rubric, Judgement(marks), thresholds).verdict
        for marks in ({**cheap, **given}, cheap, dear)
    )
    judgement = Judgement(cheap)
    votes = {name: of.votes for name, of in first.items() if of.votes}
    moves = moves_to_change(rubric, judgement, thresholds)
    sure = is_sure(rubric, judgement, votes, thresholds, margin=0)
    return CascadeAnswer(
        case=label.case,
        moves=(inf if moves is None else moves) if sure else 0,
        first_wrong=one != person,
        last_wrong=two != person,
    )


def fit(answers: Sequence[CascadeAnswer]) -> CascadeFit:
    """Return the smallest margin with no more wrong verdicts than the last judge alone has."""
    clusters = []
    for case in dict.fromkeys(each.case for each in answers):
        others = [each for each in answers if each.case != case]
        margin = _margin(others or answers)
        clusters.append([float(each.wrong(margin)) for each in answers if each.case == case])
    found = rate_interval(clusters)
    return CascadeFit(
        answers=tuple(answers),
        margin=_margin(answers),
        left_out=found.value,
        interval=(found.low or 0.0, found.high or 0.0),
    )


def _margin(answers: Sequence[CascadeAnswer]) -> int:
    most = sum(each.last_wrong for each in answers)
    margins = _margins(answers)
    return next((m for m in margins if sum(each.wrong(m) for each in answers) <= most), margins[-1])


def _margins(answers: Sequence[CascadeAnswer]) -> range:
    return range(int(max((each.moves for each in answers if each.moves < inf), default=0)) + 1)


def render(found: CascadeFit, models: Sequence[str], incomplete: int) -> str:
    """Return the table of margins, the fitted one and its error."""
    return "\n".join(_lines(found, models, incomplete))


def _lines(found: CascadeFit, models: Sequence[str], incomplete: int) -> Iterator[str]:
    answers = found.answers
    yield f"{log_line(' then '.join(models))}: {numbers.plural(len(answers), 'labelled answer')}"
    if incomplete:
        yield f"{incomplete:,} more are not counted: the person or a judge gave not every mark"
    yield ""
    yield "margin  second judge asked  wrong verdicts"
    for margin in _margins(answers):
        asked = _share([each.moves <= margin for each in answers])
        yield f"{margin:>6}  {asked:>18}  {_share([each.wrong(margin) for each in answers]):>14}"
    yield f"{'first':>6}  {'0 %':>18}  {_share([each.first_wrong for each in answers]):>14}"
    yield f"{'second':>6}  {'100 %':>18}  {_share([each.last_wrong for each in answers]):>14}"
    yield ""
    asked = _share([each.moves <= found.margin for each in answers])
    low, high = found.interval
    yield (
        f"set `margin: {found.margin}`: the second judge is asked for {asked} of the answers, and "
        f"{100 * found.left_out:.0f} % of the verdicts are not the person's (95 % interval "
        f"{100 * low:.0f} to {100 * high:.0f} %, each case left out of the fit)"
    )


def _share(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / len(values):.0f} %"
