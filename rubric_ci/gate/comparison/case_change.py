"""How one case differs from an earlier report, and how far verdicts and scores separate."""

from collections.abc import Iterable
from typing import assert_never

from rubric_ci.gate.comparison import verdicts
from rubric_ci.gate.comparison.alarm_budget import Tested
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.text.statistics.night_effect import NightMeans
from rubric_ci.values.answers import identity
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.media import of_answer
from rubric_ci.values.report import RemovedCase
from rubric_ci.values.results import BaseResult, CaseResult, Errored, Graded, Skipped
from rubric_ci.values.scoring import DECIMALS, MarkValue, Verdict
from rubric_ci.values.trials import same_marks_again, tier, trials_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRules:
    """The rule for a case: its separation, or its p-value within a budget."""

    noun: str  # "baseline" or "reference"
    config: RegressionConfig
    tested: Tested | None = None  # None: no budget applies
    nights: NightMeans | None = None  # of the reference; None: too few nights


def changed(case: CaseResult, was: CaseResult | None, rules: ChangeRules) -> CaseResult:
    """Return the case with its change since an earlier report."""
    found = change_of(case, was, rules)
    return verdicts.changed(case, found, _before(case, was, found))


def change_of(case: CaseResult, was: CaseResult | None, rules: ChangeRules) -> Compared:
    """Return how a case differs; without a counterpart it is new."""
    if was is None:
        return Compared(change="new")
    place = f" in the {rules.noun}"
    if problem := verdicts.without_verdict(case, "") or verdicts.without_verdict(was, place):
        return Compared(change="not-comparable", reason=problem)
    assert isinstance(case, Graded)  # noqa: S101 - see above
    assert isinstance(was, Graded)  # noqa: S101 - as above
    found = _moved(case, was, rules.config.tolerance)
    if rules.tested:
        return _tested(case, was, found, rules)
    return found


def removed_cases(
    baseline: Iterable[CaseResult], found: Iterable[CaseResult]
) -> tuple[RemovedCase, ...]:
    """Return the baseline's cases that no case of the run matches."""
    kept = {case.key for case in found}
    return tuple(
        RemovedCase(file=case.file, id=case.id) for case in baseline if case.key not in kept
    )


def _tested(after: Graded, before: Graded, found: Compared, rules: ChangeRules) -> Compared:
    """Return `broken` for a confirmed suspect only; one that is not confirmed is `flaky`.

    Against a pinned reference the first night in a row does not confirm it.
    """
    assert rules.tested is not None  # noqa: S101 - a budget applies
    key = after.key
    p_value = rules.tested.p_values.get(key)
    if p_value is None:
        if found.change != "broken":
            return found
        return Compared(change="flaky", reason="lower, but by no more than its trials differ")
    seen = verdicts.seen(after, before, f"in the {rules.noun}")
    facts = f"{seen} (p = {p_value:.2g})"
    if rules.tested.confirmed(key):
        return Compared(change="broken", reason=f"confirmed: {facts}", suspected=True)
    if rules.tested.worse(key):
        return Compared(change="flaky", reason=f"suspected in this night: {facts}", suspected=True)
    if key in rules.tested.repeating:
        why = "by equal answers, which count once: it may be chance"
        return Compared(change="flaky", reason=f"flipped: {seen}, {why}", suspected=True)
    word = "undecided, too few trials" if key in rules.tested.undecided else "not confirmed"
    return Compared(change="flaky", reason=f"{word}: {facts}", suspected=True)


def _moved(after: Graded, before: Graded, tolerance: float) -> Compared:
    rise = tier(after.verdict) - tier(before.verdict)
    difference = round(after.score - before.score, DECIMALS)
    if not rise and abs(difference) <= tolerance:
        return verdicts.same(after)
    better = (rise or difference) > 0
    low, high = (before, after) if better else (after, before)
    if not _separated(low, high, tolerance):
        return Compared(change="flaky", reason="differs by no more than its trials do")
    if not better:
        return Compared(change="broken")
    return Compared(change="fixed") if rise else verdicts.same(after)


def _separated(low: Graded, high: Graded, tolerance: float) -> bool:
    """Return True if all trials of `low` are below all of `high`, in a quantity that changed.

    A verdict that fell while every score rose, a missed gate, is separated by its verdicts only.
    """
    if tier(low.verdict) < tier(high.verdict) and _below(_tiers(low), _tiers(high)):
        return True
    fell = round(high.score - low.score, DECIMALS) > tolerance
    return fell and _below(_scores(low), _scores(high))


def _below(low: list[float], high: list[float]) -> bool:
    return max(low) < min(high)


def _tiers(case: Graded) -> list[float]:
    return [tier(verdict) for verdict in _verdicts(case)]


def _scores(case: Graded) -> list[float]:
    return [trial.score for trial in trials_of(case)]


def _verdicts(case: Graded) -> list[Verdict]:
    return [trial.verdict for trial in trials_of(case)]


def _again(case: CaseResult, was: Graded) -> tuple[MarkValue, ...]:
    if not isinstance(case, Graded) or identity(case) != identity(was):
        return ()
    return same_marks_again(case.evaluators, was.evaluators)


def _before(case: CaseResult, was: CaseResult | None, found: Compared) -> BaseResult | None:
    """Return the earlier case as a report shows it; its answer if that is part of a change."""
    match was:
        case None:
            return None
        case Skipped() | Errored():
            return BaseResult(outcome=was.outcome, reason=was.reason, source="report")
        case Graded():
            differs = isinstance(case, Graded) and identity(case) != identity(was)
            shown = differs and found.change != "unchanged"
            return BaseResult(
                outcome="graded",
                verdict=was.verdict,
                score=was.score,
                answer=was.answer if shown else "",
                trace=was.trace if shown else None,
                file_changes=was.file_changes if shown else (),
                media=of_answer(was.media) if shown else (),
                source="report",
                marks=_again(case, was),
            )
        case _:
            assert_never(was)
