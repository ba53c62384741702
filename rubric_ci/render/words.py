"""The words, figures and order that every format shares."""

from collections.abc import Iterable, Iterator
from decimal import ROUND_FLOOR, Decimal
from typing import Literal, TypeAlias

from rubric_ci.model.exchange import Usage
from rubric_ci.model.report import (
    Assessed,
    CaseResult,
    CriterionResult,
    EvaluatorResult,
    Graded,
    RunReport,
    Skipped,
    Totals,
)
from rubric_ci.model.rubric import CANNOT_ASSESS, MarkValue

Standing: TypeAlias = Literal["fail", "errored", "borderline", "pass", "skipped"]
STANDINGS: tuple[Standing, ...] = ("fail", "errored", "borderline", "pass", "skipped")
"""How a case ended, what needs attention first."""


def standing(case: CaseResult) -> Standing:
    """Return the verdict of a graded case, or the outcome of another."""
    return case.verdict if isinstance(case, Graded) else case.outcome


def by_attention(cases: Iterable[CaseResult]) -> list[CaseResult]:
    """Sort by standing; cases of the same standing stay in the order of their files."""
    return sorted(cases, key=lambda case: STANDINGS.index(standing(case)))


def headline(report: RunReport) -> str:
    """Say in one line how the run ended."""
    counts = report.totals
    match report.verdict:
        case "pass":
            return f"pass: {_all(counts.graded)}"
        case "borderline":
            return f"borderline: {_some(counts.borderline, counts.graded, 'is', 'are')} borderline"
        case "fail":
            return f"fail: {_some(counts.failed, counts.graded, 'fails', 'fail')}"
        case "error":
            unread = "some eval files could not be read"
            errored = f"{plural(counts.errored, 'case')} errored"
            return f"no verdict: {errored if counts.errored else unread}"
        case "nothing-changed":
            return "nothing to grade: the change affects no case"
        case "nothing-graded":
            return f"nothing was graded: {plural(counts.skipped, 'case')} without anything to grade"


def gate(report: RunReport) -> str:
    """Say what the gate asks and whether it holds."""
    if report.verdict == "error" and not report.gate.holds:
        return "the gate fails (no verdict)"
    return f"the gate {'holds' if report.gate.holds else 'fails'} (fail-on: {report.gate.fail_on})"


def counts(totals: Totals) -> list[tuple[Standing, int, str]]:
    """Return standing, number and words of every outcome that occurred."""
    every: list[tuple[Standing, int, str]] = [
        ("pass", totals.passed, "passed"),
        ("borderline", totals.borderline, "borderline"),
        ("fail", totals.failed, "failed"),
        ("errored", totals.errored, "errored"),
        ("skipped", totals.skipped, "skipped"),
    ]
    return [entry for entry in every if entry[1]]


def missed(case: Graded, report: RunReport) -> Iterator[tuple[Assessed, CriterionResult]]:
    """Yield the criteria that cost the case its verdict: gates missed, or marks below passing."""
    for evaluator in case.evaluators:
        if isinstance(evaluator, Assessed) and evaluator.weight > 0:
            for criterion in evaluator.criteria:
                if is_missed(criterion, report):
                    yield evaluator, criterion


def is_missed(criterion: CriterionResult, report: RunReport) -> bool:
    """Tell whether a criterion misses its gate, or counts and is marked below passing."""
    return criterion.gated or (criterion.weight > 0 and criterion.normalised < report.gate.passing)


def mark(kind: str, value: MarkValue) -> str:
    """Say what the judge marked, in words."""
    if value == CANNOT_ASSESS:
        return "cannot be assessed"
    if kind == "checklist":
        return "satisfied" if value is True else "not satisfied"
    return f"{value} of 10" if kind == "score-range" else f"level {value}"


def gate_of(criterion: CriterionResult) -> str:
    """Say what a criterion's gate asks, or nothing where it has none."""
    return (
        f"{criterion.gate} to pass"
        if criterion.gate and criterion.gate != "required"
        else criterion.gate
    )


def votes(criterion: CriterionResult) -> str:
    """Say how the votes fell, where they differ."""
    if len({str(vote) for vote in criterion.votes}) < 2:
        return ""
    return "votes differ: " + ", ".join(mark(criterion.kind, vote) for vote in criterion.votes)


def score(value: float) -> str:
    """Show two decimals, rounded down: what misses 0.8 never reads as 0.80."""
    exact = Decimal(repr(round(value, 6)))
    return str(exact.quantize(Decimal("0.01"), rounding=ROUND_FLOOR))


def cost(totals: Totals | Usage) -> str:
    """Say what was spent; calls without a known price are never counted as free."""
    if not totals.calls:
        return "no model calls"
    calls = plural(totals.calls, "model call")
    if totals.unpriced_calls >= totals.calls:
        return f"{calls}, price unknown"
    unpriced = (
        f" and {totals.unpriced_calls} without a known price" if totals.unpriced_calls else ""
    )
    return f"{calls}, {dollars(totals.cost_usd)}{unpriced}"


def dollars(amount: float) -> str:
    """Show cents where there are some, else what there is."""
    return f"${amount:.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def usage(totals: Totals | Usage) -> str:
    """Say the rest of what was used, or nothing."""
    parts = [
        f"{totals.input_tokens:,} + {totals.output_tokens:,} tokens" if totals.input_tokens else "",
        f"{totals.cache_hits} from cache" if totals.cache_hits else "",
        f"{plural(totals.repairs, 'reply', 'replies')} asked for again" if totals.repairs else "",
    ]
    return ", ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    """Show seconds, and minutes where there are some."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def not_run(report: RunReport) -> list[str]:
    """Say what was left out of the run as a whole, and why."""
    spared = plural(report.spared, "case")
    return [
        *([f"{spared} not run: the change does not affect them"] if report.spared else []),
        *(
            ["stopped before all cases had ended; the rest is not in this report"]
            if report.interrupted
            else []
        ),
    ]


def trials(case: CaseResult) -> str:
    """Say how many of a case's own trials pass, where there is more than one."""
    if not isinstance(case, Graded) or len(case.trials) < 2:
        return ""
    passed = sum(trial.verdict == "pass" for trial in case.trials)
    return f"{passed} of {len(case.trials)} trials pass"


def warnings(cases: Iterable[CaseResult]) -> list[tuple[CaseResult, EvaluatorResult, str]]:
    """Return what evaluators warn of, such as an answer that speaks to the judge."""
    return [
        (case, evaluator, warning)
        for case in cases
        if not isinstance(case, Skipped)
        for evaluator in case.evaluators
        if isinstance(evaluator, Assessed)
        for warning in evaluator.warnings
    ]


def reasons_to_run(report: RunReport) -> list[tuple[str, list[CaseResult]]]:
    """Group the cases by why they ran."""
    return grouped((case.why, case) for case in report.cases if case.why)


def not_passing(case: Graded) -> list[EvaluatorResult]:
    """Return the evaluators that count and did not pass the answer."""
    return [
        evaluator
        for evaluator in case.evaluators
        if evaluator.weight > 0
        and not (isinstance(evaluator, Assessed) and evaluator.verdict == "pass")
    ]


def grouped(pairs: Iterable[tuple[str, CaseResult]]) -> list[tuple[str, list[CaseResult]]]:
    """Group cases by a text, in the order of its first case."""
    groups: dict[str, list[CaseResult]] = {}
    for text, case in pairs:
        groups.setdefault(text, []).append(case)
    return list(groups.items())


def facts(report: RunReport) -> list[str]:
    """Return what the run took and by which rules it judged, a few words each."""
    judge = report.judge
    every = [
        cost(report.totals),
        usage(report.totals),
        duration(report.duration_seconds),
        f"judge {judge.model}, prompt {judge.prompt_version}" if judge else "",
        f"pass ≥ {report.gate.passing:g}, borderline ≥ {report.gate.borderline:g}",
        report.tool,
    ]
    return [fact for fact in every if fact]


def shortened(text: str, limit: int) -> str:
    """Cut text to a number of characters, with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def plural(number: int, one: str, many: str = "") -> str:
    """Count in words."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _all(number: int) -> str:
    return "the only case passes" if number == 1 else f"all {number:,} graded cases pass"


def _some(number: int, graded: int, one: str, many: str) -> str:
    return f"{number:,} of {plural(graded, 'graded case')} {one if number == 1 else many}"
