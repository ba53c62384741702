"""Figures about judges that need no labels: effective votes of a panel, marks that differ."""

from typing import Final

from rubric_ci.model.report import RunReport
from rubric_ci.model.results import Assessed, Skipped
from rubric_ci.model.scoring import LEVELS, mark_share
from rubric_ci.policy.changes import change_note
from rubric_ci.statistics.effective_votes import centred, effective_votes
from rubric_ci.text import numbers

MOST_NOISE: Final = 5  # criteria; report.json has all


def panel(report: RunReport) -> str:
    """Return how many independent votes the judges of a panel are worth; empty: no panel."""
    ended = (case for case in report.cases if not isinstance(case, Skipped))
    criteria = (
        c
        for case in ended
        for e in case.evaluators
        if isinstance(e, Assessed)
        for c in e.criteria
        if len(c.judges) > 2
    )
    rows = [[mark_share(vote) for vote in c.votes] for c in criteria if c.kind != LEVELS]
    judges = max(map(len, rows), default=0)
    full = [row for row in rows if len(row) == judges]
    found = effective_votes(centred(full)) if full else None
    return f"{judges} judges, {found:.1f} effective votes" if found else ""


def noise(report: RunReport) -> list[str]:
    """Return a line for each criterion whose marks of one answer differ, the noisiest first."""
    found = [each for each in report.totals.judge_noise if each.differing]
    lines = [
        f"judge noise: {each.id} ({each.file}): {each.differing:,} of "
        f"{numbers.plural(each.repeated, 'answer')} got different marks when marked again"
        for each in found[:MOST_NOISE]
    ]
    more = len(found) - MOST_NOISE
    return [*lines, f"judge noise: {more:,} more criteria"] if more > 0 else lines


def notes(report: RunReport) -> list[str]:
    """Return the notes of a report and its judge noise.

    A change of the policy that is a change of the grading stands there, and not here as well.
    """
    said = {change_note(each.about, each.before, each.after) for each in report.grading_changes}
    return [*(note for note in report.notes if note not in said), *noise(report)]
