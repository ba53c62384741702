"""Wording, numbers and order shared by all report formats."""

import re
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from rubric_ci.text import escape, numbers
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import GateInfo, is_gating
from rubric_ci.values.report import RunReport, Totals
from rubric_ci.values.results import (
    Assessed,
    CaseResult,
    CriterionResult,
    EvaluatorResult,
    Graded,
    losses,
)
from rubric_ci.values.scope import EVERY_CASE
from rubric_ci.values.scoring import CANNOT_ASSESS, CHOICES, NOT_APPLICABLE, YES_OR_NO, MarkValue

CaseStatus: TypeAlias = Literal["fail", "errored", "borderline", "waived", "pass", "skipped"]
STATUSES: tuple[CaseStatus, ...] = ("fail", "errored", "borderline", "waived", "pass", "skipped")
"""The outcome of a case, most urgent first."""

NO_ANSWER = "(empty)"
_NUMBERED: Final = re.compile(r"rubric-\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A criterion that failed, or an evaluator that did not pass and misses no criterion."""

    evaluator: EvaluatorResult
    criterion: CriterionResult | None = None
    loss: float  # of the score, by the weight of the evaluator


def by_attention(cases: Iterable[CaseResult], gate: GateInfo | None = None) -> list[CaseResult]:
    """Sort by severity, then by loss, most urgent first; equal ones keep their order.

    The cases that a gate is not about come last.
    """
    return sorted(cases, key=lambda case: (not decides(case, gate), *severity(case), -loss(case)))


def decides(case: CaseResult, gate: GateInfo | None) -> bool:
    return gate is None or is_gating(case, gate)


def severity(case: CaseResult) -> tuple[int, int]:
    """Return a rank, 0 for the most urgent: a broken case is before one that failed before."""
    changed = {"broken": 0, "failing-before": 2}.get(case.change or "", 1)
    return STATUSES.index(case.status), changed


def loss(case: CaseResult) -> float:
    """Return how much the score fell; without an earlier score, its distance from 1."""
    if case.score is None:
        return 0.0
    then = case.before.score if case.before else None
    return (1.0 if then is None else then) - case.score


def reason(case: CaseResult) -> str:
    """Return the reason of a case; its criteria are named by their texts, not by their ids.

    A case that passes without a lost point needs none.
    """
    if isinstance(case, Graded) and case.verdict == "pass" and case.score >= 1:
        return ""
    text = case.reason
    for each in _told_of(case) if isinstance(case, Graded) else ():
        shown = " ".join(each.text.replace("`", "'").split())
        text = text.replace(f"`{each.id}`", f"“{numbers.shortened(shown, 100)}”")
    return text


def _told_of(case: Graded) -> list[CriterionResult]:
    """Return the criteria that the reason may name; of one id in several rubrics its own first."""
    counted = (each for each in case.evaluators if isinstance(each, Assessed) and each.weight > 0)
    every = (criterion for each in counted for criterion in each.criteria if criterion.text)
    reason_text = " ".join(case.reason.split())
    return sorted(
        every, key=lambda c: (not c.gated, " ".join(c.reasoning.split())[:100] not in reason_text)
    )


def name_of(criterion: CriterionResult) -> str:
    """Return the text of a criterion, in one line; its id if it has none."""
    return " ".join(criterion.text.split()) or criterion.id


def missed_name(miss: Miss, longest: int) -> str:
    """Return the name of a miss; the text of a fault says what should not be there."""
    if miss.criterion is None:
        return numbers.shortened(f"{miss.evaluator.name} ({miss.evaluator.type})", longest)
    name = numbers.shortened(name_of(miss.criterion).removesuffix("."), longest)
    return f"fault: {name}" if miss.criterion.fault else name


def own_id(criterion: CriterionResult) -> str:
    """Return the id of a criterion; empty if it is only its number."""
    return "" if _NUMBERED.fullmatch(criterion.id) else criterion.id


def provenance(report: RunReport) -> list[str]:
    """Return the basis of the verdict: the base of the cases, cached marks, recorded replies."""
    totals = report.totals
    cached = f"{totals.cached_marks:,} of {numbers.plural(totals.marks, 'mark')} from the cache"
    answers = numbers.plural(totals.graded + totals.errored, "answer")
    base = report.scope.base
    every = [
        f"changed cases since {base}" if base and not report.against else "",
        cached if totals.cached_marks else "",
        "model replies from a recording" if report.scope.replayed else "",
        f"{totals.recorded_answers:,} of {answers} recorded" if totals.recorded_answers else "",
    ]
    return [part for part in every if part]


def origin(report: RunReport) -> list[str]:
    """Return repository, pull request, commit, targets and judge, as far as they are known."""
    about = report.metadata
    targets = dict.fromkeys(case.target for case in report.cases if case.status != "skipped")
    named = [*filter(None, targets)]
    every = [
        about.get("repository", ""),
        f"pull request #{about['pull_request']}" if about.get("pull_request") else "",
        f"commit {escape.commit(about['head_sha'])}" if about.get("head_sha") else "",
        f"target{'s' * (len(named) > 1)} {numbers.listed(named)}" if named else "",
        f"judge {report.judge.model}" if report.judge else "",
    ]
    return [part for part in every if part]


def basis(report: RunReport) -> list[str]:
    """Return the part of the suite and `provenance`, for formats without a heading."""
    return [*([report.covers] if report.covers else []), *provenance(report)]


def counts(totals: Totals) -> list[tuple[CaseStatus, int, str]]:
    """Return status, number and label of every outcome that occurred."""
    every: list[tuple[CaseStatus, int, str]] = [
        ("pass", totals.passed, "passed"),
        ("borderline", totals.borderline, "borderline"),
        ("fail", totals.failed, "failed"),
        ("waived", totals.waived, "waived"),
        ("errored", totals.errored, "errored"),
        ("skipped", totals.skipped, "skipped"),
    ]
    return [entry for entry in every if entry[1]]


def misses(case: Graded, report: RunReport) -> list[Miss]:
    """Return the misses of a case: a missed gate first, then by their loss, waived ones last."""
    found = [
        miss
        for evaluator in case.evaluators
        if evaluator.weight > 0
        for miss in _misses(evaluator, report)
    ]

    def rank(miss: Miss) -> tuple[bool, bool, float]:
        criterion = miss.criterion
        waived = criterion is not None and criterion.id in case.waived
        return waived, criterion is None or not criterion.gated, -miss.loss

    return sorted(found, key=rank)


def _misses(evaluator: EvaluatorResult, report: RunReport) -> list[Miss]:
    if not isinstance(evaluator, Assessed):
        return [Miss(evaluator=evaluator, loss=evaluator.weight)]
    found = [
        Miss(evaluator=evaluator, criterion=criterion, loss=loss)
        for criterion, loss in losses(evaluator)
        if criterion.is_missed(report.gate.passing)
    ]
    if found or evaluator.verdict == "pass":
        return found
    return [Miss(evaluator=evaluator, loss=evaluator.weight * (1 - evaluator.score))]


def missed_criteria(case: Graded, report: RunReport) -> list[CriterionResult]:
    return [miss.criterion for miss in misses(case, report) if miss.criterion]


def mark(criterion: CriterionResult) -> str:
    """Return the mark of a criterion in words; of a present fault with its penalty."""
    words = _mark(criterion, criterion.mark)
    lost = criterion.weight * (1 - criterion.normalised)
    if not criterion.fault or criterion.normalised == 1 or not criterion.applies:
        return words
    return f"{words}, \N{MINUS SIGN}{lost:g} of {criterion.points:g} points"


def _mark(criterion: CriterionResult, value: MarkValue) -> str:
    if value == CANNOT_ASSESS:
        return "cannot be assessed"
    if value == NOT_APPLICABLE:
        return "not applicable"
    if criterion.kind in YES_OR_NO:
        yes = "present" if criterion.fault else "satisfied"
        return yes if value is True else f"not {yes}"
    if criterion.kind == CHOICES:
        return str(value)
    return f"{value} of 10" if criterion.kind == "score-range" else f"level {value}"


def gate_of(criterion: CriterionResult) -> str:
    """Return the condition of a criterion's gate, and whether it is met; empty: no gate.

    A criterion that meets its gate can lose points, and is then in the list of missed criteria.
    """
    if not criterion.gate or criterion.gate == "required":
        return "must not be present" if criterion.gate and criterion.fault else criterion.gate
    return f"{criterion.gate} to pass" if criterion.gated else f"gate met: {criterion.gate}"


def votes(criterion: CriterionResult) -> str:
    """Return the votes if they differ, else nothing; of several judges with the name of each."""
    if len({str(vote) for vote in criterion.votes}) < 2:
        return ""
    given = [_mark(criterion, vote) for vote in criterion.votes]
    if len(criterion.judges) == len(given):
        pairs = zip(criterion.judges, given, strict=True)
        return "judges differ: " + ", ".join(f"{judge} {word}" for judge, word in pairs)
    return "votes differ: " + ", ".join(given)


def quote_source(criterion: CriterionResult) -> str:
    """Return the part of the work that the judge's quote is from; "" for the answer."""
    if criterion.quoted_from in {"", "answer"}:
        return ""
    return f" ({criterion.quoted_from.replace('_', ' ')})"


def not_run(report: RunReport) -> list[str]:
    """Return the cases and checks that the whole run omitted, and why."""
    unfinished = "the run is incomplete: unfinished cases have no verdict"
    return [unfinished] if report.scope.unfinished else []


def texts(case: CaseResult) -> list[tuple[str, str]]:
    """Return the title and text of question, expected outcome and answer, if they are known."""
    answer = case.answer
    if case.verdict and case.question:  # older reports have no question
        answer = answer or NO_ANSWER
    every = [
        ("Question", case.question),
        ("Expected outcome", case.expected_outcome),
        ("Answer", answer),
    ]
    return [entry for entry in every if entry[1]]


def beginnings(case: CaseResult, limit: int) -> list[tuple[str, str]]:
    """Return `texts`, each cut to a number of characters."""
    cut = {"Question": brief_question(case.question, limit)}
    return [(title, numbers.shortened(cut.get(title, text), limit)) for title, text in texts(case)]


def brief_question(question: str, limit: int) -> str:
    """Return the last message of a question that is too long: system prompts come before it."""
    if len(question) <= limit:
        return question
    _, header, last = question.rpartition("\n\n[user]\n")
    return f"…{header.strip()}\n{last}" if last.strip() and header else question


def trials(case: CaseResult) -> str:
    """Return how many trials of a case pass, if it has more than one."""
    if not isinstance(case, Graded) or len(case.trials) < 2:
        return ""
    passed = sum(trial.verdict == "pass" for trial in case.trials)
    if len(case.trials) - case.further_trials == 1:  # no trials were asked for
        return f"asked {len(case.trials)} times: {passed} passed"
    needed = f", {case.trials_to_pass} needed" if case.trials_to_pass else ""
    return f"{passed} of {len(case.trials)} trials pass{needed}"


def warnings(cases: Iterable[CaseResult]) -> list[tuple[CaseResult, EvaluatorResult, str]]:
    return [
        (case, evaluator, warning)
        for case in cases
        for evaluator in case.evaluators
        if isinstance(evaluator, Assessed)
        for warning in evaluator.warnings
    ]


def reasons_to_run(report: RunReport) -> list[tuple[str, list[CaseResult]]]:
    return grouped((why(case), case) for case in report.cases if why(case))


def why(case: CaseResult) -> str:
    """Return the reason that a case ran; empty if every case ran."""
    return "" if case.why == EVERY_CASE else case.why


def reasons(evaluator: Assessed) -> list[str]:
    """Return the reasoning of an evaluator, and what was missed if it does not name it."""
    missed = [f"missed: {each}" for each in unnamed_misses(evaluator)]
    return [*filter(None, [evaluator.reasoning]), *missed]


def unnamed_misses(evaluator: Assessed) -> tuple[str, ...]:
    """Return the misses that the reasoning does not name; an exceeded limit is named in it."""
    named = evaluator.reasoning.split("; ")
    return tuple(each for each in evaluator.misses if each and each not in named)


def grouped(pairs: Iterable[tuple[str, CaseResult]]) -> list[tuple[str, list[CaseResult]]]:
    """Group cases by a text, in the order of its first case."""
    groups: dict[str, list[CaseResult]] = {}
    for text, case in pairs:
        groups.setdefault(text, []).append(case)
    return list(groups.items())
