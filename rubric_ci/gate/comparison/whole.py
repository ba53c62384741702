"""A comparison as a whole: its source, and the counts of the cases that both sides graded."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from rubric_ci.gate.comparison import verdicts
from rubric_ci.values.comparison import Comparison, Source
from rubric_ci.values.report import Against
from rubric_ci.values.results import CaseResult
from rubric_ci.values.scoring import DECIMALS


def of_commit(against: Against, cases: Sequence[CaseResult]) -> Comparison:
    """Return the comparison of a run with a commit that was graded with it."""
    found = of_cases("commit", cases)
    together = against.together
    return replace(
        found,
        ref=against.ref,
        commit=against.commit,
        together=together,
        worse=found.worse or (together is not None and together.worse),
    )


def of_cases(source: Source, cases: Sequence[CaseResult]) -> Comparison:
    """Return the counts of the cases with a verdict on both sides."""
    both = verdicts.counted(cases)
    then = [case.before.verdict for case in both if case.before]
    scores = [case.before.score for case in both if case.before and case.before.score is not None]
    return Comparison(
        source=source,
        compared=len(both),
        passed=sum(case.verdict == "pass" for case in both),
        passed_before=sum(verdict == "pass" for verdict in then),
        mean=_mean([case.score for case in both]),
        mean_before=_mean(scores),
        worse=any(case.change == "broken" for case in cases),
    )


def _mean(scores: Sequence[float]) -> float | None:
    return round(fmean(scores), DECIMALS) if scores else None
