"""Compare a report with a baseline: case by case, and with a significance test."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import assert_never

from rubric_ci.model.config import RegressionConfig
from rubric_ci.model.defaults import TOLERANCE
from rubric_ci.model.report import (
    CHANGE_KINDS,
    CaseChange,
    ChangeKind,
    Comparison,
    JudgeInfo,
    RunReport,
    SuspectCounts,
)
from rubric_ci.model.results import CaseResult, Errored, Graded, Skipped, Trial, VerdictWord
from rubric_ci.reports import alarm_budget, significance
from rubric_ci.reports.alarm_budget import CaseKey, Tested, tier, trials_of

SIGNIFICANT = 0.05
DECIMALS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """What decides about a case: its separation, or its p-value within a budget."""

    tolerance: float
    config: RegressionConfig
    tested: Tested | None = None  # None: no budget applies


def compare(
    head: RunReport, baseline: RunReport, *, tolerance: float = TOLERANCE, complete: bool = True
) -> Comparison:
    """Compare each case of `head` with the same case of `baseline`.

    If `head` is not complete, a case that is missing in it was not run; it is not `gone`. A budget
    of false alarms applies if the baseline has the trials of a reference.
    """
    matched = counterparts(map(_key, head.cases), baseline.cases)
    rules = _rules(head, baseline, matched, tolerance)
    compared = (_change(case, matched.get(_key(case)), rules) for case in head.cases)
    changes = [change for change in compared if change]
    partial = not complete or head.spared > 0 or head.interrupted
    gone = () if partial else _gone(baseline.cases, matched.values())
    every = sorted((*changes, *gone), key=lambda change: CHANGE_KINDS.index(change.kind))
    notes = (*_differing_judges(head, baseline), *_too_few_trials(head, baseline, rules))
    return _whole(every, head, rules, notes)


def counterparts(
    head: Iterable[CaseKey], baseline: Iterable[CaseResult]
) -> dict[CaseKey, CaseResult]:
    """Return each case's counterpart: the same file and id, or the only moved case with its id."""
    return dict(_matched(head, baseline))


def _whole(
    changes: Sequence[CaseChange], head: RunReport, rules: _Rules, notes: tuple[str, ...]
) -> Comparison:
    clusters = _clustered(changes, head.cases)
    differences = [difference for cluster in clusters for difference in cluster]
    mean = _mean(differences)
    p_value = significance.p_value([fsum(c) for c in clusters]) if differences else None
    level = rules.config.false_alarms if rules.tested else SIGNIFICANT
    significant = p_value is not None and p_value < level
    worse = significant and mean is not None and mean < 0
    return Comparison(
        changes=tuple(changes),
        tolerance=rules.tolerance,
        paired=len(differences),
        mean_difference=mean,
        interval=significance.interval(clusters),
        p_value=p_value,
        clusters=len(clusters),
        significant=significant,
        suspects=_suspects(head, rules.tested, rules.config),
        regressed=worse or any(change.kind == "regressed" for change in changes),
        notes=(*notes, *_too_few_clusters(len(clusters), level)),
    )


def _key(case: CaseResult) -> CaseKey:
    return case.file, case.id


def _matched(
    head: Iterable[CaseKey], baseline: Iterable[CaseResult]
) -> Iterator[tuple[CaseKey, CaseResult]]:
    there = {_key(case): case for case in baseline}
    here = set(head)
    moved: dict[str, list[CaseResult]] = defaultdict(list)
    for key in there.keys() - here:
        moved[key[1]].append(there[key])
    for key in here:
        if key in there:
            yield key, there[key]
        elif len(moved[key[1]]) == 1:
            yield key, moved[key[1]][0]


def _rules(
    head: RunReport,
    baseline: RunReport,
    matched: Mapping[CaseKey, CaseResult],
    tolerance: float,
) -> _Rules:
    config = head.regression or RegressionConfig()
    if not alarm_budget.pools_enough(baseline.cases, config):
        return _Rules(tolerance=tolerance, config=config)
    pairs = {
        _key(case): alarm_budget.pair(case, was, config)
        for case in head.cases
        if isinstance(case, Graded) and isinstance(was := matched.get(_key(case)), Graded)
    }
    tested = alarm_budget.confirm_cases(pairs, config, tolerance)
    return _Rules(tolerance=tolerance, config=config, tested=tested)


def _clustered(changes: Iterable[CaseChange], cases: Iterable[CaseResult]) -> list[list[float]]:
    """Return the differences of the paired cases, by cluster."""
    named = {_key(case): case.cluster for case in cases if isinstance(case, Graded)}
    clusters: dict[object, list[float]] = defaultdict(list)
    for change in changes:
        if (difference := change.difference) is not None:
            key = change.file, change.id
            clusters[named.get(key) or key].append(difference)
    return list(clusters.values())


def _suspects(
    head: RunReport, tested: Tested | None, config: RegressionConfig
) -> SuspectCounts | None:
    if tested is None:
        return None
    graded = [case for case in head.cases if isinstance(case, Graded)]
    suspects = [c for c in graded if c.further_trials or _key(c) in tested.p_values]
    return SuspectCounts(
        false_alarms=config.false_alarms,
        suspects=len(suspects),
        confirmed=sum(tested.confirmed(_key(case)) for case in suspects),
        undecided=len(tested.undecided),
        further_trials=max((case.further_trials for case in suspects), default=0),
    )


def _gone(baseline: Iterable[CaseResult], found: Iterable[CaseResult]) -> tuple[CaseChange, ...]:
    kept = {_key(case) for case in found}
    return tuple(
        CaseChange(kind="gone", file=case.file, id=case.id, before=_trial(_graded(case)))
        for case in baseline
        if _key(case) not in kept
    )


def _change(case: CaseResult, was: CaseResult | None, rules: _Rules) -> CaseChange | None:
    """Return the change of a case; None if it is skipped and had no verdict before."""
    before, after = _graded(was), _graded(case)
    if isinstance(case, Skipped) and before is None:
        return None
    tested = rules.tested
    most = rules.config.reference_trials
    return CaseChange(
        kind=_kind(case, before, rules),
        file=case.file,
        id=case.id,
        before=alarm_budget.mean_trial(before, most) if before and tested else _trial(before),
        after=alarm_budget.mean_trial(after) if after and tested else _trial(after),
        flips=_flips(before) or _flips(after),
        p_value=tested.p_values.get(_key(case)) if tested else None,
    )


def _kind(case: CaseResult, before: Graded | None, rules: _Rules) -> ChangeKind:
    match case:
        case Errored():
            return "errored"
        case Graded() if before is not None and rules.tested:
            return _tested(case, before, rules.tested, rules.tolerance)
        case Graded() if before is not None:
            return _movement(case, before, rules.tolerance)
        case Graded():
            return "new"
        case Skipped():
            return "gone"  # it is no longer graded
        case _:
            assert_never(case)


def _tested(after: Graded, before: Graded, tested: Tested, tolerance: float) -> ChangeKind:
    """Return `regressed` for a confirmed suspect only; one that is not confirmed is `flaky`."""
    key = _key(after)
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


def _flips(case: Graded | None) -> bool:
    return case is not None and len(set(_verdicts(case))) > 1


def _verdicts(case: Graded) -> list[VerdictWord]:
    return [trial.verdict for trial in trials_of(case)]


def _graded(case: CaseResult | None) -> Graded | None:
    return case if isinstance(case, Graded) else None


def _trial(case: Graded | None) -> Trial | None:
    return None if case is None else Trial(verdict=case.verdict, score=case.score)


def _mean(differences: list[float]) -> float | None:
    return round(fsum(differences) / len(differences), DECIMALS) if differences else None


def _too_few_trials(head: RunReport, baseline: RunReport, rules: _Rules) -> Iterator[str]:
    """Yield what a baseline with some trials lacks for a budget of false alarms."""
    trials, needed = alarm_budget.trials_per_case(baseline.cases), rules.config.reference_trials
    if rules.tested is None and trials > 1 and alarm_budget.trials_per_case(head.cases):
        yield (
            f"The baseline has {trials} trials per case; false alarms are kept within a budget "
            f"from {needed} on (`regression.reference_trials`): create it with "
            f"`rubric-ci run --trials {needed}`."
        )


def _too_few_clusters(clusters: int, level: float) -> Iterator[str]:
    least = significance.least_clusters(level)
    if 0 < clusters < least:
        yield (
            f"With fewer than {least} independent cases or clusters ({clusters} here), "
            f"no change of the mean score is significant at {level:g}."
        )


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
