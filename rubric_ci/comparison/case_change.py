"""The change of one case since a baseline: its kind, and how far verdicts and scores separate."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum
from typing import assert_never

from rubric_ci.comparison.alarm_budget import Tested
from rubric_ci.model.reference_log import CaseKey
from rubric_ci.model.regression_config import RegressionConfig
from rubric_ci.model.report import CaseChange, ChangeKind
from rubric_ci.model.results import CaseResult, Errored, Graded, Skipped, Trial, VerdictWord
from rubric_ci.model.trials import DECIMALS, tier, trials_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRules:
    """What decides about a case: its separation, or its p-value within a budget."""

    config: RegressionConfig
    tested: Tested | None = None  # None: no budget applies


def change_of(case: CaseResult, was: CaseResult | None, rules: ChangeRules) -> CaseChange | None:
    """Return the change of a case; None if it is skipped and had no verdict before."""
    before, after = _graded(was), _graded(case)
    if isinstance(case, Skipped) and before is None:
        return None
    tested = rules.tested
    most = rules.config.reference_trials
    kind = _kind(case, before, rules)
    return CaseChange(
        kind=kind,
        file=case.file,
        id=case.id,
        before=_mean(before, most) if before and tested else _trial(before),
        after=_mean(after) if after and tested else _trial(after),
        flips=_flips(before) or _flips(after),
        p_value=tested.p_values.get(key_of(case)) if tested else None,
        answer_before=_answer_before(after, before) if kind != "same" else "",
    )


def gone_cases(
    baseline: Iterable[CaseResult], found: Iterable[CaseResult]
) -> tuple[CaseChange, ...]:
    """Return the changes of the baseline's cases that no case of the run matches."""
    kept = {key_of(case) for case in found}
    return tuple(
        CaseChange(kind="gone", file=case.file, id=case.id, before=_trial(_graded(case)))
        for case in baseline
        if key_of(case) not in kept
    )


def key_of(case: CaseResult) -> CaseKey:
    """Return what identifies a case in a report: its file and id."""
    return case.file, case.id


def _kind(case: CaseResult, before: Graded | None, rules: ChangeRules) -> ChangeKind:
    match case:
        case Errored():
            return "errored"
        case Graded() if before is not None and rules.tested:
            return _tested(case, before, rules.tested, rules.config.tolerance)
        case Graded() if before is not None:
            return _movement(case, before, rules.config.tolerance)
        case Graded():
            return "new"
        case Skipped():
            return "gone"  # it is no longer graded
        case _:
            assert_never(case)


def _tested(after: Graded, before: Graded, tested: Tested, tolerance: float) -> ChangeKind:
    """Return `regressed` for a confirmed suspect only; one that is not confirmed is `flaky`."""
    key = key_of(after)
    if tested.confirmed(key):
        return "regressed"
    kind = _movement(after, before, tolerance)
    return "flaky" if kind == "regressed" or key in tested.p_values else kind


def _movement(after: Graded, before: Graded, tolerance: float) -> ChangeKind:
    rise = tier(after.verdict) - tier(before.verdict)
    difference = round(after.score - before.score, DECIMALS)
    if not rise and abs(difference) <= tolerance:
        return "same"
    better = (rise or difference) > 0
    low, high = (before, after) if better else (after, before)
    if not _separated(low, high, tolerance):
        return "flaky"
    return "improved" if better else "regressed"


def _separated(low: Graded, high: Graded, tolerance: float) -> bool:
    """Return True if all trials of `low` are below all of `high`, in a quantity that changed.

    A verdict that fell while every score rose, a missed gate, is separated by its verdicts only.
    """
    if tier(low.verdict) < tier(high.verdict) and _below(_tiers(low), _tiers(high)):
        return True
    fell = round(high.score - low.score, DECIMALS) > tolerance
    return fell and _below(_scores(low), _scores(high))


def _below(low: list[float], high: list[float]) -> bool:
    return max(low) < min(high)


def _tiers(case: Graded) -> list[float]:
    return [tier(verdict) for verdict in _verdicts(case)]


def _scores(case: Graded) -> list[float]:
    return [trial.score for trial in trials_of(case)]


def _answer_before(after: Graded | None, before: Graded | None) -> str:
    """Return the answer in the baseline, if both are known and differ."""
    if after is None or before is None or after.answer == before.answer:
        return ""
    return before.answer


def _flips(case: Graded | None) -> bool:
    return case is not None and len(set(_verdicts(case))) > 1


def _verdicts(case: Graded) -> list[VerdictWord]:
    return [trial.verdict for trial in trials_of(case)]


def _graded(case: CaseResult | None) -> Graded | None:
    return case if isinstance(case, Graded) else None


def _trial(case: Graded | None) -> Trial | None:
    return None if case is None else Trial(verdict=case.verdict, score=case.score)


def _mean(case: Graded, most: int | None = None) -> Trial:
    """Return the verdict of a case and the mean score of its trials, of `most` at most."""
    scores = [trial.score for trial in trials_of(case)[:most]]
    return Trial(verdict=case.verdict, score=round(fsum(scores) / len(scores), DECIMALS))
