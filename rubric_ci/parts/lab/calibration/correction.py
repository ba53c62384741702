"""The pass rate of a report, corrected by labels, or why it is not corrected."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum, sqrt
from statistics import fmean
from typing import Final

from rubric_ci.evaluators.assertions.assertion_table import assertion_marks, did
from rubric_ci.files.project.loaded_project import LoadedProject
from rubric_ci.parts.lab.calibration import labels
from rubric_ci.parts.lab.calibration.label_file import is_eligible, judge_text, judged_as
from rubric_ci.parts.lab.calibration.labels import Draw, Label, of_split, rubric_of
from rubric_ci.parts.lab.history.from_report import pass_rate_variance
from rubric_ci.text.statistics import judge_errors
from rubric_ci.text.statistics.significance import Z, t_quantile
from rubric_ci.values.answers import answer_of, identity
from rubric_ci.values.comparison import CorrectedPassRate, Stratum
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.media import without_names
from rubric_ci.values.option_values import LABELS
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Assessed, Graded
from rubric_ci.values.rubric import Judgement, Mark, Rubric, score
from rubric_ci.values.scoring import Thresholds

FAR: Final = 2  # standard errors


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate:
    """A pass rate with its 95 % interval."""

    value: float
    low: float
    high: float


def correct(
    judged: float, cases: int, passes: Stratum, fails: Stratum, *, variance: float | None = None
) -> CorrectedRate:
    """Return the pass rate corrected for the judge's errors, post-stratified.

    With q the judged pass rate over N cases, A = (confirmed passes + ½) / (m₁ + 1) of the m₁
    labelled passes and B = (overturned fails + ½) / (m₀ + 1) of the m₀ labelled fails:
    p = qA + (1 - q)B with the variance
    (A - B)² q(1 - q)/N + q² A(1 - A)/(m₁ + 1) + (1 - q)² B(1 - B)/(m₀ + 1)
    (Lee et al., arXiv:2511.21140, and Chen et al., arXiv:2601.05420, for random draws within the
    judge's verdicts). `variance` replaces q(1 - q)/N where cases are clustered. Labels that were
    chosen by what a person thinks make the result wrong. A and B hold while the pass rate of people
    stays; for a report other than the draws', the interval has the one after a move as well.
    """
    q, a, b = judged, _share(passes), _share(fails)
    value = q * a + (1 - q) * b
    sampling = q * (1 - q) / cases if variance is None else variance
    parts = (
        ((a - b) ** 2 * sampling, cases - 1),
        (q**2 * a * (1 - a) / (passes.labelled + 1), passes.labelled),
        ((1 - q) ** 2 * b * (1 - b) / (fails.labelled + 1), fails.labelled),
    )
    reach = _quantile(parts) * sqrt(fsum(part for part, _ in parts))
    low, high = value - reach, value + reach
    answers = passes.of + fails.of
    if answers and judged != passes.of / answers:
        moved, error = _moved(judged, sampling, passes, fails)
        low, high = min(low, moved - Z * error), max(high, moved + Z * error)
    return CorrectedRate(value=value, low=max(0.0, low), high=min(1.0, high))


def _moved(judged: float, sampling: float, passes: Stratum, fails: Stratum) -> tuple[float, float]:
    """Return the pass rate and its standard error if the pass rate of people has moved."""
    answers = passes.of + fails.of
    rate, a, b = (passes.of + 0.5) / (answers + 1), _share(passes), _share(fails)
    return judge_errors.estimate(
        judge_errors.Measured(value=judged, variance=sampling),
        judge_errors.Measured(value=rate, variance=rate * (1 - rate) / (answers + 1)),
        judge_errors.Measured(value=a, variance=a * (1 - a) / (passes.labelled + 1)),
        judge_errors.Measured(value=b, variance=b * (1 - b) / (fails.labelled + 1)),
    )


def why_left(judged: float, variance: float, passes: Stratum, fails: Stratum) -> str:
    """Return why the labels no longer hold for a judged pass rate; "": they do.

    The shares of errors among the judge's passes and fails depend on the pass rate. They hold while
    the judged rate is within two standard errors of the rate in the reports of the draws.
    """
    answers = passes.of + fails.of
    then = passes.of / answers
    if (judged - then) ** 2 <= FAR**2 * (variance + then * (1 - then) / answers):
        return ""
    return (
        f"the judged pass rate was {then:.2f} when the labels were drawn, which differs by more "
        f"than {FAR} standard errors: label answers of this report "
        "(`rubric-ci judge label --sample`)"
    )


def _quantile(parts: Sequence[tuple[float, int]]) -> float:
    """Return the quantile of Student's t with the degrees of freedom of a sum of variances.

    (Σ v)² / Σ v²/f (Satterthwaite, Biometrics Bulletin 2, 1946): few labels widen the interval.
    """
    total = fsum(part for part, _ in parts)
    if not total:
        return 0.0
    freedom = total**2 / fsum(part**2 / max(1, each) for part, each in parts)
    return t_quantile(max(1, int(freedom)))


def _share(stratum: Stratum) -> float:
    return (stratum.passes + 0.5) / (stratum.labelled + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A labelled answer of a draw: how far people pass it."""

    draw: Draw
    passes: float  # 1: all who labelled it pass it


def correction_of(
    report: RunReport, labels: Sequence[Label], cases: Sequence[EvalCase]
) -> CorrectedPassRate | None:
    """Return the corrected pass rate of a report, or why it is withheld; None: no labels.

    `cases` has every case of the suite, also for the report of a shard.
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
    found = list(_verdicts(drawn, {c.key: c for c in cases}, thresholds))
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
        yield "some cases have their own judge"
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
            key = (label.draw, label.file, label.id, identity(label))
            votes[key].append(float(_passes(label, spec.rubric, thresholds)))
    for (draw, *_), given in votes.items():
        yield Drawn(draw=draw, passes=_majority(fmean(given)))


def _majority(share: float) -> float:
    return 0.5 if share == 0.5 else float(share > 0.5)


def _passes(label: Label, rubric: Rubric, thresholds: Thresholds) -> bool:
    given = {name: Mark(value=value) for name, value in label.marks.items()}
    said = without_names(label.answer, label.media)
    marks = {**assertion_marks(rubric, said, did(answer_of(label))), **given}
    return score(rubric, Judgement(marks), thresholds).verdict == "pass"


def _stratum(found: Sequence[Drawn], judged: str) -> Stratum:
    drawn = [each for each in found if each.draw.judged == judged]
    return Stratum(
        labelled=len(drawn),
        passes=sum(each.passes for each in drawn),
        of=sum(draw.of for draw in {each.draw for each in drawn}),
    )


def with_correction(report: RunReport, loaded: LoadedProject) -> RunReport:
    """Add the corrected pass rate, or why it is withheld.

    The labels are from the policy's commit. A run of some cases, such as a pull
    request, is left as it is: the labels vouch for the suite that they were drawn from. Each shard
    carries the labels of its cases, and the merged report is corrected by all of them.
    """
    if not report.scope.without("shard").complete:
        return report
    content = loaded.project.policy_files.read(LABELS)
    if content is None:
        return report
    found, problems = labels.parse(LABELS, content.decode(errors="replace"))
    if problems:
        note = (
            f"{LABELS} has problems: run `rubric-ci judge calibrate {LABELS}` to see them; the "
            "pass rate is not corrected for the judge's errors."
        )
        return replace(report, notes=(*report.notes, note))
    return _with(report, correction_of(report, found, loaded.cases))


def with_merged_correction(report: RunReport, shards: Sequence[RunReport]) -> RunReport:
    """Correct the pass rate of merged shards by the labels that each shard carries."""
    parts = [shard.corrected_pass_rate for shard in shards if shard.corrected_pass_rate]
    if not (parts and report.scope.complete):
        return replace(report, corrected_pass_rate=None)
    from rubric_ci.parts.lab.calibration.correction import of_suite

    first = next((part for part in parts if part.withheld), parts[0])
    return _with(report, of_suite(first, report))


def _with(report: RunReport, correction: CorrectedPassRate | None) -> RunReport:
    """Add a correction, and a note about it unless the report is of a shard."""
    if correction is None:
        return report
    from rubric_ci.parts.lab.calibration.correction import note_of

    notes = report.notes if report.shard else (*report.notes, note_of(correction))
    return replace(report, corrected_pass_rate=correction, notes=notes)
