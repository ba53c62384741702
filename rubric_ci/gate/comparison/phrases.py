"""The words of a comparison in every format: its source, its kinds, its statistics."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import fmean
from typing import Final

from rubric_ci.text import escape, numbers
from rubric_ci.text.statistics import significance
from rubric_ci.values.comparison import (
    Comparison,
    Drop,
    ReferenceInfo,
    ReferenceMove,
    SlowSlide,
    Source,
    SuspectCounts,
)
from rubric_ci.values.report import Against, RunReport, case_names
from rubric_ci.values.results import CaseResult, Change, Errored, Graded, standing
from rubric_ci.values.trials import tier, trials_of

MOVES: Final = 3  # of some cases of the reference, that are shown
TITLES: Final[Mapping[Change, str]] = {
    "broken": "broken",
    "suspected": "suspected",
    "fixed": "fixed",
    "failing-before": "failing before as well",
    "unchanged": "unchanged",
    "flaky": "flaky",
    "new": "new",
    "removed": "removed",
    "not-comparable": "not comparable",
}
"""In the order of every list."""

SIGNS: Final[Mapping[Change, str]] = {"broken": "▼", "suspected": "▼", "fixed": "▲", "flaky": "≈"}
NOUNS: Final[Mapping[Source, str]] = {
    "commit": "base",
    "report": "baseline",
    "reference": "reference",
}
_LISTED: Final[frozenset[Change]] = frozenset(
    {"suspected", "not-comparable", "failing-before", "flaky"}
)
_MOST: Final = 300  # characters of a reason
_PLAIN: Final = 0.25  # a drop from which its figure says less than that the cases are few
_LEAST: Final = significance.least_clusters(significance.SIGNIFICANT)  # else no mean is tested


def title(report: RunReport) -> str:
    """Return the heading: "Compared with the base"."""
    return f"Compared with the {noun(report)}"


def noun(report: RunReport) -> str:
    """Return the word for the source of the comparison; empty if it is not compared."""
    return NOUNS[report.comparison.source] if report.comparison else ""


def source(report: RunReport) -> str:
    """Return the commit and the age of the other side of the comparison; empty: unknown."""
    comparison = report.comparison
    if comparison is None:
        return ""
    if report.against:
        return commit(report.against, report.started_at)
    return reference(comparison.reference) if comparison.reference else ""


def commit(against: Against, now: str) -> str:
    """Return the commit of a base, its date and its age at a time in RFC 3339."""
    if not against.commit:
        return "no base"
    place = f"`{escape.commit(against.commit)}`"
    if not against.committed_at:
        return place
    return f"{place} of {against.committed_at[:10]}{_aged(now, against.committed_at)}"


def reference(info: ReferenceInfo) -> str:
    """Return commit, date, age and reason of a reference, and the last moves of some cases."""
    trials = f"{numbers.plural(info.trials, 'trial')} per case"
    reason = f" ({info.reason})" if info.reason else ""
    moves = [
        f"{numbers.plural(each.cases, 'case')} since {_measured(each)} ({each.reason})"
        for each in info.moves[-MOVES:]
    ]
    if earlier := len(info.moves) - len(moves):
        moves.insert(0, f"{numbers.plural(earlier, 'earlier move')} of some cases")
    return "; ".join([f"{_measured(info)}, {trials}{reason}", *moves])


def headline(report: RunReport) -> str:
    """Return in one line whether the run is worse in the comparison."""
    comparison, than = report.comparison, noun(report)
    if comparison is None:
        return "not compared"
    if comparison.judge_moved:
        return f"not comparable with the {than}: the judge moved"
    if comparison.suspected:
        return _suspected(comparison, than)
    if comparison.regressed:
        return f"worse than the {than}: {_worse(report, comparison)}"
    return _not_worse(comparison, than)


def _not_worse(comparison: Comparison, than: str) -> str:
    mean, words = comparison.mean_difference, f"not worse than the {than}"
    if mean is None or comparison.clusters < _LEAST:
        return words
    low, _ = comparison.interval or (mean, mean)  # no interval: all differences are equal
    drop = significance.largest_drop(low, comparison.clusters)
    if drop and drop > _PLAIN:
        return (
            f"{words}; with {numbers.plural(comparison.clusters, 'case')} only a large drop shows"
        )
    return f"{words} (drops of up to {numbers.points(drop)} cannot be excluded)" if drop else words


def _suspected(comparison: Comparison, than: str) -> str:
    cases = numbers.plural(len(comparison.worse_cases), "case")
    found = f"{cases} worse" if comparison.worse_cases else "a lower mean score"
    return f"suspected to be worse than the {than}: {found} in this night; a second one confirms it"


def kinds(report: RunReport) -> Mapping[Change, Sequence[CaseResult]]:
    """Return the cases of every kind; removed cases are in the report's own list."""
    return {kind: [case for case in report.cases if case.change == kind] for kind in TITLES}


def counts(report: RunReport) -> str:
    """Return the number of cases of each kind."""
    return ", ".join(_counted(report)) or "no case to compare"


def kind_lines(report: RunReport) -> Iterator[str]:
    """Yield a line per kind with the first cases of it; unchanged cases have no names."""
    name = case_names(report)
    for kind, cases in kinds(report).items():
        named = [*map(name, report.removed if kind == "removed" else cases)]
        if named:
            count = f"{len(named):,} {TITLES[kind]}"
            yield count if kind == "unchanged" else f"{count}: {numbers.listed(named)}"


def limits(report: RunReport) -> Iterator[str]:
    """Yield the limits of the comparison: a judge that moved, and its notes."""
    comparison = report.comparison
    if comparison and comparison.judge_moved:
        yield (
            f"{comparison.judge_moved}. No case is called broken until `rubric-ci baseline "
            "rejudge` has judged the stored answers of the reference again"
        )
    yield from drop_lines(report)
    yield from comparison.notes if comparison else ()


def dropped_by(drop: Drop) -> str:
    """Return how many more cases are worse: "29 more of 200 cases fail than at the base: …"."""
    return f"{_worse_by(drop)}: more than chance"


def _worse_by(drop: Drop) -> str:
    if drop.flipped:
        worse, better = drop.flipped
        cases = numbers.plural(worse, "case")
        return f"{cases} flipped for the worse since the base and {better:,} for the better"
    if drop.more_fail > 0:
        return f"{drop.more_fail:,} more of {drop.cases:,} cases fail than at the base"
    if drop.fewer_pass > 0:
        return f"{drop.fewer_pass:,} fewer of {drop.cases:,} cases pass than at the base"
    return f"trials of {drop.cases:,} cases have worse verdicts than at the base"


def drop_lines(report: RunReport) -> Iterator[str]:
    """Yield the result of the test of all cases together, and the cases that moved most."""
    drop = report.comparison.drop if report.comparison else None
    if drop is None:
        return
    again = f"{numbers.plural(drop.again, 'answer')} of the base asked for again"
    if drop.problem:
        yield f"{dropped_by(drop)}, if the base is as it was: it has no new answer: {drop.problem}"
    elif drop.base_moved:
        yield (
            f"The base fails as well today: its answers in the cache are better than the {again} "
            "(a model or the judge moved since). No case is held against the change for it"
        )
    elif drop.flipped and not drop.confirmed:
        yield (
            f"{_worse_by(drop)}, by answers that repeat: it may be chance "
            f"(p = {drop.p_value:.2g}), so none of them is broken"
        )
    elif not drop.confirmed:
        yield (
            f"{_worse_by(drop)}, by its answers in the cache. With {again} the difference may be "
            f"chance (p = {drop.again_p_value:.2g}), so it is not held against the change"
        )
    else:
        tested = f", {again} (p = {drop.again_p_value:.2g})" if drop.again_p_value else ""
        yield f"{dropped_by(drop)} (p = {drop.p_value:.2g}{tested})"
        if names := moved_most(report):
            yield f"Moved most: {numbers.listed(names)}"


def moved_most(report: RunReport) -> list[str]:
    """Return the names of the cases whose trials are worse than at the base, the worst first."""
    fallen = [(_fall(case), case) for case in report.cases]
    worse = sorted((each for each in fallen if each[0] > 0), key=lambda each: -each[0])
    name = case_names(report)
    return [name(case) for _, case in worse]


def _fall(case: CaseResult) -> float:
    """Return by how many tiers the mean verdict of all trials fell since the base."""
    if not isinstance(case, Graded) or case.before is None or case.before.verdict is None:
        return 0.0
    then = [trial.verdict for trial in case.before.trials] or [case.before.verdict]
    return fmean(map(tier, then)) - fmean(tier(trial.verdict) for trial in trials_of(case))


def figures(report: RunReport) -> Iterator[str]:
    """Yield the statistics of the run as a whole, for a reader who asks for them."""
    comparison = report.comparison
    if comparison is None:
        return
    if comparison.suspects and comparison.suspects.suspects:
        yield _suspects(comparison.suspects)
    if comparison.mean_difference is not None:
        yield _mean(comparison, comparison.mean_difference)
    if comparison.slide and comparison.slide.nights:
        yield _slide(comparison.slide)


def lines(report: RunReport) -> Iterator[str]:
    """Yield the whole comparison as lines: its kinds, its facts and its source."""
    yield counts(report)
    yield from figures(report)
    if where := source(report):
        yield f"{noun(report).capitalize()}: {where}"
    if report.removed:
        name = case_names(report)
        yield f"Removed: {numbers.listed([f'`{name(case)}`' for case in report.removed])}"
    yield from limits(report)


def listed(report: RunReport) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the title of each kind that is listed, and its cases with their reasons."""
    name = case_names(report)
    for kind, cases in kinds(report).items():
        if kind == "removed" and report.removed:
            names = [(case.id, short(case.file)) for case in report.removed]
            yield f"{len(names):,} {TITLES[kind]}", names
        elif kind in _LISTED and cases:
            why = [(name(case), short(_why(case))) for case in cases]
            yield f"{len(cases):,} {TITLES[kind]}", why


def broken(report: RunReport) -> Sequence[CaseResult]:
    """Return the broken cases."""
    return kinds(report)["broken"]


def in_words(case: CaseResult) -> str:
    """Return how a case differs, for a cell of a table: "▼ broken: pass 1.00 → fail 0.00"."""
    if case.change is None:
        return ""
    sign = SIGNS.get(case.change, "")
    words = f"{sign} {TITLES[case.change]}".lstrip()
    told = movement(case) if sign or _score_moved(case) else ""
    return f"{words}: {told}" if told else words


def movement(case: CaseResult) -> str:
    """Return verdict and score before and here; empty unless both sides have them."""
    if not isinstance(case, Graded) or case.before is None:
        return ""
    then = case.before
    if then.verdict is None or then.score is None:
        return ""
    before = f"{then.verdict} {numbers.score(then.score)}"
    return f"{before} → {case.verdict} {numbers.score(case.score)}"


def verdicts(case: CaseResult) -> str:
    """Return the verdicts before and here; empty unless both sides have one."""
    if isinstance(case, Graded) and case.before and case.before.verdict:
        return f"{case.before.verdict} → {case.verdict}"
    return ""


def short(text: str) -> str:
    """Return a question or a reason in one line of limited length."""
    return numbers.shortened(" ".join(text.split()), _MOST)


def _worse(report: RunReport, comparison: Comparison) -> str:
    dropped = [dropped_by(comparison.drop)] if comparison.drop and comparison.drop.confirmed else []
    if cases := broken(report):
        return "; ".join([f"{numbers.plural(len(cases), 'case')} broken", *dropped])
    if dropped:
        return dropped[0]
    if comparison.slide and comparison.slide.detected:
        return "the mean score slid over many nights"
    return "no single case is broken, but the mean score fell"


def _score_moved(case: CaseResult) -> bool:
    """Return True if a case that did not change has another score."""
    if not isinstance(case, Graded) or case.before is None:
        return False
    return case.change in {"unchanged", "failing-before"} and case.before.score != case.score


def _counted(report: RunReport) -> Iterator[str]:
    for kind, cases in kinds(report).items():
        if number := len(report.removed) if kind == "removed" else len(cases):
            yield f"{number:,} {TITLES[kind]}"


def _why(case: CaseResult) -> str:
    reason = case.reason if isinstance(case, Graded | Errored) else ""
    waived = "waived: " if isinstance(case, Graded) and standing(case) == "waived" else ""
    return waived + (case.change_reason or reason)


def _aged(now: str, then: str) -> str:
    try:
        age = datetime.fromisoformat(now) - datetime.fromisoformat(then)
    except (ValueError, TypeError):  # a report of a fork may hold any text
        return ""
    if age < timedelta(0):  # the clocks of two machines differ
        return ""
    days = numbers.plural(age.days, "day") if age.days else "less than a day"
    return f", {days} old"


def _measured(run: ReferenceInfo | ReferenceMove) -> str:
    place = f"commit `{escape.commit(run.commit)}`" if run.commit else "an unknown commit"
    age = "" if run.age_days is None else f", {numbers.plural(run.age_days, 'day')} old"
    return f"{place} of {run.measured_at[:10]}{age}"


def _slide(slide: SlowSlide) -> str:
    evidence = f"evidence {slide.evidence:,.3g} of {slide.threshold:,.0f}"
    nights = numbers.plural(slide.nights, "night")
    if slide.detected:
        lower = f"The mean score is lower since about {slide.since[:10]} ({evidence}, {nights})"
        return f"{lower}, or the judge wandered: `rubric-ci baseline rejudge` shows which"
    return f"No slow slide over {nights} ({evidence})"


def _suspects(found: SuspectCounts) -> str:
    """Return the outcome of the suspects: "3 suspects, 2 cleared by 7 more trials, …"."""
    cleared = found.suspects - found.confirmed - found.undecided - found.flipped
    parts = [numbers.plural(found.suspects, "suspect")]
    if cleared:
        more = found.further_trials
        by = f" by up to {numbers.plural(more, 'more trial')} each" if more else ""
        parts.append(f"{cleared:,} cleared{by}")
    if found.confirmed:
        ends = dict.fromkeys(f"{p:.2g}" for p in found.p_values or ())
        parts.append(f"{found.confirmed:,} confirmed (p = {' to '.join(ends)})")
    if found.flipped:
        parts.append(f"{found.flipped:,} flipped by equal answers, which count once")
    if found.undecided:
        parts.append(f"{found.undecided:,} undecided (too few trials: `run --baseline` adds them)")
    return ", ".join(parts)


def _mean(comparison: Comparison, difference: float) -> str:
    clusters = comparison.clusters
    inside = f" in {numbers.plural(clusters, 'cluster')}" if clusters < comparison.paired else ""
    parts = [f"{numbers.plural(comparison.paired, 'case')} in both reports{inside}"]
    if comparison.interval:
        low, high = comparison.interval
        parts.append(f"{significance.PERCENT} interval {low:+.3f} to {high:+.3f}")
    if comparison.p_value is not None:
        parts.append(f"p = {comparison.p_value:.3g}")
    verdict = "significant" if comparison.significant else "not significant"
    if clusters < _LEAST:
        verdict = "too few cases for a test"
    if comparison.judge_moved:
        verdict = "not comparable"
    return f"Mean score {difference:+.3f} ({', '.join(parts)}): {verdict}"
