"""How cases differ from before: each by its first answer and by asking again, and the whole."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Final, assert_never

from rubric_ci.gate.comparison import rule
from rubric_ci.gate.comparison.rule import Needs
from rubric_ci.values.comparison import Comparison, RegressionConfig, Source
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.media import answer_pictures
from rubric_ci.values.report import Against
from rubric_ci.values.results import (
    AnswerSource,
    AskedAgain,
    BaseResult,
    CaseResult,
    Change,
    Errored,
    Graded,
    Skipped,
    Trial,
    both_graded,
    with_verdict,
)
from rubric_ci.values.scoring import DECIMALS
from rubric_ci.values.trials import trials_of

SUSPECTED: Final = "confirmed if it is worse tomorrow"
NOTED: Final = "`regression.repeated` is `note`, so it does not count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    change: Change
    reason: str = ""
    asked: AskedAgain | None = None


def compare(head: CaseResult, before: CaseResult, place: str = " at the base") -> Compared:
    """Return how a case differs by its first answers: a suspect is `broken`."""
    for now, then in both_graded([(head, before)]):
        if rule.is_suspect(now, then):
            return Compared(change="broken")
        if rule.is_suspect(then, now):
            return Compared(change="better")
        fails = now.verdict == then.verdict == "fail"
        return Compared(change="failing-before" if fails else "unchanged")
    problem = without_verdict(head, "") or without_verdict(before, place)
    return Compared(change="not-comparable", reason=problem)


def conclude(
    head: Graded,
    before: Graded,
    first: Graded,
    needs: Needs,
    config: RegressionConfig,
    *,
    judged: bool = False,
) -> Compared:
    """Return the conclusion for a suspect, from all answers of both sides.

    `first` is the result of the first round before; `judged`: both answers are recorded.
    """
    verdict = rule.verdict_of(first)
    held = rule.held(head, verdict), rule.held(before, verdict)
    found = rule.find(*held, needs)
    asked = AskedAgain(
        here=rule.counts(head, verdict),
        before=rule.counts(before, verdict),
        repeats=not judged and repeats(head) and repeats(before),
        judged=judged,
    )
    if found != "broken":
        return Compared(change="not-confirmed", asked=asked)
    if asked.repeats and config.repeated == "note":
        return Compared(change="not-confirmed", reason=NOTED, asked=asked)
    return Compared(change="broken", asked=asked)


def repeats(case: Graded) -> bool:
    """Return True if several answers of a side are one text, with one work."""
    said = [_said(trial) for trial in trials_of(case)]
    return len(said) > 1 and None not in said and len(set(said)) == 1


def _said(trial: Trial) -> Hashable:
    if trial.answer is None:
        return None
    steps = trial.trace.steps if trial.trace else ()
    work = [(step.tool, step.arguments, step.result) for step in steps]
    media = [each.digest for each in trial.media]
    return trial.answer, repr(work), repr(trial.file_changes), *media


def without_verdict(result: CaseResult, where: str) -> str:
    """Return why a case is in no comparison; empty if it has a verdict."""
    if isinstance(result, Graded):
        return ""
    word = "no verdict" if isinstance(result, Errored) else "not graded"
    return f"{word}{where}: {result.reason}"


def changed(case: CaseResult, found: Compared, before: BaseResult | None = None) -> CaseResult:
    """Return a case with how it differs, and what it was before."""
    change, reason = found.change, found.reason
    match case:
        case Skipped():
            return replace(case, change=change, change_reason=reason)
        case Errored():
            return replace(case, change=change, change_reason=reason, before=before)
        case Graded():
            asked = found.asked
            return replace(
                case, change=change, change_reason=reason, asked_again=asked, before=before
            )
        case _:
            assert_never(case)


def base_result(base: CaseResult) -> BaseResult:
    asked: AnswerSource = "reused" if base.answer_reused else "asked"
    return BaseResult(
        outcome=base.outcome,
        verdict=base.verdict,
        score=base.score,
        reason=base.reason,
        answer=base.answer,
        trace=base.trace,
        file_changes=base.file_changes,
        media=answer_pictures(base.media),
        source="recorded" if base.recorded else asked,
        answered_at=base.answered_at,
        trials=base.trials,
        further_trials=base.further_trials,
        evaluators=base.evaluators,
        usage=base.usage,
    )


def of_commit(against: Against, cases: Sequence[CaseResult]) -> Comparison:
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
    both = [
        (case, case.before)
        for case in with_verdict(cases)
        if case.before and case.before.verdict is not None
    ]
    return Comparison(
        source=source,
        compared=len(both),
        passed=sum(case.verdict == "pass" for case, _ in both),
        passed_before=sum(before.verdict == "pass" for _, before in both),
        mean=_mean([case.score for case, _ in both]),
        mean_before=_mean([before.score for _, before in both if before.score is not None]),
        worse=any(case.change == "broken" for case in cases),
    )


def _mean(scores: Sequence[float]) -> float | None:
    return round(fmean(scores), DECIMALS) if scores else None
