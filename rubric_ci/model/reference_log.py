"""The log of a pinned reference: the decisions that moved it, and the nights compared with it."""

from dataclasses import replace
from typing import Literal, TypeAlias

from rubric_ci.model.dataclass import dataclass

LOG_VERSION = 1

CaseKey: TypeAlias = tuple[str, str]
"""File and id."""

GateState: TypeAlias = Literal["pass", "fail", "no-verdict"]
"""`no-verdict`: some case has none, and no case fails the gate."""


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
class ReferenceMove:
    """A decision about some cases, as the report of a later run shows it."""

    commit: str  # empty: unknown
    measured_at: str  # RFC 3339, UTC
    age_days: int | None = None  # at the start of the run; None: the run is older
    cases: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One run that was compared with the reference."""

    started_at: str  # RFC 3339, UTC
    commit: str = ""
    run_url: str = ""
    gate: GateState
    worse: bool  # than the reference, or suspected
    regressed: tuple[CaseKey, ...] = ()  # cases that are worse in this night
    lower: bool = False  # the mean score, significantly
    log_products: tuple[float, ...] = ()  # evidence of a lower mean, per bet; empty: not compared


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceLog:
    """The decisions, the newest last, and the nights since, the oldest first."""

    version: int = LOG_VERSION
    decisions: tuple[Decision, ...]
    nights: tuple[Night, ...] = ()

    @property
    def decision(self) -> Decision:
        """The decision that moved the reference last."""
        return self.decisions[-1]

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
        """Return the nights before a run."""
        return tuple(night for night in self.nights if night.started_at < started_at)

    def with_night(self, night: Night) -> "ReferenceLog":
        """Return the log with a night; it replaces the entry of the same run."""
        others = [each for each in self.nights if each.started_at != night.started_at]
        ordered = sorted([*others, night], key=lambda each: each.started_at)
        return replace(self, nights=tuple(ordered))

    def with_decision(self, decision: Decision, *, keeps_evidence: bool = False) -> "ReferenceLog":
        """Return the log with a decision; evidence against the earlier reference is dropped.

        `keeps_evidence`: unless the reference only rose, which no slide can hide behind.
        """
        nights = tuple(replace(night, log_products=()) for night in self.nights)
        kept = self.nights if keeps_evidence else nights
        return replace(self, decisions=(*self.decisions, decision), nights=kept)
