"""What a report shows of its judges without labels: how many votes a panel is worth."""

from rubric_ci.model.mark_value import LEVELS, mark_share
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import Assessed, Skipped
from rubric_ci.statistics.effective_votes import centred, effective_votes


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
