"""A pinned reference: its facts, and the trials and log entries that a run adds to it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from statistics import median_low

from rubric_ci.gate.report.decision import concluded, gate_state
from rubric_ci.values.comparison import CaseKey, GateState, ReferenceInfo, ReferenceMove, Source
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport, run_verdict, totals
from rubric_ci.values.results import CaseResult, Graded, with_verdict
from rubric_ci.values.scope import WHOLE
from rubric_ci.values.trials import first_trials, trials_of
from rubric_ci.values.usage import NOTHING_USED

LOG_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Why the trials of a run are the reference."""

    reason: str
    commit: str = ""  # of the run; empty: unknown
    measured_at: str  # start of the run, RFC 3339, UTC
    decided_at: str  # RFC 3339, UTC
    cases: int  # that the decision moved
    partial: bool = False  # the other cases kept their reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    started_at: str  # RFC 3339, UTC
    commit: str = ""
    run_url: str = ""
    gate: GateState
    worse: bool  # than the reference, or suspected
    regressed: tuple[CaseKey, ...] = ()  # cases that are worse in this night
    lower: bool = False  # all cases together are worse


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceLog:
    """The decisions, the newest last, and the nights since, the oldest first."""

    version: int = LOG_VERSION
    decisions: tuple[Decision, ...]
    nights: tuple[Night, ...] = ()

    @property
    def whole(self) -> Decision:
        """The last decision about all cases."""
        return next((d for d in reversed(self.decisions) if not d.partial), self.decisions[0])

    @property
    def moves(self) -> tuple[Decision, ...]:
        """The decisions about some cases since `whole`, the newest last."""
        place = max(n for n, decision in enumerate(self.decisions) if decision is self.whole)
        return self.decisions[place + 1 :]

    def last(self, started_at: str | None = None) -> Night | None:
        """Return the last night with a verdict, before a run, against the present reference."""
        known = self.nights if started_at is None else self.before(started_at)
        since = self.whole.decided_at
        nights = [n for n in known if n.gate != "no-verdict" and n.started_at >= since]
        return nights[-1] if nights else None

    def before(self, started_at: str) -> tuple[Night, ...]:
        return tuple(night for night in self.nights if night.started_at < started_at)

    def with_night(self, night: Night) -> "ReferenceLog":
        """Return the log with a night; it replaces the entry of the same run."""
        others = [each for each in self.nights if each.started_at != night.started_at]
        ordered = sorted([*others, night], key=lambda each: each.started_at)
        return replace(self, nights=tuple(ordered))

    def with_decision(self, decision: Decision) -> "ReferenceLog":
        return replace(self, decisions=(*self.decisions, decision))


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A report to compare with, and the log of its folder if it is a pinned reference."""

    report: RunReport
    log: ReferenceLog | None = None
    ref: str = ""  # the file or folder

    @property
    def source(self) -> Source:
        return "reference" if self.log else "report"


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
        trials=trials_per_case(baseline.cases),
        reason=decision.reason if decision else "",
        moves=tuple(_move(head, each) for each in log.moves) if log else (),
    )


def trials_per_case(cases: Sequence[CaseResult]) -> int:
    """Return the median number of first trials of the graded cases; 0 without one."""
    counts = [len(first_trials(case)) for case in with_verdict(cases)]
    return median_low(counts) if counts else 0


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


def night_of(head: RunReport) -> Night:
    """Return the entry of a run in the log; without a comparison it is the reference itself."""
    comparison = head.comparison
    return Night(
        started_at=head.started_at,
        commit=head.metadata.get("head_sha", ""),
        run_url=head.metadata.get("run_url", ""),
        gate=gate_state(head),
        worse=comparison is not None and (comparison.worse or comparison.suspected),
        regressed=comparison.worse_cases if comparison else (),
        lower=comparison is not None and comparison.fell,
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
    limits = [(each.gate.passing, each.gate.borderline) for each in (one, other)]
    return one.judge == other.judge and limits[0] == limits[1]


def lacking(head: RunReport, reference: RunReport | None, trials: int) -> RunReport | None:
    """Return the part of a run that the reference has fewer than `trials` of; None: nothing."""
    has = {
        case.key: len(trials_of(case))
        for case in with_verdict(reference.cases if reference else ())
    }
    return part(head, lambda case: has.get(case.key, 0) < trials)


def part(report: RunReport, wanted: Callable[[Graded], bool]) -> RunReport | None:
    """Return the report of some of its graded cases, without a comparison; None: of no case."""
    cases = tuple(
        replace(case, change=None, change_reason="", asked_again=None, before=None)
        for case in filter(wanted, with_verdict(report.cases))
    )
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
