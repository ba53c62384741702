"""Compare a report with a baseline: case by case, and with a significance test."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import fsum
from typing import assert_never

from rubric_ci.model.defaults import TOLERANCE
from rubric_ci.model.report import (
    CHANGE_KINDS,
    CaseChange,
    ChangeKind,
    Comparison,
    JudgeInfo,
    RunReport,
)
from rubric_ci.model.results import CaseResult, Errored, Graded, Skipped, Trial, VerdictWord
from rubric_ci.reports import significance

SIGNIFICANT = 0.05
DECIMALS = 6

_TIERS: tuple[VerdictWord, ...] = ("fail", "borderline", "pass")


def compare(
    head: RunReport, baseline: RunReport, *, tolerance: float = TOLERANCE, complete: bool = True
) -> Comparison:
    """Compare each case of `head` with the same case of `baseline`.

    If `head` is not complete, a case that is missing in it was not run; it is not `gone`.
    """
    matched = dict(_matched(head.cases, baseline.cases))
    compared = (_change(case, matched.get(_key(case)), tolerance) for case in head.cases)
    changes = [change for change in compared if change]
    partial = not complete or head.spared > 0 or head.interrupted
    gone = () if partial else _gone(baseline.cases, matched.values())
    every = sorted((*changes, *gone), key=lambda change: CHANGE_KINDS.index(change.kind))
    differences = [d for change in every if (d := change.difference) is not None]
    mean, p_value = _mean(differences), significance.p_value(differences) if differences else None
    significant = p_value is not None and p_value < SIGNIFICANT
    worse = significant and mean is not None and mean < 0
    return Comparison(
        changes=tuple(every),
        tolerance=tolerance,
        paired=len(differences),
        mean_difference=mean,
        interval=significance.interval(differences),
        p_value=p_value,
        significant=significant,
        regressed=worse or any(change.kind == "regressed" for change in every),
        notes=tuple(_differing_judges(head, baseline)),
    )


def _key(case: CaseResult) -> tuple[str, str]:
    return case.file, case.id


def _matched(
    head: Iterable[CaseResult], baseline: Iterable[CaseResult]
) -> Iterator[tuple[tuple[str, str], CaseResult]]:
    """Yield each case's counterpart: the same file and id, or the only moved case with its id."""
    there = {_key(case): case for case in baseline}
    here = {_key(case) for case in head}
    moved: dict[str, list[CaseResult]] = defaultdict(list)
    for key in there.keys() - here:
        moved[key[1]].append(there[key])
    for key in here:
        if key in there:
            yield key, there[key]
        elif len(moved[key[1]]) == 1:
            yield key, moved[key[1]][0]


def _gone(baseline: Iterable[CaseResult], found: Iterable[CaseResult]) -> tuple[CaseChange, ...]:
    kept = {_key(case) for case in found}
    return tuple(
        CaseChange(kind="gone", file=case.file, id=case.id, before=_trial(_graded(case)))
        for case in baseline
        if _key(case) not in kept
    )


def _change(case: CaseResult, was: CaseResult | None, tolerance: float) -> CaseChange | None:
    """Return the change of a case; None if it is skipped and had no verdict before."""
    before, after = _graded(was), _graded(case)
    if isinstance(case, Skipped) and before is None:
        return None
    return CaseChange(
        kind=_kind(case, before, tolerance),
        file=case.file,
        id=case.id,
        before=_trial(before),
        after=_trial(after),
        flips=_flips(before) or _flips(after),
    )


def _kind(case: CaseResult, before: Graded | None, tolerance: float) -> ChangeKind:
    match case:
        case Errored():
            return "errored"
        case Graded() if before is not None:
            return _movement(case, before, tolerance)
        case Graded():
            return "new"
        case Skipped():
            return "gone"  # it is no longer graded
        case _:
            assert_never(case)


def _movement(after: Graded, before: Graded, tolerance: float) -> ChangeKind:
    rise = _tier(after.verdict) - _tier(before.verdict)
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
    if _tier(low.verdict) < _tier(high.verdict) and _below(_tiers(low), _tiers(high)):
        return True
    fell = round(high.score - low.score, DECIMALS) > tolerance
    return fell and _below(_scores(low), _scores(high))


def _below(low: list[float], high: list[float]) -> bool:
    return max(low) < min(high)


def _tiers(case: Graded) -> list[float]:
    return [_tier(verdict) for verdict in _verdicts(case)]


def _scores(case: Graded) -> list[float]:
    return [trial.score for trial in case.trials] or [case.score]


def _flips(case: Graded | None) -> bool:
    return case is not None and len(set(_verdicts(case))) > 1


def _verdicts(case: Graded) -> list[VerdictWord]:
    return [trial.verdict for trial in case.trials] or [case.verdict]


def _tier(verdict: VerdictWord) -> int:
    return _TIERS.index(verdict)


def _graded(case: CaseResult | None) -> Graded | None:
    return case if isinstance(case, Graded) else None


def _trial(case: Graded | None) -> Trial | None:
    return None if case is None else Trial(verdict=case.verdict, score=case.score)


def _mean(differences: list[float]) -> float | None:
    return round(fsum(differences) / len(differences), DECIMALS) if differences else None


def _differing_judges(head: RunReport, baseline: RunReport) -> Iterator[str]:
    if head.judge and baseline.judge and head.judge != baseline.judge:
        differences = "; ".join(_judge_differences(baseline.judge, head.judge))
        yield f"The judges differ ({differences}): score changes may come from the judge."
    then, now = baseline.gate, head.gate
    if (then.passing, then.borderline) != (now.passing, now.borderline):
        yield (
            f"The thresholds differ (pass ≥ {then.passing:g}, now ≥ {now.passing:g}; "
            f"borderline ≥ {then.borderline:g}, now ≥ {now.borderline:g})."
        )


def _judge_differences(then: JudgeInfo, now: JudgeInfo) -> Iterator[str]:
    """Yield the settings that differ."""
    if then.model != now.model:
        yield f"`{then.model}`, now `{now.model}`"
    if then.prompt_version != now.prompt_version:
        yield f"prompt {then.prompt_version}, now {now.prompt_version}"
    if then.mode != now.mode:
        yield f"{then.mode}, now {now.mode}"
    if then.votes != now.votes:
        yield f"votes {then.votes}, now {now.votes}"
