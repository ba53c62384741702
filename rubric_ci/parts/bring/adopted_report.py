"""The report of another tool's results: a case per sample, its marks as criteria.

The tool decides what passes: a case fails by the gate of a criterion that failed, and the
thresholds of the report are 0. Only a score without a verdict passes from our pass threshold.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from math import isfinite
from typing import Any, Final

from rubric_ci import __version__
from rubric_ci.gate.report.decision import concluded, gate_of
from rubric_ci.gate.waivers.waiver_report import with_outcomes
from rubric_ci.parts.bring.adopted_samples import Check, Sample, ToolCase, judged
from rubric_ci.text import numbers
from rubric_ci.text.numbers import listed
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.config import Config
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.gate import FailOn, GateInfo, is_gating
from rubric_ci.values.messages import Message, TextPart
from rubric_ci.values.report import RunReport, run_verdict, totals
from rubric_ci.values.results import (
    ADOPTED,
    Assessed,
    CaseResult,
    CriterionResult,
    Errored,
    Graded,
    Skipped,
    Unassessed,
    with_verdict,
)
from rubric_ci.values.rubric import Check as Criterion
from rubric_ci.values.rubric import Rubric
from rubric_ci.values.scope import WHOLE
from rubric_ci.values.scoring import CHECKLIST, Thresholds, Verdict, format_score
from rubric_ci.values.trials import median_trial, trials_of
from rubric_ci.values.waivers import WaiverResult, with_waivers

THEIRS: Final = Thresholds(passing=0.0, borderline=0.0)
"""No threshold: the gates of the criteria that failed decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """Whose results these are, and which mark passes."""

    tool: str
    least: float  # the score from which a mark without a verdict passes


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    started_at: str  # RFC 3339
    metadata: dict[str, str]
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # why the results are of a part of a run: it has no verdict
    grading_changes: tuple[GradingChange, ...] = ()


def results(
    samples: Iterable[Sample], about: Adopted, waivers: Sequence[WaiverResult] = ()
) -> tuple[CaseResult, ...]:
    """Return the cases in the order of their first sample; several samples of one are trials.

    The samples come from `samples.counting`, which tells tests of one id apart.
    """
    waived: dict[CaseKey, set[str]] = {}
    for waiver in waivers:
        if waiver.state == "not-run":
            waived.setdefault((waiver.file, waiver.case), set()).add(waiver.criterion)
    trials: dict[CaseKey, list[CaseResult]] = {}
    for sample in samples:
        key = sample.key
        assert sample.is_run or key not in trials, key  # noqa: S101 - two tests are no trials
        trials.setdefault(key, []).append(_result(sample, about, waived.get(key, set())))
    return tuple(map(median_trial, trials.values()))


def as_cases(samples: Iterable[Sample], about: Adopted) -> tuple[EvalCase, ...]:
    found: dict[CaseKey, EvalCase] = {}
    for sample in samples:
        graders = {
            name: (check.text or check.name, check.weight) for name, check in _named(sample.checks)
        }
        asked = sample.question, sample.expected
        found.setdefault(sample.key, _as_case(about.tool, sample.key, asked, graders, sample.tags))
    return tuple(found.values())


def tool_cases(samples: Sequence[Sample], about: Adopted) -> dict[CaseKey, ToolCase]:
    """Return the cases with what a change of the tool's tests shows in."""
    trials = Counter(sample.key for sample in samples)
    first = {sample.key: sample for sample in reversed(samples)}
    return {
        case.key: ToolCase(
            case=case,
            trials=trials[case.key],
            skipped=first[case.key].skipped,
            errored=bool(first[case.key].error),
        )
        for case in as_cases(samples, about)
    }


def tool_cases_of(report: RunReport) -> dict[CaseKey, ToolCase]:
    """Return the adopted cases of a report that have marks."""
    trials = {case.key: len(trials_of(case)) for case in with_verdict(report.cases)}
    return {case.key: ToolCase(case=case, trials=trials[case.key]) for case in cases_of(report)}


def cases_of(report: RunReport) -> tuple[EvalCase, ...]:
    """Return the graded cases of a report that are adopted, with their criteria."""
    return tuple(
        _as_case(
            whole.name,
            case.key,
            (case.question, case.expected_outcome),
            {each.id: (each.text, each.weight) for each in whole.criteria},
            case.tags,
        )
        for case in with_verdict(report.cases)
        for whole in case.evaluators
        if isinstance(whole, Assessed) and whole.type == ADOPTED
    )


def _as_case(
    tool: str,
    key: CaseKey,
    asked: tuple[str, str],
    graders: Mapping[str, tuple[str, float]],
    tags: tuple[str, ...],
) -> EvalCase:
    every = {**graders, tool: graders.get(tool, (_WHOLE, 1.0))}
    rubric = Rubric(
        tuple(
            Criterion(id=each, text=text, weight=weight, required=weight > 0, span=_SPAN)
            for each, (text, weight) in every.items()
        )
    )
    (file, name), (question, expected) = key, asked
    return EvalCase(
        id=name,
        file=file,
        span=_SPAN,
        expected_outcome=expected,
        input_messages=(Message(role="user", parts=(TextPart(question),)),),
        evaluators=(RubricSpec(name=tool, type=ADOPTED, rubric=rubric, span=_SPAN),),
        tags=tags,
    )


_SPAN: Final = Span(line=1, column=1, end_line=1, end_column=1)
_WHOLE: Final = "the case passes"


def _result(sample: Sample, about: Adopted, waived: Set[str]) -> CaseResult:
    found = judged(sample, about.least)
    facts: dict[str, Any] = {
        "file": found.suite,
        "line": 1,
        "id": found.id,
        "tags": found.tags,
        "question": found.question,
        "expected_outcome": found.expected,
    }
    if found.skipped and not found.error:
        return Skipped(**facts, reason=found.skipped)
    facts |= {"target": found.target, "answer": found.answer, "duration_seconds": found.seconds}
    if found.error or found.passed is None or found.score is None:
        lost = tuple(
            Unassessed(name=name, type=ADOPTED, weight=check.weight, line=1, reason=check.error)
            for name, check in _named(found.checks)
            if check.error
        )
        reason = found.error or "no grader that counts has a mark"
        return Errored(**facts, reason=reason, evaluators=lost)
    return with_waivers(_graded(found, about, facts), waived, THEIRS)


def _graded(sample: Sample, about: Adopted, facts: Mapping[str, Any]) -> Graded:
    criteria = tuple(_criteria(sample, about))
    gated_by = tuple(criterion.id for criterion in criteria if criterion.gated)
    verdict: Verdict = "fail" if gated_by else "pass"
    score, remark = _score(sample)
    whole = Assessed(
        name=about.tool,
        type=ADOPTED,
        weight=1.0,
        line=1,
        score=score,
        verdict=verdict,
        gated_by=gated_by,
        reasoning=remark,
        criteria=criteria,
        details=dict(sample.details) if sample.details else None,
    )
    return Graded(
        **facts,
        verdict=verdict,
        score=score,
        reason=_reason(criteria, about),
        gated_by=gated_by,
        evaluators=(whole,),
    )


def _criteria(sample: Sample, about: Adopted) -> Iterator[CriterionResult]:
    """Yield a criterion per check, and one for a case that fails although no check does."""
    failed = [check for check in sample.checks if check.weight > 0 and not check.passed]
    for name, check in _named(sample.checks):
        tolerated = bool(sample.passed) and not check.passed
        gate = "" if check.weight <= 0 or tolerated else "required"
        yield _criterion(name, check, gate)
    if not sample.passed and not failed:
        yield _criterion(about.tool, Check(name=about.tool, passed=False, text=_WHOLE), "required")


def _criterion(name: str, check: Check, gate: str) -> CriterionResult:
    passed = bool(check.passed)
    score = ""
    if (value := check.score) is not None:
        score = f"score {format_score(value) if isfinite(value) else value}"
    return CriterionResult(
        id=name,
        kind=CHECKLIST,
        line=1,
        text=check.text or check.name,
        weight=check.weight,
        mark=passed,
        normalised=float(passed),
        gated=bool(gate) and not passed,
        gate=gate,
        reasoning=": ".join(filter(None, (score, check.reason))),
    )


def _named(checks: Sequence[Check]) -> Iterator[tuple[str, Check]]:
    """Yield each check with an id: its name, with a number where names repeat."""
    yield from zip(numbers.numbered(check.name for check in checks), checks, strict=True)


def _score(sample: Sample) -> tuple[float, str]:
    """Return the score of the tool; one outside of 0..1 is said, and the verdict stands for it."""
    assert sample.score is not None  # noqa: S101 - see `_result`
    if isfinite(sample.score) and 0 <= sample.score <= 1:
        return round(sample.score, 6), ""
    return float(bool(sample.passed)), f"its score {sample.score:g} is not between 0 and 1"


def _reason(criteria: Sequence[CriterionResult], about: Adopted) -> str:
    missed = [criterion for criterion in criteria if criterion.gated]
    if not missed:
        return f"passes in {about.tool}"
    count = numbers.plural(len(missed), "check")
    first = missed[0].reasoning.splitlines()
    return f"{count} failed: {missed[0].id}" + (f": {first[0]}" if first else "")


def report_of(
    cases: Sequence[CaseResult],
    config: Config,
    fail_on: FailOn | None,
    waivers: Sequence[WaiverResult],
    facts: Facts,
) -> RunReport:
    cases = tuple(cases)
    outcomes = with_outcomes(waivers, cases)
    scope = WHOLE.narrowed("interrupted") if facts.missing else WHOLE
    gate = their_gate(config, fail_on)
    if scope.complete and cases:
        gate = replace(gate, none_decides=not any(is_gating(case, gate) for case in cases))
    return RunReport(
        tool=f"rubric-ci {__version__}",
        started_at=facts.started_at,
        duration_seconds=round(facts.seconds, 3),
        verdict=run_verdict(cases),
        scope=scope,
        gate=concluded(gate, cases, scope, outcomes, facts.grading_changes),
        totals=totals(cases),
        cases=cases,
        waivers=outcomes,
        grading_changes=facts.grading_changes,
        notes=(*(f"no verdict: {reason}" for reason in facts.missing), *facts.notes),
        metadata=facts.metadata,
        regression=config.regression,
    )


def their_gate(config: Config, fail_on: FailOn | None) -> GateInfo:
    """Return the gate without thresholds: the tool decides what passes."""
    gate = gate_of(config.gate, fail_on)
    return replace(gate, passing=THEIRS.passing, borderline=THEIRS.borderline)


def note(tool: str, files: Sequence[str], graders: Sequence[str] = ()) -> str:
    """Return where the marks are from, for the report."""
    only = f"; only {listed(sorted(graders))} decide" if graders else ""
    return f"The marks come from {tool}: {listed(files)}{only}."
