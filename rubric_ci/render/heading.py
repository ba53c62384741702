"""The heading of every output: the result of the gate, the cases, the part of the suite."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from rubric_ci.model.gate import is_forbidden, is_undecided
from rubric_ci.model.report import RunReport, Totals
from rubric_ci.render.wording import excess_waivers, forbidden_grading, rate_text, to_review
from rubric_ci.report.gate import gate_state
from rubric_ci.text import numbers

Tone: TypeAlias = Literal["pass", "fail", "error", "nothing"]
"""The result of the gate, as colours and icons show it; `error`: the gate is undecided."""


def heading(report: RunReport) -> str:
    """Return the result of the gate in one line, and what it comes from."""
    cases = outcome(report)
    errored = f"{numbers.plural(report.totals.errored, 'case')} errored"
    match gate_state(report):
        case "pass":
            parts = ["Gate passes", cases]
        case "fail":
            reasons = list(_why_it_fails(report, cases))
            known = [] if cases in reasons else [cases]
            without = [errored] * bool(report.totals.errored)
            parts = [f"Gate fails: {'; '.join(reasons)}", *known, *without]
        case "no-verdict":
            parts = [f"Gate undecided: {'; '.join(_why_undecided(report, errored))}", cases]
    return " · ".join(part for part in (*parts, *to_review(report), report.covers) if part)


def tone(report: RunReport) -> Tone:
    """Return what colours and icons of the whole report show."""
    state = gate_state(report)
    if state == "pass" and not report.totals.graded:
        return "nothing"
    return "error" if state == "no-verdict" else state


def outcome(report: RunReport) -> str:
    """Return how the graded cases ended, the worst first; empty if errors left none."""
    counts = report.totals
    if counts.failed:
        return _some(counts.failed, counts.graded, "fails", "fail")
    if counts.borderline:
        return f"{_some(counts.borderline, counts.graded, 'is', 'are')} borderline"
    if counts.graded:
        return _all(counts)
    if counts.skipped:
        return f"nothing was graded: {numbers.plural(counts.skipped, 'case')} skipped"
    if counts.errored or report.scope.unread:
        return ""
    changed = "changed-since" in report.scope.narrowed_by
    return f"nothing to grade{': the change affects no case' if changed else ''}"


def _why_it_fails(report: RunReport, cases: str) -> Iterator[str]:
    fail_on = report.gate.fail_on
    if held := sum(is_forbidden(case, report.gate) for case in report.cases):
        yield numbers.plural(held, "regression") if fail_on == "regression" else cases
    if fail_on == "regression" and report.comparison and report.comparison.fell:
        yield "the mean score fell"
    if fail_on in {"fail", "borderline"}:
        yield from (rate_text(rate) for rate in report.gate.rates if not rate.holds)
        yield from excess_waivers(report)
    yield from forbidden_grading(report)


def _why_undecided(report: RunReport, errored: str) -> Iterator[str]:
    if report.totals.errored:
        yield errored
    elif report.scope.unfinished:
        yield "the run is incomplete"
    if report.scope.unread:
        yield "some eval files could not be read"
    if undecided := sum(is_undecided(case, report.gate) for case in report.cases):
        yield f"{numbers.plural(undecided, 'failing case')} not comparable with the base"


def _all(counts: Totals) -> str:
    number = counts.graded
    if counts.waived:
        passing = f"{counts.passed:,} of {numbers.plural(number, 'graded case')}"
        return f"{passing} pass, {counts.waived:,} waived"
    return "the only graded case passes" if number == 1 else f"all {number:,} graded cases pass"


def _some(number: int, graded: int, one: str, many: str) -> str:
    return f"{number:,} of {numbers.plural(graded, 'graded case')} {one if number == 1 else many}"
