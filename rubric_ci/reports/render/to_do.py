"""The next step after a report: the case to open first, or that there is nothing to do."""

from collections.abc import Iterator

from rubric_ci.gate.report.decision import errored, gate_state
from rubric_ci.reports.render import summary, wording
from rubric_ci.text import numbers
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import (
    is_better,
    is_changed,
    is_held_against,
    is_together_open,
    is_weakened,
    lacks_difference,
)
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Graded

LONGEST_REASON = 160  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to do: a text, and the case that it begins with after "open"."""

    text: str
    case: CaseResult | None = None


def steps(report: RunReport) -> list[Step]:
    """Return the steps to do, the most urgent first."""
    match gate_state(report):
        case "fail":
            return [*_to_pass(report)]
        case "no-verdict":
            return [*_to_decide(report)]
        case "pass":
            return [*_to_merge(report)]


def nothing(report: RunReport) -> str:
    """Return that there is nothing to do, in spite of failing cases."""
    failing = report.totals.failed
    if failing:
        cases = numbers.plural(failing, "failing case")
        return f"Nothing to do: {cases} {'does' if failing == 1 else 'do'} not fail the gate."
    if report.cases and not report.totals.graded:
        return "Nothing was graded: the reasons are below."
    return "Nothing to do."


def _to_pass(report: RunReport) -> Iterator[Step]:
    held = [case for case in report.cases if is_held_against(case, report.gate)]
    fell = report.gate.fail_on == "regression" and report.comparison and report.comparison.fell
    yield from _cases(held or ([*_lower(report)] if fell else []))
    if is_weakened(report.gate, report.grading_changes) or is_changed(
        report.gate, report.grading_changes
    ):
        yield Step(text="undo the changes to the grading, which the gate does not allow")
    if report.gate.fail_on in {"fail", "borderline"}:
        for excess in summary.excess_waivers(report):
            yield Step(text=f"edit `waivers.yaml`: {excess}")
    if not is_better(report.gate) and (found := report.gate.difference):
        yield Step(text=f"improve target {found.target}: it is not better than {found.than}")


def _cases(cases: list[CaseResult]) -> Iterator[Step]:
    if cases:
        more = len(cases) - 1
        then = f", then {numbers.plural(more, 'more case')}" if more else ""
        yield Step(text=then, case=wording.by_attention(cases)[0])


def _lower(report: RunReport) -> Iterator[CaseResult]:
    """Yield the cases with a lower score than before."""
    for case in report.cases:
        before = case.before.score if isinstance(case, Graded) and case.before else None
        if isinstance(case, Graded) and before is not None and case.score < before:
            yield case


def _to_decide(report: RunReport) -> Iterator[Step]:
    if open_cases := errored(report.cases, report.gate):
        reason, same = max(
            wording.grouped((case.reason, case) for case in open_cases),
            key=lambda group: len(group[1]),
        )
        count = numbers.plural(len(same), "case")
        shown = numbers.shortened(" ".join(reason.split()), LONGEST_REASON)
        yield Step(text=f"fix what leaves {count} without a verdict: {shown}")
    elif report.scope.unfinished:
        yield Step(text="run again: the run is incomplete")
    if report.scope.unread:
        yield Step(text="fix the eval files that could not be read")
    yield from _to_compare(report)


def _to_compare(report: RunReport) -> Iterator[Step]:
    """Yield a sentence for each thing that a comparison lacks."""
    if is_together_open(report.gate, report.comparison):
        yield Step(text="run again: the base could not be asked again")
    if lacks_difference(report.cases, report.gate):
        yield Step(text=f"run more cases for {report.gate.better_than} and another target")


def _to_merge(report: RunReport) -> Iterator[Step]:
    if [*summary.to_review(report)]:
        yield Step(text="let a person review the changes to the grading")
