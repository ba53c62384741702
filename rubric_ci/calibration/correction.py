"""The pass rate of a report, corrected by labels, or why it is not corrected."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from rubric_ci.assertions.mark import assertion_marks
from rubric_ci.calibration.corrected_rate import correct, why_left
from rubric_ci.calibration.labels import Draw, Label, of_split, rubric_of
from rubric_ci.calibration.sample import is_eligible, judge_text, judged_as
from rubric_ci.history.from_report import pass_rate_variance
from rubric_ci.model.correction import CorrectedPassRate, Stratum
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import Assessed, Graded
from rubric_ci.model.rubric import Judgement, Mark, Rubric
from rubric_ci.model.scoring import Thresholds, Verdict, score


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A labelled answer of a draw: how far people pass it."""

    draw: Draw
    passes: float  # 1: all who labelled it pass it


def correction_of(
    report: RunReport, labels: Sequence[Label], cases: Sequence[EvalCase]
) -> CorrectedPassRate | None:
    """Return the corrected pass rate of a report, or why it is withheld; None: no labels.

    `cases` are those of the whole suite, also for the report of a shard.
    """
    labels = of_split(labels, "test")
    graded = _graded(report)
    if not labels or not graded:
        return None
    nothing = CorrectedPassRate(judged=_judged(graded))
    drawn = [label for label in labels if label.draw]
    if reason := next(_withheld(report, graded, drawn), ""):
        return replace(nothing, withheld=reason)
    thresholds = Thresholds(passing=report.gate.passing, borderline=report.gate.borderline)
    found = list(_verdicts(drawn, {(c.file, c.id): c for c in cases}, thresholds))
    if reason := next(_incomplete(drawn, found), ""):
        return replace(nothing, withheld=reason)
    days = sorted(each.draw.at for each in found)
    correction = replace(
        nothing,
        labels=len(found),
        labelled_from=days[0],
        labelled_to=days[-1],
        passes=_stratum(found, "pass"),
        fails=_stratum(found, "fail"),
    )
    return correction if report.shard else of_suite(correction, report)


def of_suite(correction: CorrectedPassRate, report: RunReport) -> CorrectedPassRate:
    """Return the correction of the report of a whole suite, by the labels of a correction."""
    graded = _graded(report)
    judged = _judged(graded)
    if correction.withheld:
        return replace(correction, judged=judged)
    variance = pass_rate_variance(graded)
    if left := why_left(judged, variance, correction.passes, correction.fails):
        return replace(correction, judged=judged, withheld=left)
    found = correct(judged, len(graded), correction.passes, correction.fails, variance=variance)
    # Rounded once, as scores are.
    value, low, high = (round(each, 6) for each in (found.value, found.low, found.high))
    return replace(correction, judged=judged, value=value, low=low, high=high)


def note_of(correction: CorrectedPassRate) -> str:
    """Return the line of a report about its correction."""
    judged = f"Pass rate judged {correction.judged:.2f}"
    if correction.value is None:
        return f"{judged}, not corrected for the judge's errors: {correction.withheld}."
    first, last = correction.labelled_from, correction.labelled_to
    when = first if first == last else f"{first} to {last}"
    interval = f"{correction.low:.2f} to {correction.high:.2f}"
    return (
        f"{judged}; {correction.value:.2f} ({interval}) corrected by "
        f"{correction.labels} labels of {when}."
    )


def _graded(report: RunReport) -> list[Graded]:
    return [case for case in report.cases if isinstance(case, Graded)]


def _judged(graded: Sequence[Graded]) -> float:
    return round(fmean(judged_as(case) == "pass" for case in graded), 6)


def _withheld(report: RunReport, graded: Sequence[Graded], drawn: Sequence[Label]) -> Iterator[str]:
    if not drawn:
        yield "the labels were not drawn at random (`rubric-ci judge label --sample`)"
    judge = judge_text(report.judge)
    judges = {label.draw.judge for label in drawn if label.draw}
    if others := sorted(judges - {judge}):
        yield f"the labels are of another judge ({others[0]}; now {judge})"
    models = {e.judge for c in graded for e in c.evaluators if isinstance(e, Assessed) and e.judge}
    if report.judge and models - {report.judge.model}:
        yield "some cases have a judge of their own"
    if not all(map(is_eligible, graded)):
        yield "the verdict of some cases depends on more than one rubric"


def _incomplete(drawn: Sequence[Label], found: Sequence[Drawn]) -> Iterator[str]:
    """Yield why the draws are not complete: what a person leaves out is not random."""
    complete: dict[Draw, int] = defaultdict(int)
    for each in found:
        complete[each.draw] += 1
    for draw in {label.draw for label in drawn if label.draw}:
        if missing := draw.drawn - complete[draw]:
            yield f"{missing} of {draw.drawn} drawn answers have no complete label"


def _verdicts(
    drawn: Sequence[Label], cases: Mapping[tuple[str, str], EvalCase], thresholds: Thresholds
) -> Iterator[Drawn]:
    """Yield each drawn answer that has a mark for every criterion of its rubric."""
    votes: dict[tuple[Draw, str, str, str], list[float]] = defaultdict(list)
    for label in drawn:
        case = cases.get((label.file, label.id))
        spec = rubric_of(case, label.evaluator) if case else None
        if label.draw and spec and {c.id for c in spec.rubric.judged} == label.marks.keys():
            key = (label.draw, label.file, label.id, label.answer)
            votes[key].append(float(_passes(label, spec.rubric, thresholds)))
    for (draw, *_), given in votes.items():
        yield Drawn(draw=draw, passes=_majority(fmean(given)))


def _majority(share: float) -> float:
    return 0.5 if share == 0.5 else float(share > 0.5)


def _passes(label: Label, rubric: Rubric, thresholds: Thresholds) -> bool:
    given = {name: Mark(value=value) for name, value in label.marks.items()}
    marks = {**assertion_marks(rubric, label.answer), **given}
    return score(rubric, Judgement(marks), thresholds).verdict is Verdict.PASS


def _stratum(found: Sequence[Drawn], judged: str) -> Stratum:
    drawn = [each for each in found if each.draw.judged == judged]
    return Stratum(
        labelled=len(drawn),
        passes=sum(each.passes for each in drawn),
        of=sum(draw.of for draw in {each.draw for each in drawn}),
    )
