"""Shards: merge the reports of the shards of a run."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import reduce
from operator import add

from rubric_ci.errors import CannotMerge
from rubric_ci.gate.report.consistency import check_alike
from rubric_ci.gate.report.decision import concluded, settings_of
from rubric_ci.gate.waivers.waiver_report import merged
from rubric_ci.text.escape import DIRTY
from rubric_ci.values.gate import FailOn
from rubric_ci.values.report import (
    Against,
    CostEstimate,
    Responder,
    RunReport,
    ShardInfo,
    run_verdict,
    totals,
)
from rubric_ci.values.results import CaseResult
from rubric_ci.values.scope import Scope
from rubric_ci.values.scope import merged as merged_scope
from rubric_ci.values.usage import NOTHING_USED, merged_use


def merge(reports: Sequence[RunReport], fail_on: FailOn | None = None) -> RunReport:
    """Merge the shards of one run into its report; raises CannotMerge.

    `fail_on` replaces the gate of the shards; without it, shards that ran with `never` leave the
    gate to the merge, which is the configuration's. If a shard is missing, the run counts as
    interrupted and a note names the shard.
    """
    parts = _by_index(reports)
    shard, first = next(iter(parts.values()))
    cases = _in_order(parts)
    missing = [n for n in range(1, shard.count + 1) if n not in parts]
    scope = merged_scope(report.scope for report in reports)
    scope = scope.narrowed("shard", "interrupted") if missing else scope
    notes = [f"Shard {n}/{shard.count} is missing: its cases have no verdict." for n in missing]
    notes += [note for _, report in parts.values() for note in report.notes]
    verdict = run_verdict(cases, scope)
    waivers = merged(report.waivers for report in reports)
    configured = shard.fail_on if first.gate.fail_on == "never" else None
    gate = replace(first.gate, fail_on=fail_on or configured or first.gate.fail_on)
    beyond_cases = sum((report.beyond_cases for report in reports), NOTHING_USED)
    return replace(
        first,
        started_at=min(report.started_at for report in reports),
        duration_seconds=max(report.duration_seconds for report in reports),
        verdict=verdict,
        scope=scope,
        gate=concluded(gate, cases, scope, waivers, first.grading_changes),
        waivers=waivers,
        totals=totals(cases, beyond_cases),
        beyond_cases=beyond_cases,
        forecast=_forecast(reports),
        cases=cases,
        responders=_responders(reports),
        used_by=merged_use(each for report in reports for each in report.used_by),
        left_out=tuple(dict.fromkeys(each for report in reports for each in report.left_out)),
        against=_against(reports),
        removed=tuple(dict.fromkeys(case for report in reports for case in report.removed)),
        notes=tuple(dict.fromkeys(notes)),
        metadata=_shared(reports),
        comparison=None,
        shard=None,
    )


def _against(reports: Sequence[RunReport]) -> Against | None:
    """Return the base side with the sums of all shards."""
    parts = [report.against for report in reports if report.against]
    if not parts:
        return None
    return replace(
        parts[0],
        further_trials=max(part.further_trials for part in parts),
        asked=sum(part.asked for part in parts),
        reused=sum(part.reused for part in parts),
        recorded=sum(part.recorded for part in parts),
        shared=sum(part.shared for part in parts),
        usage=sum((part.usage for part in parts), NOTHING_USED),
        # The shard that is worse, else the one with the lowest p-value.
        together=min(
            (part.together for part in parts if part.together),
            key=lambda each: (not each.worse, each.p_value),
            default=None,
        ),
    )


def _responders(reports: Sequence[RunReport]) -> tuple[Responder, ...]:
    counts: Counter[Responder] = Counter()
    for each in (each for report in reports for each in report.responders):
        counts[replace(each, replies=0)] += each.replies
    return tuple(replace(each, replies=count) for each, count in counts.items())


def _forecast(reports: Sequence[RunReport]) -> CostEstimate | None:
    every = [report.forecast for report in reports if report.forecast]
    return reduce(add, every) if every else None


def _by_index(reports: Sequence[RunReport]) -> dict[int, tuple[ShardInfo, RunReport]]:
    """Return the shards by number; raise CannotMerge unless all are of one run."""
    parts: dict[int, tuple[ShardInfo, RunReport]] = {}
    for report in reports:
        if report.shard is None:
            raise CannotMerge("a report was made without --shard: there is nothing to merge")
        if report.shard.index in parts:
            raise CannotMerge(f"shard {report.shard.index}/{report.shard.count} was passed twice")
        parts[report.shard.index] = report.shard, report
    if not parts:
        raise CannotMerge("no report to merge")
    _check_same_run([report for _, report in parts.values()])
    return dict(sorted(parts.items()))


def _check_same_run(reports: Sequence[RunReport]) -> None:
    values: Mapping[str, Set[object]] = {
        "counts of shards": {r.shard.count for r in reports if r.shard},
        "versions of rubric-ci": {r.tool for r in reports},
        "gates": {settings_of(r.gate) for r in reports},
        "configured gates": {r.shard.fail_on for r in reports if r.shard},
        "judges": {r.judge for r in reports},
        "commits": {r.metadata.get("head_sha", "").removesuffix(DIRTY) for r in reports},
        "sizes of the suite": {r.scope.suite for r in reports if not r.scope.unread},
        "selections": {_selection(r.scope) for r in reports},
    }
    check_alike("the reports", values, CannotMerge, "merge the shards of one run only")


def _selection(scope: Scope) -> str:
    """Return the reasons that narrowed the run before it was split."""
    names = {"paths", "case", "tag", "changed-since", "last-failed"} & set(scope.narrowed_by)
    return " and ".join(sorted(names)) or "every case"


def _in_order(parts: dict[int, tuple[ShardInfo, RunReport]]) -> tuple[CaseResult, ...]:
    placed: dict[int, CaseResult] = {}
    for shard, report in parts.values():
        if len(shard.positions) != len(report.cases):
            raise CannotMerge(
                f"shard {shard.index}/{shard.count} lists {len(shard.positions):,} positions "
                f"for {len(report.cases):,} cases"
            )
        for position, case in zip(shard.positions, report.cases, strict=True):
            if position in placed:
                raise CannotMerge(
                    f"two shards contain the case at position {position}",
                    "merge the shards of one run only",
                )
            placed[position] = case
    return tuple(case for _, case in sorted(placed.items(), key=lambda item: item[0]))


def _shared(reports: Sequence[RunReport]) -> dict[str, str]:
    first, *others = (report.metadata for report in reports)
    return {k: v for k, v in first.items() if all(other.get(k) == v for other in others)}
