"""How a case differs from the base commit, and when a suspected break counts.

A case that is worse or better at the head gets further trials on both sides. It is broken or fixed
if the p-value of an exact rank-sum test of all its trials is within the budget of false alarms,
which suspects share. All cases together are tested as well: a drop that is spread over many of them
shows in none.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from statistics import fmean
from typing import Final, assert_never

from rubric_ci.text.statistics import significance
from rubric_ci.text.statistics.significance import Observation
from rubric_ci.values.comparison import Comparison, Drop, RegressionConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.media import of_answer
from rubric_ci.values.report import Against
from rubric_ci.values.results import (
    AnswerSource,
    BaseResult,
    CaseResult,
    Change,
    Errored,
    Graded,
    Skipped,
    Trial,
)
from rubric_ci.values.scoring import DECIMALS, Verdict
from rubric_ci.values.trials import first_trials, tier, trials_of

_WORDS: Final[tuple[Verdict, ...]] = ("pass", "borderline", "fail")
_WORST, _BEST = (0.0, 0.0), (2.0, 0.0)

MEAN_SHARE: Final = 0.2
"""Share of the budget of false alarms that is the level of the test of all cases together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """How a case differs from the base, and why it counts so."""

    change: Change
    reason: str = ""
    suspected: bool = False


def is_suspect(head: CaseResult, base: CaseResult) -> bool:
    """Return True if the head has a worse verdict than the base."""
    if not isinstance(head, Graded) or not isinstance(base, Graded):
        return False
    return tier(head.verdict) < tier(base.verdict)


def level_of(suspects: int, trials: int, config: RegressionConfig) -> float:
    """Return the level of each test; half of it where several first trials chose the suspects."""
    return config.false_alarms / suspects / (1 if trials == 1 else 2)


def most_trials(suspects: int, trials: int, config: RegressionConfig) -> int:
    """Return how many further trials a side needs so that the test can be decisive.

    One trial of each side may dissent: a case that is broken passes now and then all the same.
    """
    if not config.further_trials:
        return 0
    level = level_of(suspects, trials, config)
    return next(
        more for more in count(config.further_trials) if _with_dissents(trials + more) <= level
    )


def _with_dissents(trials: int) -> float:
    """Return the p-value if all trials but one of each side are separated."""
    return significance.p_value_below(
        [_BEST, *[_WORST] * (trials - 1)], [_WORST, *[_BEST] * (trials - 1)]
    )


def is_broken(head: Graded, base: Graded, level: float) -> bool:
    """Return True if the head's trials are worse than the base's."""
    return significance.p_value_below(_ranked(head), _ranked(base)) <= level


def may_be_broken(head: Graded, base: Graded, level: float, left: tuple[int, int]) -> bool:
    """Return True if further trials, so many of the head and of the base, could show a break."""
    worst, best = [_WORST] * left[0], [_BEST] * left[1]
    return significance.p_value_below([*_ranked(head), *worst], [*_ranked(base), *best]) <= level


def must_be_broken(head: Graded, base: Graded, level: float, left: tuple[int, int]) -> bool:
    """Return True if no further trials, so many of the head and of the base, could refute it."""
    best, worst = [_BEST] * left[0], [_WORST] * left[1]
    return significance.p_value_below([*_ranked(head), *best], [*_ranked(base), *worst]) <= level


def dissents(head: Graded, base: Graded) -> tuple[float, float]:
    """Return how likely a further trial of either side speaks against a break (Laplace)."""
    worst, best = min(map(_tier, trials_of(head))), max(map(_tier, trials_of(base)))
    here = sum(_tier(trial) > worst for trial in trials_of(head))
    there = sum(_tier(trial) < best for trial in trials_of(base))
    return (here + 1) / (len(trials_of(head)) + 2), (there + 1) / (len(trials_of(base)) + 2)


def _tier(trial: Trial) -> int:
    return tier(trial.verdict)


def compare(head: CaseResult, base: CaseResult) -> Compared:
    """Return how a case differs, before any further trial."""
    if problem := without_verdict(head, "") or without_verdict(base, " at the base"):
        return Compared(change="not-comparable", reason=problem)
    assert isinstance(head, Graded)  # noqa: S101 - see above
    assert isinstance(base, Graded)  # noqa: S101 - as above
    if tier(head.verdict) > tier(base.verdict):
        return Compared(change="fixed", suspected=True)
    if is_suspect(head, base):
        return Compared(change="broken", suspected=True)
    return same(head)


def may_decide_together(clusters: int, config: RegressionConfig) -> bool:
    """Return True if so many clusters could show together that the change makes cases worse."""
    return 0.5**clusters <= MEAN_SHARE * config.false_alarms


def for_cases(config: RegressionConfig) -> RegressionConfig:
    """Return the budget of single cases, which the test of all cases together leaves."""
    return replace(config, false_alarms=(1 - MEAN_SHARE) * config.false_alarms)


def most_are_worse(pairs: Sequence[tuple[Graded, Graded]]) -> bool:
    """Return True if more than half of the cases have a worse verdict at the head."""
    return 2 * sum(is_suspect(head, base) for head, base in pairs) > len(pairs)


def mean_p_value(pairs: Sequence[tuple[Graded, Graded]]) -> float:
    """Return the p-value of the null hypothesis that the head is not worse than the base.

    Sign flips of the differences of the first trials' mean verdicts, by cluster, one-sided.
    """
    return _p_value_of((head, _mean_tier(head) - _mean_tier(base)) for head, base in pairs)


def _p_value_of(differences: Iterable[tuple[Graded, float]]) -> float:
    clusters: dict[object, float] = defaultdict(float)
    for case, difference in differences:
        clusters[case.cluster or case.key] += difference
    rounded = [round(difference, DECIMALS) for difference in clusters.values()]
    return significance.p_value(rounded) / 2 if sum(rounded) < 0 else 1.0


def drop_of(pairs: Sequence[tuple[Graded, Graded]], config: RegressionConfig) -> Drop | None:
    """Return the drop of all cases together, which counts as it is; None: chance explains it."""
    drop = _drop(pairs, mean_p_value(pairs), MEAN_SHARE * config.false_alarms)
    return drop if drop and drop.confirmed else None


def drop_of_flips(
    pairs: Sequence[tuple[Graded, Graded]],
    worse: Sequence[Graded],
    better: Sequence[Graded],
    level: float,
) -> Drop | None:
    """Return the result of the flipped cases among all; None without one.

    The sign test, by cluster: without a change for the worse, one is as likely as one for the
    better.
    """
    signs = [*((case, -1.0) for case in worse), *((case, 1.0) for case in better)]
    drop = _drop(pairs, _p_value_of(signs), level) if signs else None
    return replace(drop, flipped=(len(worse), len(better))) if drop else None


def _drop(pairs: Sequence[tuple[Graded, Graded]], p_value: float, level: float) -> Drop | None:
    if not pairs:
        return None
    heads, bases = zip(*pairs, strict=True)
    return Drop(
        cases=len(pairs),
        fewer_pass=_count(bases, "pass") - _count(heads, "pass"),
        more_fail=_count(heads, "fail") - _count(bases, "fail"),
        level=level,
        p_value=p_value,
        confirmed=p_value <= level,
    )


def _count(cases: Sequence[Graded], verdict: Verdict) -> int:
    return sum(_excused(case) == verdict for case in cases)


def conclude(
    change: Change,
    head: Graded,
    base: Graded,
    *,
    counted: tuple[Graded, Graded],
    level: float,
    lost: Sequence[str],
) -> Compared:
    """Return the conclusion for a suspect; `lost` has the reasons of trials without verdict.

    `change` is `broken` or `fixed`, as the first trials have it; `counted`: head and base with the
    trials that count.
    """
    trials = seen(head, base, "at the base")
    low, high = counted if change == "broken" else reversed(counted)
    if is_broken(low, high, level):
        return Compared(change=change, reason=f"confirmed: {trials}", suspected=True)
    if lost and may_be_broken(low, high, level, (len(lost), len(lost))):
        reason = f"suspected, and further trials gave no verdict: {lost[-1]}"
        return Compared(change="not-comparable", reason=reason, suspected=True)
    found = same(head) if head.verdict == base.verdict else Compared(change="unchanged")
    return Compared(change=found.change, reason=f"not confirmed: {trials}", suspected=True)


def flipped_together(worse: int, better: int, *, counts: bool) -> Compared:
    """Return the conclusion for all cases that differ by answers that repeat.

    `counts`: more of them are worse than chance explains.
    """
    both = f"cases like this one: {worse:,} worse, {better:,} better"
    told = f"by equal answers, which count once; {both}"
    if counts:
        return Compared(change="suspected", reason=f"{told}: more than chance", suspected=True)
    why = "as many fixed as broken" if worse == better else "it may be chance"
    return Compared(change="flaky", reason=f"{told}: {why}", suspected=True)


def without_verdict(result: CaseResult, where: str) -> str:
    """Return why a case is in no comparison; empty if it has a verdict."""
    match result:
        case Graded():
            return ""
        case Errored(reason=reason):
            return f"no verdict{where}: {reason}"
        case Skipped(reason=reason):
            return f"not graded{where}: {reason}"
        case _:
            assert_never(result)


def same(head: Graded) -> Compared:
    """Return the kind of a case that has not changed."""
    return Compared(change="failing-before" if head.verdict == "fail" else "unchanged")


def seen(head: Graded, base: Graded, place: str) -> str:
    """Return the verdicts of the trials on both sides."""
    return f"{_counted(head)} here, {_counted(base)} {place}"


def changed(case: CaseResult, found: Compared, before: BaseResult | None = None) -> CaseResult:
    """Return a case with how it differs, and what it was before."""
    change, reason = found.change, found.reason
    if isinstance(case, Skipped):
        return replace(case, change=change, change_reason=reason)
    suspected = found.suspected
    return replace(case, change=change, change_reason=reason, suspected=suspected, before=before)


def base_result(base: CaseResult) -> BaseResult:
    """Return a case at the base as a report shows it."""
    match base:
        case Skipped(reason=reason):
            return BaseResult(outcome="skipped", reason=reason)
        case Graded():
            result = BaseResult(outcome="graded", verdict=base.verdict, score=base.score)
        case Errored():
            result = BaseResult(outcome="errored")
        case _:
            assert_never(base)
    return _with_details(result, base)


def _with_details(result: BaseResult, base: Graded | Errored) -> BaseResult:
    asked: AnswerSource = "reused" if base.answer_reused else "asked"
    return BaseResult(
        outcome=result.outcome,
        verdict=result.verdict,
        score=result.score,
        reason=base.reason,
        answer=base.answer,
        trace=base.trace,
        file_changes=base.file_changes,
        media=of_answer(base.media),
        source="recorded" if base.recorded else asked,
        answered_at=base.answered_at,
        trials=base.trials if isinstance(base, Graded) else (),
        further_trials=base.further_trials if isinstance(base, Graded) else 0,
        evaluators=base.evaluators,
        usage=base.usage,
    )


def _mean_tier(case: Graded) -> float:
    return fmean(tier(_excused(trial)) for trial in first_trials(case))


def _excused(trial: Trial | Graded) -> Verdict:
    """Return the verdict, or a better one without the criteria that are waived."""
    return trial.without_waived or trial.verdict


def _ranked(case: Graded) -> list[Observation]:
    return [(float(tier(trial.verdict)), 0.0) for trial in trials_of(case)]


def _counted(case: Graded) -> str:
    trials: Sequence[Trial] = trials_of(case)
    counts = Counter(trial.verdict for trial in trials)
    words = ", ".join(f"{counts[word]} {word}" for word in _WORDS if counts[word])
    return f"{words} of {len(trials)}"


def of_commit(against: Against, cases: Sequence[CaseResult]) -> Comparison:
    """Return the comparison of a run with a commit that was graded with it."""
    return Comparison(
        source="commit",
        ref=against.ref,
        commit=against.commit,
        paired=sum(isinstance(case, Graded) and _has_verdict(case.before) for case in cases),
        regressed=bool(against.drop and against.drop.confirmed)
        or any(case.change == "broken" for case in cases),
        drop=against.drop,
    )


def _has_verdict(before: BaseResult | None) -> bool:
    return before is not None and before.verdict is not None
