"""Decisions of a merge about the pinned reference: fixed cases, accepted failures.

The run of the default branch after a merge compares with the commit before it (`--against`).
*Fixed*: the case is better than before the merge, and a rank-sum test of its further trials against
the reference demands it. The trials that chose the case are left out of the test and of the new
reference: the best of many tries is good by chance. *Accepted*: a waiver in force on the default
branch excuses the case, and its verdict is worse than the reference's. A case that a merge
only happens to pass does not move, so that the reference of a case falls by a waiver or
`baseline accept` only, and slow losses stay visible.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotReadReport
from rubric_ci.gate.comparison import alarm_budget, phrases, reference
from rubric_ci.gate.comparison.compared import counterparts
from rubric_ci.gate.comparison.reference_folder import Acceptance, accept, open_folder
from rubric_ci.text import escape, numbers
from rubric_ci.text.statistics import significance
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Graded, standing
from rubric_ci.values.trials import first_trials, tier, trials_of, without_first_trials

NAMED: Final = 5  # cases that a reason lists
LEVEL: Final = 0.005  # of the test of a case, one-sided: each merge may try again


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The cases of a reference that a merge moves."""

    fixed: tuple[CaseKey, ...]
    accepted: tuple[CaseKey, ...]

    @property
    def reason(self) -> str:
        """The reason in the log: "merge: fixed a, b; accepted c (waived)"."""
        parts = [
            f"fixed {_names(self.fixed)}" if self.fixed else "",
            f"accepted {_names(self.accepted)} (waived)" if self.accepted else "",
        ]
        return f"merge: {'; '.join(filter(None, parts))}"


def decided(head: RunReport, kept: Iterable[CaseResult]) -> Decided:
    """Return the decision of a merge, from the report of its run."""
    matched = counterparts((case.key for case in head.cases), kept)
    pairs = [
        (case, was)
        for case in head.cases
        if isinstance(case, Graded) and isinstance(was := matched.get(case.key), Graded)
    ]
    return Decided(
        fixed=tuple(case.key for case, was in pairs if demands_a_move(case, was)),
        accepted=tuple(case.key for case, was in pairs if _is_accepted(case, was)),
    )


def accept_merge(head: RunReport, folder: Path, decided_at: str) -> Iterator[str]:
    """Move the reference for cases that a merge fixed or accepted; yield the moves.

    Raises CannotReadReport for a run that was not compared with the commit before the merge.
    """
    if head.against is None:
        raise CannotReadReport(
            "the report has no comparison with the commit before the merge",
            "pass the report of `rubric-ci run --against auto`",
        )
    present = open_folder(folder)
    if present is None:
        yield "no reference yet: the first night starts it"
        return
    if not reference.comparable(head, present.report):
        yield "the reference stays: this run has another judge or other thresholds"
        return
    found = decided(head, present.report.cases)
    if not (found.fixed or found.accepted):
        yield "the reference stays: the merge fixed no case of it and accepted none"
        return
    acceptance = Acceptance(
        reason=found.reason,
        keys=frozenset((*found.fixed, *found.accepted)),
        decided_at=decided_at,
        keeps_evidence=not found.accepted,
    )
    fixed = set(found.fixed)
    cases = (
        without_first_trials(case) if isinstance(case, Graded) and case.key in fixed else case
        for case in head.cases
    )
    accept(replace(head, cases=tuple(cases)), folder, acceptance)
    yield from _moved(head, folder, found)


def demands_a_move(case: Graded, was: Graded) -> bool:
    """Return True if a case is fixed and its further trials are better than the reference."""
    new = trials_of(case)[len(first_trials(case)) :]
    if case.change != "fixed" or not new:
        return False
    here, there = alarm_budget.observations(new), alarm_budget.observations(first_trials(was))
    return significance.p_value_below(there, here) <= LEVEL


def _moved(head: RunReport, folder: Path, found: Decided) -> Iterator[str]:
    moved = numbers.plural(len(found.fixed) + len(found.accepted), "case")
    commit = escape.commit(head.metadata.get("head_sha", "")) or "an unknown commit"
    yield f"the reference moved to {commit} for {moved} ({found.reason})"
    present = open_folder(folder)
    if present and (info := reference.info(head, present.report, present.log)):
        yield f"Reference: {phrases.reference(info)}"


def _is_accepted(case: Graded, was: Graded) -> bool:
    return standing(case) == "waived" and tier(case.verdict) < tier(was.verdict)


def _names(keys: tuple[CaseKey, ...]) -> str:
    return numbers.listed([name for _, name in keys], NAMED)
