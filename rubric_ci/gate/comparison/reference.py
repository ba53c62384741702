"""A pinned reference: its facts, and the trials and log entries that a run adds to it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime

from rubric_ci.gate.comparison import alarm_budget, drift
from rubric_ci.gate.comparison.drift import Observed
from rubric_ci.gate.report.decision import concluded, gate_state
from rubric_ci.text.statistics import night_effect
from rubric_ci.text.statistics.night_effect import NightMeans
from rubric_ci.values.comparison import (
    CaseKey,
    Decision,
    Night,
    ReferenceInfo,
    ReferenceLog,
    ReferenceMove,
    RegressionConfig,
    SlowSlide,
    Source,
)
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport, run_verdict, totals
from rubric_ci.values.results import CaseResult, Graded
from rubric_ci.values.scope import WHOLE
from rubric_ci.values.trials import first_trials, trials_of
from rubric_ci.values.usage import NOTHING_USED


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A report to compare with, and the log of its folder if it is a pinned reference."""

    report: RunReport
    log: ReferenceLog | None = None
    ref: str = ""  # the file or folder
    nights: Mapping[CaseKey, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    """The scores of the first trials of each case by night; empty: not known."""

    @property
    def source(self) -> Source:
        """The source of a comparison with it."""
        return "reference" if self.log else "report"

    def is_reference(self, config: RegressionConfig) -> bool:
        """Return True if the budget of false alarms applies: it is pinned, or has enough trials.

        A report with few trials has the rule of separation (`case_change`): every trial is worse
        than every one before. A commit, which is graded now, has an exact test (`verdicts`).
        """
        return self.log is not None or alarm_budget.pools_enough(self.report.cases, config)


def info(head: RunReport, baseline: RunReport, log: ReferenceLog | None) -> ReferenceInfo | None:
    """Return commit, date and age of the baseline; None if it is not pinned and has no commit."""
    decision = log.whole if log else None
    commit = decision.commit if decision else baseline.metadata.get("head_sha", "")
    if not (decision or commit):
        return None
    measured_at = decision.measured_at if decision else baseline.started_at
    return ReferenceInfo(
        commit=commit,
        measured_at=measured_at,
        age_days=_age(head, measured_at),
        trials=alarm_budget.trials_per_case(baseline.cases),
        reason=decision.reason if decision else "",
        moves=tuple(_move(head, each) for each in log.moves) if log else (),
    )


def _move(head: RunReport, decision: Decision) -> ReferenceMove:
    return ReferenceMove(
        commit=decision.commit,
        measured_at=decision.measured_at,
        age_days=_age(head, decision.measured_at),
        cases=decision.cases,
        reason=decision.reason,
    )


def _age(head: RunReport, measured_at: str) -> int | None:
    """Return the days up to the start of a run; None if the run is older."""
    age = (datetime.fromisoformat(head.started_at) - datetime.fromisoformat(measured_at)).days
    return age if age >= 0 else None


def evidence(
    head: Sequence[CaseResult],
    matched: Mapping[CaseKey, CaseResult],
    config: RegressionConfig,
    nights: NightMeans | None,
) -> tuple[float, ...]:
    """Return the run's log likelihood ratio for each bet of the drift test.

    Only first trials count: whether a case has further ones depends on its first. A case with fewer
    trials in the reference than the others is left out.
    """
    clusters: dict[object, list[Observed]] = defaultdict(list)
    for case in head:
        was = matched.get(case.key)
        if isinstance(case, Graded) and isinstance(was, Graded):
            trials = [trial.score for trial in trials_of(was)[: config.reference_trials]]
            if len(trials) == config.reference_trials:
                scores = [trial.score for trial in first_trials(case)]
                observed = Observed(head=scores, reference=trials)
                clusters[case.cluster or case.key].append(observed)
    return drift.log_products(list(clusters.values()), config.false_alarms, nights)


def night_means(
    baseline: Baseline, cases: Sequence[CaseResult], head: RunReport, config: RegressionConfig
) -> NightMeans | None:
    """Return the means of the nights of the reference, and of those before the run.

    They are over the cases that are compared. A case that was measured in other nights than most,
    since it moved alone, is left out.
    """
    known = [baseline.nights.get(case.key, {}) for case in cases]
    if not any(known):
        return None
    ((most, _),) = Counter(map(frozenset, filter(None, known))).most_common(1)
    every = [[nights[night] for night in sorted(most)] for nights in known if nights.keys() == most]
    found = night_effect.means_of(every, config.reference_trials)
    log, trials = baseline.log, alarm_budget.trials_per_case(head.cases)
    if found is None or log is None or not trials:
        return found
    nights_since = [n.mean_difference for n in log.before(head.started_at) if n.log_products]
    return found.with_later([each for each in nights_since if each is not None], trials)


def enough_trials(baseline: Baseline, config: RegressionConfig) -> int:
    """Return how many trials of the reference a case needs to be in the mean.

    A case that moved alone has few, and which cases move is not by chance.
    """
    return min(config.reference_trials, alarm_budget.trials_per_case(baseline.report.cases))


def slide(
    log: ReferenceLog, head: RunReport, products: tuple[float, ...], config: RegressionConfig
) -> SlowSlide:
    """Return the state of the detector of slides after this run."""
    nights = [(n.started_at, n.log_products) for n in log.before(head.started_at)]
    every = [*nights, (head.started_at, products)]
    counted = [each for each in every if len(each[1]) == len(drift.BETS)]
    found = drift.detect([each for _, each in counted], config.false_alarms)
    return SlowSlide(
        evidence=round(found.evidence, 6),
        threshold=found.threshold,
        nights=len(counted),
        since=counted[found.start][0] if counted else "",
        detected=found.detected,
    )


def night_of(head: RunReport) -> Night:
    """Return the entry of a run in the log; without a comparison it is the reference itself."""
    comparison = head.comparison
    return Night(
        started_at=head.started_at,
        commit=head.metadata.get("head_sha", ""),
        run_url=head.metadata.get("run_url", ""),
        gate=gate_state(head),
        worse=comparison is not None and (comparison.regressed or comparison.suspected),
        regressed=comparison.worse_cases if comparison else (),
        lower=comparison is not None and comparison.lower,
        log_products=comparison.log_products if comparison else (),
        mean_difference=comparison.mean_difference if comparison else None,
    )


def since(log: ReferenceLog, holds: Callable[[Night], bool]) -> Night | None:
    """Return the first night of those up to the last one in which something holds throughout.

    Nights without a verdict in between are passed over.
    """
    first = None
    for night in reversed(log.nights):
        if holds(night):
            first = night
        elif night.gate != "no-verdict":
            break
    return first


def worse_before(log: ReferenceLog, started_at: str | None = None) -> frozenset[CaseKey]:
    """Return the cases that were worse in the last night, before a run if it is given."""
    last = log.last(started_at)
    return frozenset(last.regressed) if last else frozenset()


def comparable(one: RunReport, other: RunReport) -> bool:
    """Return True if judge and thresholds are the same."""
    limits = [(each.gate.passing, each.gate.borderline) for each in (one, other)]
    return one.judge == other.judge and limits[0] == limits[1]


def lacking(head: RunReport, reference: RunReport | None, trials: int) -> RunReport | None:
    """Return the part of a run that the reference has fewer than `trials` of; None: nothing."""
    has = {
        case.key: len(trials_of(case))
        for case in (reference.cases if reference else ())
        if isinstance(case, Graded)
    }
    return part(head, lambda case: has.get(case.key, 0) < trials)


def part(report: RunReport, wanted: Callable[[Graded], bool]) -> RunReport | None:
    """Return the report of some of its graded cases, without a comparison; None: of no case."""
    graded = (case for case in report.cases if isinstance(case, Graded) and wanted(case))
    cases = tuple(map(_uncompared, graded))
    if not cases:
        return None
    return replace(
        report,
        cases=cases,
        totals=totals(cases),
        beyond_cases=NOTHING_USED,
        verdict=run_verdict(cases),
        gate=concluded(report.gate, cases, WHOLE, report.waivers, report.grading_changes),
        comparison=None,
        against=None,
        removed=(),
    )


def _uncompared(case: Graded) -> Graded:
    return replace(case, change=None, change_reason="", suspected=False, before=None)
