"""The record of a report."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rubric_ci.errors import CannotReadReport
from rubric_ci.parts.lab.history.record import RunRecord
from rubric_ci.values.dimensions import dimensions
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Assessed, CaseResult, Graded, with_verdict


def record_of(report: RunReport, *, link: str = "") -> RunRecord:
    """Return the record of a report; `link` replaces the URL of its workflow run.

    Raises CannotReadReport for the report of a shard, and for one without a time.
    """
    if report.shard is not None:
        raise CannotReadReport(
            f"the report is of shard {report.shard.index} of {report.shard.count}, not of a run",
            "combine the shards with `rubric-ci report merge` first",
        )
    totals = report.totals
    return RunRecord(
        started_at=_utc(report.started_at),
        tool=report.tool,
        verdict=report.verdict,
        gate_passes=report.gate.holds,
        complete=report.scope.complete,
        worse=report.comparison.worse if report.comparison else None,
        judge=report.judge,
        judge_moved=report.sentinel is not None and report.sentinel.moved,
        score=totals.score,
        pass_rate=round(totals.passed / totals.graded, 6) if totals.graded else None,
        calls=totals.calls,
        cost_usd=None if totals.unpriced_calls else totals.cost_usd,
        commit=report.metadata.get("head_sha", ""),
        link=link or report.metadata.get("run_url", ""),
        cases=tuple(case.key for case in report.cases),
        verdicts="".join(map(_letter, report.cases)),
        mixed=tuple(case.key for case in _mixed(report.cases)),
        tags={each.tag: each.score for each in dimensions(report.cases)},
        inapplicable=_inapplicable(report.cases),
    )


def _inapplicable(cases: Sequence[CaseResult]) -> dict[str, tuple[int, int]]:
    """Return for each criterion with a condition in how many answers it did not apply."""
    applied: dict[str, list[bool]] = {}
    for case in with_verdict(cases):
        for each in case.evaluators:
            for criterion in each.criteria if isinstance(each, Assessed) else ():
                if criterion.applies_if:
                    applied.setdefault(criterion.id, []).append(criterion.applies)
    return {name: (given.count(False), len(given)) for name, given in sorted(applied.items())}


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


def _letter(case: CaseResult) -> str:
    return (case.verdict or case.status)[0] if case.status != "waived" else "w"


def _mixed(cases: Sequence[CaseResult]) -> list[Graded]:
    """Return the cases whose trials have different verdicts."""
    graded = with_verdict(cases)
    return [case for case in graded if len({trial.verdict for trial in case.trials}) > 1]
