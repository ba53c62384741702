"""The record of a report, with 95 % intervals of its mean score and pass rate over clusters."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from math import fsum, sqrt
from statistics import fmean
from typing import TypeVar, assert_never

from rubric_ci.errors import CannotReadReport
from rubric_ci.parts.lab.history.record import Columns, Interval, RunRecord
from rubric_ci.text.statistics import significance
from rubric_ci.values.report import RunReport, Totals
from rubric_ci.values.results import CaseResult, Errored, Graded, Skipped, standing
from rubric_ci.values.trials import first_mean, first_result, first_trials

T = TypeVar("T")


def record_of(report: RunReport, *, link: str = "") -> RunRecord:
    """Return the record of a report; `link` replaces the URL of its workflow run.

    Raises CannotReadReport for the report of a shard, and for one without a time.
    """
    if report.shard is not None:
        raise CannotReadReport(
            f"the report is of shard {report.shard.index} of {report.shard.count}, not of a run",
            "combine the shards with `rubric-ci report merge` first",
        )
    graded = [case for case in report.cases if isinstance(case, Graded)]
    return RunRecord(
        started_at=_utc(report.started_at),
        tool=report.tool,
        verdict=report.verdict,
        gate_passes=report.gate.holds,
        complete=report.scope.complete,
        worse=report.comparison.worse if report.comparison else None,
        judge=report.judge,
        passing=report.gate.passing,
        borderline=report.gate.borderline,
        score=_interval(graded, first_mean, mean_interval),
        pass_rate=_interval(graded, _passes, rate_interval),
        calls=report.totals.calls,
        cost_usd=_cost(report.totals),
        duration_seconds=report.duration_seconds,
        commit=report.metadata.get("head_sha", ""),
        link=link or report.metadata.get("run_url", ""),
        cases=tuple(case.key for case in report.cases),
        results=_columns(report.cases),
        judge_moved=report.sentinel is not None and report.sentinel.moved,
    )


def _utc(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CannotReadReport(
            f"the report has no valid time: started_at is {text!r}",
            "create it again with `rubric-ci run`",
        ) from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")


def _cost(totals: Totals) -> float | None:
    return None if totals.unpriced_calls else totals.cost_usd


def _passed(case: Graded) -> float:
    """Return 1.0 if the first trials of a case pass: only a failing case has further ones."""
    return float(first_result(case).verdict == "pass")


def _passes(case: Graded) -> float:
    """Return the share of first trials that pass, or 0 or 1 by the rule for its trials.

    The median of 15 trials passes more often than the median of three, so that the curve would
    step from one to the other.
    """
    if case.trials_to_pass:
        return _passed(case)
    return fmean(trial.verdict == "pass" for trial in first_trials(case))


def _interval(
    graded: Sequence[Graded],
    value: Callable[[Graded], float],
    interval: Callable[[Sequence[Sequence[float]]], Interval],
) -> Interval | None:
    clusters = list(_clustered(graded, value))
    return interval(clusters) if clusters else None


def _clustered(
    graded: Sequence[Graded], value: Callable[[Graded], float]
) -> Iterable[Sequence[float]]:
    clusters: dict[object, list[float]] = defaultdict(list)
    for case in graded:
        clusters[case.cluster or case.key].append(value(case))
    return clusters.values()


def _columns(cases: Sequence[CaseResult]) -> Columns:
    graded = [case if isinstance(case, Graded) else None for case in cases]
    several = [case.trials if case else () for case in graded]
    return Columns(
        verdicts="".join(map(_letter, cases)),
        scores=tuple(case.score if case else None for case in graded),
        trials=_sparse("".join(trial.verdict[0] for trial in trials) for trials in several),
        trial_scores=_sparse(tuple(trial.score for trial in trials) for trials in several),
        further_trials=_sparse(case.further_trials if case else 0 for case in graded),
        clusters=_sparse(case.cluster if case else "" for case in graded),
    )


def _letter(case: CaseResult) -> str:
    match case:
        case Graded():
            return "w" if standing(case) == "waived" else case.verdict[0]
        case Errored():
            return "e"
        case Skipped():
            return "s"
        case _:
            assert_never(case)


def _sparse(column: Iterable[T]) -> tuple[T, ...]:
    """Return the column, or () if every entry is empty."""
    entries = tuple(column)
    return entries if any(entries) else ()


def mean_interval(clusters: Sequence[Sequence[float]]) -> Interval:
    """Return the mean of scores and its interval (Student's t over clusters), within 0..1.

    Equal scores have none: their variance says nothing about the cases that were not drawn.
    """
    mean = round(_mean(clusters), 6)
    found = significance.interval(clusters)
    return _clipped(mean, *found) if found else Interval(value=mean)


def rate_interval(
    clusters: Sequence[Sequence[float]], weights: Sequence[Sequence[float]] = ()
) -> Interval:
    """Return a share of 0/1 values and its Wilson score interval.

    (p + z²/2n ± z √(p (1 - p) / n + z²/4n²)) / (1 + z²/n) (Wilson, "Probable Inference", Journal of
    the American Statistical Association 22, 1927). With clusters, n is divided by the design
    effect, the variance between clusters over the variance of independent cases (Kish, Survey
    Sampling, 1965); where all values are equal it is unknown, and n is the number of clusters. A
    few clusters measure that variance roughly, so that z is Student's t over clusters. With
    weights, n is (Σ w)² / Σ w².
    """
    p, n = _mean(clusters, weights), effective(clusters, weights)
    k, alone = len(clusters), all(len(cluster) == 1 for cluster in clusters)
    z = significance.Z if alone else significance.t_quantile(max(1, k - 1))
    middle = p + z * z / (2 * n)
    reach = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return _clipped(round(p, 6), (middle - reach) / scale, (middle + reach) / scale)


def _clipped(value: float, low: float, high: float) -> Interval:
    return Interval(
        value=value,
        low=min(value, round(max(0.0, low), 4)),
        high=max(value, round(min(1.0, high), 4)),
    )


def _mean(clusters: Sequence[Sequence[float]], weights: Sequence[Sequence[float]] = ()) -> float:
    given = weights or _alike(clusters)
    return fsum(map(_weighed, clusters, given)) / fsum(map(fsum, given))


def _weighed(values: Sequence[float], weights: Sequence[float], mean: float = 0.0) -> float:
    return fsum(w * (v - mean) for v, w in zip(values, weights, strict=True))


def _alike(clusters: Sequence[Sequence[float]]) -> Sequence[Sequence[float]]:
    return [[1.0] * len(cluster) for cluster in clusters]


def effective(
    clusters: Sequence[Sequence[float]], weights: Sequence[Sequence[float]] = ()
) -> float:
    """Return the number of independent cases that are worth as much."""
    k, n = len(clusters), sum(map(len, clusters))
    if k == n and not weights:
        return n
    p, given = _mean(clusters, weights), weights or _alike(clusters)
    total = fsum(map(fsum, given))
    worth = total**2 / fsum(w * w for each in given for w in each)
    if k == 1 or p in {0.0, 1.0}:
        return k * worth / n
    sums = (_weighed(values, each, p) for values, each in zip(clusters, given, strict=True))
    between = k / (k - 1) * fsum(each**2 for each in sums) / total**2
    return worth / max(1.0, between / (p * (1 - p) / worth))
