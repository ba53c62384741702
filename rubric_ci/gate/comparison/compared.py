"""A run compared with an earlier report: case by case, and with a significance test."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum
from statistics import fmean

from rubric_ci.gate.comparison import alarm_budget, reference
from rubric_ci.gate.comparison.alarm_budget import Tested
from rubric_ci.gate.comparison.case_change import ChangeRules, changed, removed_cases
from rubric_ci.gate.comparison.notes import (
    cached_marks,
    differing_judges,
    nights_alike,
    of_asked_targets,
    parts_of_suite,
    too_few_nights,
    too_few_trials,
    why_judge_moved,
)
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.text.statistics import night_effect, significance
from rubric_ci.text.statistics.night_effect import NightMeans, Nights
from rubric_ci.values.comparison import CaseKey, Comparison, RegressionConfig, SuspectCounts
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Graded
from rubric_ci.values.scoring import DECIMALS
from rubric_ci.values.trials import first_mean, first_trials, judge_noise


def compare(head: RunReport, baseline: Baseline) -> RunReport:
    """Return the head with how each case differs from a report or a pinned reference.

    A case that a part of the suite left out was not run; it is not `removed`.
    """
    matched = counterparts((case.key for case in head.cases), baseline.report.cases)
    rules = _rules(head, baseline, matched)
    cases = tuple(changed(case, matched.get(case.key), rules) for case in head.cases)
    everything = of_asked_targets(head, baseline.report) if head.scope.complete else ()
    removed = removed_cases(everything, matched.values())
    enough = reference.enough_trials(baseline, rules.config) if rules.tested else 1
    whole = _whole(
        cases, head, baseline, rules, _clustered(head.cases, matched, rules.config, enough)
    )
    moved = why_judge_moved(head, baseline.report, pinned=baseline.log is not None)
    if moved:
        cases = tuple(_unclear(case, moved) for case in cases)
        whole = replace(
            whole,
            judge_moved=moved,
            significant=False,
            regressed=False,
            suspected=False,
            worse_cases=(),
            suspects=None,
        )
    else:
        whole = _with_slide(whole, head, baseline, matched, rules)
    totals = replace(head.totals, judge_noise=judge_noise(cases))
    return replace(
        head, cases=cases, removed=removed, comparison=whole, against=None, totals=totals
    )


def _unclear(case: CaseResult, reason: str) -> CaseResult:
    """Return a case without a conclusion if it differs: that may come from the judge."""
    if case.change not in {"broken", "fixed", "flaky"}:
        return case
    return replace(case, change="not-comparable", change_reason=reason)


def _with_slide(
    whole: Comparison,
    head: RunReport,
    baseline: Baseline,
    matched: Mapping[CaseKey, CaseResult],
    rules: ChangeRules,
) -> Comparison:
    evidence = (
        reference.evidence(head.cases, matched, rules.config, rules.nights) if rules.tested else ()
    )
    log = baseline.log
    slide = reference.slide(log, head, evidence, rules.config) if log else None
    found = replace(whole, slide=slide, log_products=evidence)
    slid = slide is not None and slide.detected
    return replace(found, regressed=whole.regressed or slid, suspected=whole.suspected and not slid)


def counterparts(
    head: Iterable[CaseKey], baseline: Iterable[CaseResult]
) -> dict[CaseKey, CaseResult]:
    """Return each case's counterpart: the same file and id, or the only moved case with its id."""
    return dict(_matched(head, baseline))


def _whole(
    cases: Sequence[CaseResult],
    head: RunReport,
    baseline: Baseline,
    rules: ChangeRules,
    clusters: Sequence[Sequence[float]],
) -> Comparison:
    differences = [difference for cluster in clusters for difference in cluster]
    p_value, interval = _mean_test(clusters, head, rules.nights)
    level = rules.config.false_alarms if rules.tested else significance.SIGNIFICANT
    info = reference.info(head, baseline.report, baseline.log)
    found = Comparison(
        source=baseline.source,
        ref=baseline.ref,
        commit=info.commit if info else "",
        tolerance=rules.config.tolerance,
        paired=len(differences),
        mean_difference=_mean(differences),
        interval=interval,
        p_value=p_value,
        clusters=len(clusters),
        significant=p_value is not None and p_value < level,
        suspects=_suspects(head, rules.tested, rules.config),
        reference=info,
        notes=(
            *parts_of_suite(head, baseline.report),
            *differing_judges(head, baseline.report),
            *too_few_trials(head, baseline.report, rules),
            *too_few_nights(rules, pinned=baseline.log is not None),
            *nights_alike(night_effect.measure(map(_by_night, baseline.nights.values()))),
            *cached_marks(head, rules),
        ),
    )
    return _decided(found, head, baseline, rules, cases)


def _mean_test(
    clusters: Sequence[Sequence[float]], head: RunReport, nights: NightMeans | None
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the p-value of the mean difference and its interval.

    Against several nights they are also of one night by others: what all marks of a night share,
    such as a lenient judge, no case shows.
    """
    if not clusters:
        return None, None
    mean = fmean(difference for cluster in clusters for difference in cluster)
    p_value = significance.p_value([fsum(cluster) for cluster in clusters])
    trials = alarm_budget.trials_per_case(head.cases)
    if nights is None:
        return p_value, significance.interval(clusters)
    found = significance.interval(clusters, nights.reach(trials))
    return max(p_value, nights.p_value(mean, trials)), found


def _by_night(case: Mapping[str, Sequence[float]]) -> Nights:
    return list(case.values())


def _decided(
    found: Comparison,
    head: RunReport,
    baseline: Baseline,
    rules: ChangeRules,
    cases: Sequence[CaseResult],
) -> Comparison:
    """Return the comparison with its result: against a pinned reference, the result of two nights.

    The trials of one night may agree more than trials of different nights, so one night alone is
    worse by chance more often than the budget says.
    """
    broken = any(case.change == "broken" for case in cases)
    if baseline.log is None or rules.tested is None:
        return replace(found, regressed=found.fell or broken)
    last = baseline.log.last(head.started_at)
    lower_again = found.lower and last is not None and last.lower
    worse = tuple(case.key for case in cases if rules.tested.worse(case.key))
    regressed = broken or lower_again
    suspected = not regressed and bool(worse or found.lower)
    return replace(found, regressed=regressed, suspected=suspected, worse_cases=worse)


def _matched(
    head: Iterable[CaseKey], baseline: Iterable[CaseResult]
) -> Iterator[tuple[CaseKey, CaseResult]]:
    there = {case.key: case for case in baseline}
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
    baseline: Baseline,
    matched: Mapping[CaseKey, CaseResult],
) -> ChangeRules:
    config = head.regression or RegressionConfig()
    noun = "baseline" if baseline.source == "report" else "reference"
    rules = ChangeRules(noun=noun, config=config)
    if not baseline.is_reference(config):
        return rules
    pairs = {
        case.key: alarm_budget.pair(case, was, config)
        for case in head.cases
        if isinstance(case, Graded) and isinstance(was := matched.get(case.key), Graded)
    }
    before = reference.worse_before(baseline.log, head.started_at) if baseline.log else None
    return replace(
        rules,
        tested=alarm_budget.confirm_cases(pairs, config, before),
        nights=reference.night_means(baseline, list(matched.values()), head, config),
    )


def _clustered(
    head: Iterable[CaseResult],
    matched: Mapping[CaseKey, CaseResult],
    config: RegressionConfig,
    enough: int,
) -> list[list[float]]:
    """Return the differences of the means of first trials, by cluster.

    A case with fewer than `enough` trials in the baseline is left out.
    """
    clusters: dict[object, list[float]] = defaultdict(list)
    for case in head:
        was = matched.get(case.key)
        if (
            isinstance(case, Graded)
            and isinstance(was, Graded)
            and len(first_trials(was)) >= enough
        ):
            difference = first_mean(case) - first_mean(was, config.reference_trials)
            clusters[case.cluster or case.key].append(round(difference, DECIMALS))
    return list(clusters.values())


def _suspects(
    head: RunReport, tested: Tested | None, config: RegressionConfig
) -> SuspectCounts | None:
    if tested is None:
        return None
    graded = [case for case in head.cases if isinstance(case, Graded)]
    suspects = [c for c in graded if c.further_trials or c.key in tested.p_values]
    cleared = [c for c in suspects if not tested.worse(c.key)]
    found = [tested.p_values[c.key] for c in suspects if tested.worse(c.key)]
    return SuspectCounts(
        false_alarms=config.false_alarms,
        suspects=len(suspects),
        confirmed=len(found),
        undecided=len(tested.undecided),
        flipped=len(tested.repeating),
        further_trials=max((c.further_trials for c in cleared), default=0),
        p_values=(min(found), max(found)) if found else None,
    )


def _mean(differences: list[float]) -> float | None:
    return round(fsum(differences) / len(differences), DECIMALS) if differences else None
