"""Compare a report with a baseline: case by case, and with a significance test."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum

from rubric_ci.comparison import alarm_budget, reference
from rubric_ci.comparison.alarm_budget import Tested
from rubric_ci.comparison.case_change import ChangeRules, change_of, gone_cases, key_of
from rubric_ci.comparison.notes import (
    cached_marks,
    differing_judges,
    parts_of_suite,
    too_few_clusters,
    too_few_trials,
    why_judge_moved,
)
from rubric_ci.model.reference_log import CaseKey, ReferenceLog
from rubric_ci.model.regression_config import RegressionConfig
from rubric_ci.model.report import (
    CHANGE_KINDS,
    CaseChange,
    Comparison,
    ReferenceInfo,
    RunReport,
    SuspectCounts,
)
from rubric_ci.model.results import CaseResult, Graded
from rubric_ci.model.trials import DECIMALS, first_mean
from rubric_ci.statistics import significance

SIGNIFICANT = 0.05


def compare(
    head: RunReport,
    baseline: RunReport,
    *,
    log: ReferenceLog | None = None,
) -> Comparison:
    """Compare each case of `head` with the same case of `baseline`.

    A case that a part of the suite left out was not run; it is not `gone`. A budget of false alarms
    applies if the baseline has the trials of a reference, and always if it is pinned, which is if
    it has a log.
    """
    matched = counterparts(map(key_of, head.cases), baseline.cases)
    rules = _rules(head, baseline, matched, pinned=log is not None)
    compared = (change_of(case, matched.get(key_of(case)), rules) for case in head.cases)
    changes = [change for change in compared if change]
    gone = gone_cases(baseline.cases, matched.values()) if head.scope.complete else ()
    every = sorted((*changes, *gone), key=lambda change: CHANGE_KINDS.index(change.kind))
    notes = (
        *parts_of_suite(head, baseline),
        *differing_judges(head, baseline),
        *too_few_trials(head, baseline, rules),
        *cached_marks(head, rules),
    )
    clusters = _clustered(head.cases, matched, rules.config)
    whole = _whole(every, clusters, head, rules, notes)
    if moved := why_judge_moved(head, baseline, pinned=log is not None):
        return _with_moved_judge(whole, moved, reference.info(head, baseline, log))
    evidence = reference.evidence(head.cases, matched, rules.config) if rules.tested else ()
    slide = reference.slide(log, head, evidence, rules.config) if log else None
    return replace(
        whole,
        reference=reference.info(head, baseline, log),
        slide=slide,
        log_products=evidence,
        regressed=whole.regressed or (slide is not None and slide.detected),
    )


def _with_moved_judge(whole: Comparison, reason: str, info: ReferenceInfo | None) -> Comparison:
    """Return the comparison without a conclusion: what differs may come from the judge."""
    differs = {"regressed", "improved", "flaky"}
    changes: list[CaseChange] = [
        replace(each, kind="unclear") if each.kind in differs else each for each in whole.changes
    ]
    return replace(
        whole,
        changes=tuple(sorted(changes, key=lambda change: CHANGE_KINDS.index(change.kind))),
        reference=info,
        judge_moved=reason,
        significant=False,
        regressed=False,
        suspects=None,
    )


def counterparts(
    head: Iterable[CaseKey], baseline: Iterable[CaseResult]
) -> dict[CaseKey, CaseResult]:
    """Return each case's counterpart: the same file and id, or the only moved case with its id."""
    return dict(_matched(head, baseline))


def _whole(
    changes: Sequence[CaseChange],
    clusters: Sequence[Sequence[float]],
    head: RunReport,
    rules: ChangeRules,
    notes: tuple[str, ...],
) -> Comparison:
    differences = [difference for cluster in clusters for difference in cluster]
    mean = _mean(differences)
    p_value = significance.p_value([fsum(c) for c in clusters]) if differences else None
    level = rules.config.false_alarms if rules.tested else SIGNIFICANT
    significant = p_value is not None and p_value < level
    worse = significant and mean is not None and mean < 0
    return Comparison(
        changes=tuple(changes),
        tolerance=rules.config.tolerance,
        paired=len(differences),
        mean_difference=mean,
        interval=significance.interval(clusters),
        p_value=p_value,
        clusters=len(clusters),
        significant=significant,
        suspects=_suspects(head, rules.tested, rules.config),
        regressed=worse or any(change.kind == "regressed" for change in changes),
        notes=(*notes, *too_few_clusters(len(clusters), level)),
    )


def _matched(
    head: Iterable[CaseKey], baseline: Iterable[CaseResult]
) -> Iterator[tuple[CaseKey, CaseResult]]:
    there = {key_of(case): case for case in baseline}
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
    *,
    pinned: bool,
) -> ChangeRules:
    """Return the budget's rules for a pinned reference and for a baseline with enough trials."""
    config = head.regression or RegressionConfig()
    if not (pinned or alarm_budget.pools_enough(baseline.cases, config)):
        return ChangeRules(config=config)
    pairs = {
        key_of(case): alarm_budget.pair(case, was, config)
        for case in head.cases
        if isinstance(case, Graded) and isinstance(was := matched.get(key_of(case)), Graded)
    }
    tested = alarm_budget.confirm_cases(pairs, config)
    return ChangeRules(config=config, tested=tested)


def _clustered(
    head: Iterable[CaseResult], matched: Mapping[CaseKey, CaseResult], config: RegressionConfig
) -> list[list[float]]:
    """Return the differences of the means of first trials, by cluster."""
    clusters: dict[object, list[float]] = defaultdict(list)
    for case in head:
        was = matched.get(key_of(case))
        if isinstance(case, Graded) and isinstance(was, Graded):
            difference = first_mean(case) - first_mean(was, config.reference_trials)
            clusters[case.cluster or key_of(case)].append(round(difference, DECIMALS))
    return list(clusters.values())


def _suspects(
    head: RunReport, tested: Tested | None, config: RegressionConfig
) -> SuspectCounts | None:
    if tested is None:
        return None
    graded = [case for case in head.cases if isinstance(case, Graded)]
    suspects = [c for c in graded if c.further_trials or key_of(c) in tested.p_values]
    return SuspectCounts(
        false_alarms=config.false_alarms,
        suspects=len(suspects),
        confirmed=sum(tested.confirmed(key_of(case)) for case in suspects),
        undecided=len(tested.undecided),
        further_trials=max((case.further_trials for case in suspects), default=0),
    )


def _mean(differences: list[float]) -> float | None:
    return round(fsum(differences) / len(differences), DECIMALS) if differences else None
