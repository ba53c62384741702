"""The gate of a report: its settings, its pass rates, whether it passes, and why not.

The reasons are one list, which heading, next steps and exit code read.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from rubric_ci.errors import ExitCode
from rubric_ci.gate.report.matrix import difference
from rubric_ci.text import numbers
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.comparison import OF_SHARDS, Comparison, GateState, Together
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import (
    EACH,
    GateInfo,
    MinScore,
    PassRate,
    as_written,
    gating,
    is_better,
    is_changed,
    is_forbidden,
    is_held_against,
    is_together_open,
    is_weakened,
    lacks_difference,
    min_scores,
    needs_review,
    pass_rates,
    too_many_waivers,
)
from rubric_ci.values.report import RemovedCase, RunReport, case_names, totals
from rubric_ci.values.results import CaseResult, Change
from rubric_ci.values.scope import Scope
from rubric_ci.values.waivers import WaiverResult

Rule: TypeAlias = Literal[
    "broke",
    "service",
    "together",
    "new",
    "verdict",
    "target",
    "rate",
    "dimension",
    "no-group",
    "waivers",
    "weaker",
    "changed",
    "errored",
    "incomplete",
    "unread",
    "none-decides",
    "refused",
    "asked-again",
    "difference",
    "review",
]
_NAMED: Final = 3  # cases that a reason names
_LONGEST: Final = 160  # characters of the reason of an errored case
_UNDO: Final = "undo the changes to the grading, which the gate does not allow"


class Facts(NamedTuple):
    """The part of a report that decides the gate."""

    cases: Sequence[CaseResult]
    gate: GateInfo
    scope: Scope
    waivers: Sequence[WaiverResult] = ()
    grading_changes: Sequence[GradingChange] = ()
    comparison: Comparison | None = None
    removed: Sequence[RemovedCase] = ()


Run: TypeAlias = RunReport | Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why the gate does not simply pass, and how to change that."""

    rule: Rule
    code: ExitCode  # GATE: it fails; NO_VERDICT: it is undecided; OK: it passes, with a request
    text: str  # of the heading
    fix: str = ""  # empty: look at the cases
    cases: tuple[CaseResult, ...] = ()  # to look at, in the order of the report


def reasons(run: Run) -> tuple[Reason, ...]:
    """Return the reasons: those that fail the gate first, the one that decides at the top."""
    return (*_failures(run), *_gaps(run), *_requests(run))


def verdict_code(run: Run) -> ExitCode:
    """Return the exit code of the gate: GATE, NO_VERDICT or OK."""
    codes = [reason.code for reason in reasons(run)]
    return next((c for c in (ExitCode.GATE, ExitCode.NO_VERDICT) if c in codes), ExitCode.OK)


def _failures(run: Run) -> Iterator[Reason]:
    gate = run.gate
    every = [case for case in run.cases if is_forbidden(case, gate)]
    held: Sequence[CaseResult] = [case for case in every if case.status != "errored"]
    if unready := [case for case in every if case.status == "errored"]:
        text = f"the service of {_names(run, unready)} gets ready at the base, and not here"
        yield _failure("service", text, "fix the start of the service", unready)
    if gate.fail_on == "regression":
        yield from _regressions(run, held)
        held = [case for case in held if case.change is None]
    if held:
        alone = ", nothing to compare with" if gate.fail_on == "regression" else ""
        text = f"{failing(run.cases, gate)} (fail_on: {gate.fail_on}{alone})"
        yield _failure("verdict", text, cases=held)
    if not is_better(gate) and (found := gate.difference):
        less = f"is not significantly better than {found.than}"
        fix = f"improve target {found.target}: it {less}"
        yield _failure("target", f"{found.target} {less}", fix)
    if gate.fail_on != "never":
        yield from _missed_limits(run)
    if is_weakened(gate, run.grading_changes):
        yield _failure("weaker", "the change makes the grading weaker", _UNDO)
    if is_changed(gate, run.grading_changes):
        yield _failure("changed", "the change edits the grading", _UNDO)


def _missed_limits(run: Run) -> Iterator[Reason]:
    gate = run.gate
    for rate in gate.rates:
        if not rate.holds:
            held = [case for case in run.cases if is_held_against(case, gate)]
            yield _failure("rate", rate_text(rate), cases=held)
    for least in gate.scores:
        if not least.holds:
            text = score_text(least)
            fix = f"look at the {text}"
            yield _failure("dimension", text, fix)
    if text := too_many_waivers(gate.max_waivers, len(run.waivers)):
        yield _failure("waivers", text, f"edit `waivers.yaml`: {text}")


def _regressions(run: Run, held: Sequence[CaseResult]) -> Iterator[Reason]:
    if broken := _of(held, {"broken"}):
        yield _failure("broke", f"{_names(run, broken)} broke", cases=broken)
    together = run.comparison.together if run.comparison else None
    if together is not None and together.worse:
        yield _failure("together", dropped_by(together), cases=[*_lower(run.cases)])
    if new := _of(held, {"new"}):
        yield _failure("new", f"new and failing: {_names(run, new)}", cases=new)
    if other := _of(held, {"not-comparable"}):
        yield _failure("new", f"failing, and not comparable: {_names(run, other)}", cases=other)


def _gaps(run: Run) -> Iterator[Reason]:
    if lost := [case for case in gating(run.cases, run.gate) if case.status == "errored"]:
        count = numbers.plural(len(lost), "case")
        [(reason, same)] = Counter(case.reason for case in lost).most_common(1)
        said = numbers.shortened(" ".join(reason.split()), _LONGEST)
        some = count if same == len(lost) else f"{same:,} of {count}"
        fix = f"fix what leaves {some} without a verdict: {said}"
        yield _gap("errored", f"{count} errored", fix)
    elif run.scope.unfinished:
        yield _gap("incomplete", "the run is incomplete", "run again: the run is incomplete")
    if run.scope.unread:
        fix = "fix the eval files that could not be read"
        yield _gap("unread", "some eval files could not be read", fix)
    if run.gate.none_decides and run.gate.fail_on != "never":
        chosen = numbers.listed([*run.gate.tags, *run.gate.targets]) or "no other tag"
        text = f"no case decides: the gate is about {chosen}"
        yield _gap("none-decides", text, "name tags and targets of cases under `gate`")
    if run.scope.complete and run.gate.fail_on != "never":
        yield from _empty_groups(run.gate)
    if refused := sum(case.status == "skipped" and case.lacks_verdict for case in run.cases):
        count = numbers.plural(refused, "case")
        yield _gap("refused", f"{count} not gradable for an untrusted change")
    together = run.comparison.together if run.comparison else None
    if together and is_together_open(run.gate, run.comparison):
        text = f"{dropped_by(together)}, and the base could not be asked again"
        how = "without `--shard`" if together.problem == OF_SHARDS else "again"
        yield _gap("asked-again", text, f"run {how}: the base could not be asked again")
    if lacks_difference(run.cases, run.gate):
        than, found = run.gate.better_than, run.gate.difference
        text = f"no case was graded for both {than} and another target"
        if found:
            text = f"{numbers.plural(found.cases, 'case')} cannot show a difference from {than}"
        yield _gap("difference", text, f"run more cases for {than} and another target")


def _empty_groups(gate: GateInfo) -> Iterator[Reason]:
    """Yield the groups of the gate that no graded case or criterion is in."""
    cases = [each.group for each in gate.rates if each.group and not each.counted + each.waived]
    criteria = [each.group for each in gate.scores if each.score is None]
    for tags, noun in ((cases, "case"), (criteria, "criterion")):
        for tag in tags:
            text = f"no graded {noun} is tagged {tag}" if tag != EACH else f"no {noun} has a tag"
            yield _gap("no-group", text, f"{text}: tag some, or edit `gate.groups`")


def _requests(run: Run) -> Iterator[Reason]:
    if needs_review(run.gate, run.grading_changes):
        yield Reason(
            rule="review",
            code=ExitCode.OK,
            text="review the changes to the grading",
            fix="let a person review the changes to the grading",
        )


def _failure(rule: Rule, text: str, fix: str = "", cases: Sequence[CaseResult] = ()) -> Reason:
    return Reason(rule=rule, code=ExitCode.GATE, text=text, fix=fix, cases=tuple(cases))


def _gap(rule: Rule, text: str, fix: str = "") -> Reason:
    return Reason(rule=rule, code=ExitCode.NO_VERDICT, text=text, fix=fix)


def _of(cases: Sequence[CaseResult], changes: Set[Change]) -> list[CaseResult]:
    return [case for case in cases if case.change in changes]


def _names(run: Run, cases: Sequence[CaseResult]) -> str:
    return numbers.listed([*map(case_names(run), cases)], _NAMED)


def _lower(cases: Sequence[CaseResult]) -> Iterator[CaseResult]:
    for case in cases:
        before = case.before.score if case.before else None
        if case.score is not None and before is not None and case.score < before:
            yield case


def failing(cases: Sequence[CaseResult], gate: GateInfo) -> str:
    """Return how many of the deciding cases fail or are borderline: "2 of 20 cases fail"."""
    deciding = gating(cases, gate)
    counts = totals(tuple(deciding))
    size = numbers.plural(counts.graded, noun_of_cases(cases, deciding))
    if counts.failed:
        return f"{counts.failed:,} of {size} {'fails' if counts.failed == 1 else 'fail'}"
    return f"{counts.borderline:,} of {size} {'is' if counts.borderline == 1 else 'are'} borderline"


def noun_of_cases(cases: Sequence[CaseResult], deciding: Sequence[CaseResult]) -> str:
    """Return the word for the deciding cases that were graded."""
    if deciding and len(deciding) < len(cases):
        return "deciding case"
    return "case" if all(case.verdict for case in cases) else "graded case"


def dropped_by(together: Together) -> str:
    """Return how many more cases are worse: "29 more of 200 fail than before"."""
    if together.more_fail > 0:
        return f"{together.more_fail:,} more of {together.cases:,} fail than before"
    if together.fewer_pass > 0:
        return f"{together.fewer_pass:,} fewer of {together.cases:,} pass than before"
    return f"{together.cases:,} cases have worse verdicts than before"


def score_text(least: MinScore) -> str:
    found = "no criterion" if least.score is None else numbers.score(least.score)
    return f"criteria tagged {least.group}: {found}, {least.min_score} needed"


def rate_text(rate: PassRate) -> str:
    cases = f"tag {rate.group}" if rate.group else "all cases"
    errored = f", {rate.errored:,} errored not counted" if rate.errored else ""
    waived = f", {rate.waived:,} waived not counted" if rate.waived else ""
    new = f", {rate.new:,} new not counted before the merge" if rate.new else ""
    passing = f"{rate.passed:,} of {rate.counted:,} pass, {rate.required:,} must"
    if not rate.counted:
        passing = "no case counts"
    return f"{cases}: {passing} (min_pass_rate: {rate.min_pass_rate}){errored}{waived}{new}"


if TYPE_CHECKING:  # a report is checked without the types of the configuration
    from rubric_ci.values.gate import FailOn, GateConfig


def gate_of(config: "GateConfig", fail_on: "FailOn | None") -> GateInfo:
    """Return the settings without counts; `fail_on` of the command line comes first."""
    rates = [PassRate(min_pass_rate=rate, group=tag) for tag, rate in config.rates.items()]
    if config.min_pass_rate is not None:
        rates = [PassRate(min_pass_rate=config.min_pass_rate), *rates]
    least = {tag: of.min_score for tag, of in config.groups.items()}
    scores = [MinScore(min_score=of, group=tag) for tag, of in least.items() if of is not None]
    own = {"fail_on", "thresholds", "min_pass_rate", "groups"}
    shown = {field.name for field in fields(GateInfo)} - own
    return GateInfo(
        fail_on=fail_on or config.fail_on,
        passing=config.thresholds.passing,
        borderline=config.thresholds.borderline,
        rates=tuple(rates),
        scores=tuple(scores),
        holds=False,
        **{each.name: getattr(config, each.name) for each in fields(config) if each.name in shown},
    )


def settings_of(gate: GateInfo) -> GateInfo:
    """Return the settings alone, which the shards of one run share."""
    rates = (
        PassRate(min_pass_rate=each.min_pass_rate, group=each.group)
        for each in as_written(gate.rates)
    )
    scores = (
        MinScore(min_score=each.min_score, group=each.group) for each in as_written(gate.scores)
    )
    return replace(gate, rates=tuple(rates), scores=tuple(scores), difference=None, holds=False)


def concluded(
    gate: GateInfo,
    cases: Sequence[CaseResult],
    scope: Scope,
    waivers: Sequence[WaiverResult] = (),
    changes: Sequence[GradingChange] = (),
    comparison: Comparison | None = None,
) -> GateInfo:
    """Return the gate with the counts of these cases, and whether it passes."""
    counted = replace(
        gate,
        rates=pass_rates(gating(cases, gate), gate.rates, changes),
        scores=min_scores(gating(cases, gate), gate.scores),
        difference=difference(cases, gate.better_than, whole=scope.complete),
    )
    code = verdict_code(Facts(cases, counted, scope, waivers, changes, comparison))
    return replace(counted, holds=code is ExitCode.OK)


def with_gate(report: RunReport) -> RunReport:
    gate = concluded(
        report.gate,
        report.cases,
        report.scope,
        report.waivers,
        report.grading_changes,
        report.comparison,
    )
    return replace(report, gate=gate)


def exit_code(report: RunReport, *, invalid_files: bool = False) -> ExitCode:
    """Return the exit code: failed gate, then unusable eval files, then missing verdicts.

    A report does not list its unusable eval files, so `run` passes `invalid_files`.
    """
    code = verdict_code(report)
    return ExitCode.USAGE if invalid_files and code is not ExitCode.GATE else code


def gate_state(report: RunReport) -> GateState:
    """Return whether the gate passes; a run that lacks verdicts and fails no gate has neither."""
    if report.gate.holds:  # decided once, with a look at every case
        return "pass"
    states: Mapping[ExitCode, GateState] = {ExitCode.OK: "pass", ExitCode.GATE: "fail"}
    return states.get(exit_code(report), "no-verdict")
