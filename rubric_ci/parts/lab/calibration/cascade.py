"""The margin of a cascade, fitted to people's labels, and the error of its verdicts."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, fsum, inf, sqrt
from operator import attrgetter

from rubric_ci.models.judge.panel import is_sure
from rubric_ci.models.judge.voting import moves_to_change
from rubric_ci.parts.lab.calibration.labels import LabelledAnswer
from rubric_ci.parts.lab.history.from_report import rate_interval
from rubric_ci.parts.lab.history.record import Interval
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.text.statistics.significance import PERCENT, Z
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import CriterionResult
from rubric_ci.values.rubric import Judgement, Mark, score
from rubric_ci.values.scoring import Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeAnswer:
    """A labelled answer: how near the first judge is to another verdict, and who is wrong."""

    case: str
    moves: float  # marks of the first judge that change its verdict; 0: unsure; inf: none do
    first_wrong: bool  # its verdict differs from the verdict by the person's marks
    last_wrong: bool
    weight: float = 1.0  # answers of a report that this one stands for

    def wrong(self, margin: int | None) -> bool:
        """Return True if the cascade gives another verdict than the person.

        Without a margin, the last judge is always asked.
        """
        asked = margin is None or self.moves <= margin
        return self.last_wrong if asked else self.first_wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeFit:
    """The fitted margin. `left_out` is the share of wrong verdicts with each case not fitted."""

    answers: tuple[CascadeAnswer, ...]
    tolerance: float
    margin: int | None  # None: no margin is shown to be as good
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


def fit(answers: Sequence[CascadeAnswer], tolerance: float) -> CascadeFit:
    """Return the smallest margin that is shown to be as good as the last judge alone.

    Its verdicts may be wrong more often by `tolerance`, at the upper end of the interval.
    """
    wrong, weights = [], []
    for case in dict.fromkeys(each.case for each in answers):
        of_case = [each for each in answers if each.case == case]
        others = [each for each in answers if each.case != case]
        margin = fitted(others or answers, tolerance)
        wrong.append([float(each.wrong(margin)) for each in of_case])
        weights.append([each.weight for each in of_case])
    found = rate_interval(wrong, weights if _weighed(answers) else ())
    return CascadeFit(
        answers=tuple(answers),
        tolerance=tolerance,
        margin=fitted(answers, tolerance),
        left_out=found.value,
        interval=(found.low or 0.0, found.high or 0.0),
    )


def fitted(answers: Sequence[CascadeAnswer], tolerance: float) -> int | None:
    """Return the smallest margin within the tolerance; None: there is none."""
    margins = _margins(answers)
    return next((m for m in margins if most_more_wrong(answers, m) <= tolerance), None)


def most_more_wrong(answers: Sequence[CascadeAnswer], margin: int) -> float:
    """Return the upper end of the interval of the verdicts that the last judge would have right.

    It is less those that it would have wrong: a paired difference, of which the intervals of both
    shares are added (Newcombe, "Improved confidence intervals for the difference between binomial
    proportions based on paired data", Statistics in Medicine 17, 1998).
    """
    lost = _interval(answers, lambda each: each.wrong(margin) and not each.last_wrong)
    won = _interval(answers, lambda each: each.last_wrong and not each.wrong(margin))
    reach = sqrt(((lost.high or 1.0) - lost.value) ** 2 + (won.value - (won.low or 0.0)) ** 2)
    return lost.value - won.value + reach


def _interval(answers: Sequence[CascadeAnswer], holds: Callable[[CascadeAnswer], bool]) -> Interval:
    cases: dict[str, list[CascadeAnswer]] = defaultdict(list)
    for each in answers:
        cases[each.case].append(each)
    values = [[float(holds(each)) for each in case] for case in cases.values()]
    weights = [[each.weight for each in case] for case in cases.values()]
    return rate_interval(values, weights if _weighed(answers) else ())


def _weighed(answers: Sequence[CascadeAnswer]) -> bool:
    return len({each.weight for each in answers}) > 1


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
    yield "margin  second judge asked  wrong verdicts  more than second, at most"
    for margin in _margins(answers):
        asked = _percent(answers, _asks_last(margin))
        more = f"{100 * most_more_wrong(answers, margin):.0f} %"
        yield f"{margin:>6}  {asked:>18}  {_percent(answers, _wrong(margin)):>14}  {more:>25}"
    for name, asked, judge in (("first", "0 %", "first_wrong"), ("second", "100 %", "last_wrong")):
        yield f"{name:>6}  {asked:>18}  {_percent(answers, attrgetter(judge)):>14}"
    yield ""
    yield _conclusion(found)


def _conclusion(found: CascadeFit) -> str:
    tolerance = f"{100 * found.tolerance:g} %"
    if found.margin is None:
        needed = f"{ceil(Z * Z / found.tolerance - Z * Z):,} do" if found.tolerance else "none do"
        return (
            f"no margin: {numbers.plural(len(found.answers), 'labelled answer')} do not show that "
            f"at most {tolerance} more of the verdicts are wrong than by the second judge alone "
            f"({PERCENT} interval); where the judges never differ, {needed}. Label more answers, "
            "raise `--tolerance`, or use the second judge alone"
        )
    asked = _percent(found.answers, _asks_last(found.margin))
    low, high = found.interval
    return (
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
