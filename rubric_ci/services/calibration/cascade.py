"""The margin of a cascade, fitted to people's labels, and the error of its verdicts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum, inf
from operator import attrgetter

from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.results import CriterionResult
from rubric_ci.model.rubric import Judgement, Mark, score
from rubric_ci.model.scoring import Thresholds
from rubric_ci.models.judge.panel import is_sure
from rubric_ci.models.judge.voting import moves_to_change
from rubric_ci.reports.history.from_report import rate_interval
from rubric_ci.services.calibration.labels import LabelledAnswer
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.text.statistics.significance import PERCENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeAnswer:
    """A labelled answer: how near the first judge is to another verdict, and who is wrong."""

    case: str
    moves: float  # marks of the first judge that change its verdict; 0: unsure; inf: none do
    first_wrong: bool  # its verdict differs from the verdict by the person's marks
    last_wrong: bool
    weight: float = 1.0  # answers of a report that this one stands for

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
        weight=label.weight,
    )


def fit(answers: Sequence[CascadeAnswer]) -> CascadeFit:
    """Return the smallest margin with no more wrong verdicts than the last judge alone has."""
    wrong, weights = [], []
    for case in dict.fromkeys(each.case for each in answers):
        of_case = [each for each in answers if each.case == case]
        others = [each for each in answers if each.case != case]
        margin = _margin(others or answers)
        wrong.append([float(each.wrong(margin)) for each in of_case])
        weights.append([each.weight for each in of_case])
    found = rate_interval(wrong, weights if len({each.weight for each in answers}) > 1 else ())
    return CascadeFit(
        answers=tuple(answers),
        margin=_margin(answers),
        left_out=found.value,
        interval=(found.low or 0.0, found.high or 0.0),
    )


def _margin(answers: Sequence[CascadeAnswer]) -> int:
    most = _share(answers, lambda each: each.last_wrong)
    margins = _margins(answers)
    return next((m for m in margins if _share(answers, _wrong(m)) <= most), margins[-1])


def _wrong(margin: int) -> Callable[[CascadeAnswer], bool]:
    return lambda each: each.wrong(margin)


def _asks_last(margin: int) -> Callable[[CascadeAnswer], bool]:
    return lambda each: each.moves <= margin


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
        asked = _percent(answers, _asks_last(margin))
        yield f"{margin:>6}  {asked:>18}  {_percent(answers, _wrong(margin)):>14}"
    for name, asked, judge in (("first", "0 %", "first_wrong"), ("second", "100 %", "last_wrong")):
        yield f"{name:>6}  {asked:>18}  {_percent(answers, attrgetter(judge)):>14}"
    yield ""
    asked = _percent(answers, _asks_last(found.margin))
    low, high = found.interval
    yield (
        f"set `margin: {found.margin}`: the second judge is asked for {asked} of the answers, and "
        f"{100 * found.left_out:.0f} % of the verdicts are not the person's ({PERCENT} interval "
        f"{100 * low:.0f} to {100 * high:.0f} %, each case left out of the fit)"
    )


def _percent(answers: Sequence[CascadeAnswer], holds: Callable[[CascadeAnswer], bool]) -> str:
    return f"{100 * _share(answers, holds):.0f} %"


def _share(answers: Sequence[CascadeAnswer], holds: Callable[[CascadeAnswer], bool]) -> float:
    """Return the share of the answers of the report that these stand for."""
    total = fsum(each.weight for each in answers)
    return fsum(each.weight for each in answers if holds(each)) / total
