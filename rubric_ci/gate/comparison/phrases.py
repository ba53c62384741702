"""The words of a comparison in every format: those of a person, without statistics.

The other side is a commit, a report or a pinned reference.

Each is a function of values of a report; renderers put them in place and escape them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import fmean
from typing import Final

from rubric_ci.gate.comparison.verdicts import SUSPECTED
from rubric_ci.gate.report.decision import dropped_by
from rubric_ci.text import escape, numbers
from rubric_ci.values.comparison import Comparison, ReferenceInfo, ReferenceMove, Source
from rubric_ci.values.report import Against, RunReport, case_names
from rubric_ci.values.results import AskedAgain, CaseResult, Change, Graded, with_verdict
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.trials import tier, trials_of

TITLES: Final[Mapping[Change, str]] = {
    "broken": "broke",
    "not-confirmed": "not confirmed",
    "failing-before": "fails as before",
    "better": "better in one answer",
    "new": "new",
    "removed": "removed",
    "not-comparable": "not comparable",
    "unchanged": "unchanged",
}
"""In the order of every list."""

SIGNS: Final[Mapping[Change, str]] = {"broken": "▼", "better": "▲", "not-confirmed": "≈"}
_VERBS: Final[Mapping[Verdict, str]] = {
    "pass": "passes",
    "borderline": "is borderline",
    "fail": "fails",
}
_LINES: Final[Mapping[Change, str]] = {
    "failing-before": "Fails as before",
    "better": "Better in one answer, not checked",
    "new": "New",
}
_LISTED: Final[frozenset[Change]] = frozenset(
    {"not-confirmed", "failing-before", "better", "not-comparable"}
)
_TOLD: Final = 3  # broken cases that have a line each
_MOST: Final = 300  # characters of a reason
_SAME: Final = 0.02  # difference of two average scores that says nothing
MOVES: Final = 3  # of some cases of the reference, that are shown
NOUNS: Final[Mapping[Source, str]] = {
    "commit": "base",
    "report": "baseline",
    "reference": "baseline",
}


def headline(report: RunReport) -> str:
    """Return in one line what the comparison shows: "Nothing broke", "1 case broke: refund"."""
    comparison = report.comparison
    if comparison is None or (report.against and not report.against.commit):
        return "Not compared: no base" if comparison else "Not compared"
    if comparison.judge_moved:
        return "Not comparable: the judge moved"
    if comparison.suspected:
        return _suspected(report, comparison)
    together, cases = comparison.together, broken(report)
    found = [broke(report, cases)] if cases else []
    found += [dropped_by(together)] if together and together.worse else []
    return "; ".join(found) or "Nothing broke"


def compared_with(report: RunReport) -> str:
    """Return the size and the source: "20 cases, compared with main abc1234"."""
    count = report.comparison.compared if report.comparison else 0
    return f"{numbers.plural(count, 'case')}, compared with {than(report)}"


def broke(report: RunReport, cases: Sequence[CaseResult]) -> str:
    """Return which cases broke: "1 case broke: refund"."""
    name = case_names(report)
    return f"{numbers.plural(len(cases), 'case')} broke: {numbers.listed([*map(name, cases)])}"


def _suspected(report: RunReport, comparison: Comparison) -> str:
    keys = set(comparison.worse_cases)
    names = [case_names(report)(case) for case in report.cases if case.key in keys]
    what = numbers.listed(names) if names else "all cases together"
    return f"Worse tonight: {what}; {SUSPECTED}"


def kinds(report: RunReport) -> Mapping[Change, Sequence[CaseResult]]:
    """Return the cases of every kind; removed cases are in the report's own list."""
    return {kind: [case for case in report.cases if case.change == kind] for kind in TITLES}


def counts(report: RunReport) -> str:
    """Return how many cases pass now and before; if as many do, how the average score changed."""
    found = report.comparison
    if found is None or not found.compared:
        return "no case to compare"
    passing = f"{found.passed:,} pass ({found.passed_before:,} before)"
    now, then = found.mean or 0.0, found.mean_before or 0.0
    if found.passed != found.passed_before or abs(now - then) < _SAME:
        return passing
    return f"{passing} · Average score {numbers.score(now)} ({numbers.score(then)} before)"


def kind_lines(report: RunReport) -> Iterator[str]:
    """Yield a line per kind with the first cases of it; unchanged cases have none."""
    name, cases = case_names(report), broken(report)
    if len(cases) <= _TOLD:
        yield from (f"{name(case)} broke. {why(case)}" for case in cases)
    elif cases:
        yield f"Broke: {numbers.listed([*map(name, cases)])}"
    yield from other_kind_lines(report)


def other_kind_lines(report: RunReport) -> Iterator[str]:
    name = case_names(report)
    for kind, cases in kinds(report).items():
        match kind:
            case "not-confirmed":
                yield from not_confirmed(report, cases)
            case "removed" if report.removed:
                yield f"Removed: {numbers.listed([*map(name, report.removed)])}"
            case "not-comparable" if cases:
                groups = _grouped((_why(each), name(each)) for each in cases)
                told = [f"{numbers.listed(names)} ({why})" for why, names in groups.items()]
                yield f"Not comparable: {numbers.listed(told)}"
            case _ if cases and kind in _LINES:
                yield f"{_LINES[kind]}: {numbers.listed([*map(name, cases)])}"


def not_confirmed(report: RunReport, cases: Sequence[CaseResult]) -> Iterator[str]:
    """Yield the cases that were worse in the first answer only, with their counts."""
    name = case_names(report)
    for title, names in _grouped(_unconfirmed(case, name(case)) for case in cases).items():
        yield f"{title}: {numbers.listed(names)}"


def _unconfirmed(case: CaseResult, name: str) -> tuple[str, str]:
    """Return the title of the list that a case is in, and its entry there."""
    asked = case.asked_again
    reason = "" if case.status == "errored" else case.change_reason
    if asked is None:
        return "Not confirmed", f"{name} ({reason})"
    if reason == SUSPECTED:
        return f"Worse tonight, {reason}", f"{name} ({asked_words(case)})"
    if reason:
        return "Not held against the change", f"{name} ({asked_words(case)}: {reason})"
    if case.verdict and case.before and case.verdict == case.before.verdict:
        passed = asked.here.passed if case.verdict == "pass" else asked.here.held
        title = f"Failed once, {_was(case.verdict)} when asked again"
        return title, f"{name} {passed} of {asked.here.asked}"
    now = f"{asked.here.held} of {asked.here.asked} now"
    then = f"{asked.before.held} of {asked.before.asked} before"
    return "Not confirmed", f"{name} {now}, {then}"


def _grouped(pairs: Iterable[tuple[str, str]]) -> Mapping[str, list[str]]:
    groups = defaultdict[str, list[str]](list)
    for title, entry in pairs:
        groups[title].append(entry)
    return groups


def asked_words(case: CaseResult) -> str:
    """Return how asking again ended: "Asked 6 times: passed 6 before, 0 now", or ""."""
    asked = case.asked_again
    if asked is None or case.verdict is None:
        return ""
    passed = (asked.here.passed, asked.before.passed) == (asked.here.held, asked.before.held)
    first: Verdict = "pass" if passed else "borderline"
    if asked.repeats and asked.here.held == 0 and asked.before.held == asked.before.asked:
        now = case.verdict if tier(case.verdict) < tier(first) else "fail"
        return f"Always: {_was(first)} before, {_VERBS[now]} now"
    return _counts(asked, "passed" if passed else "borderline or better")


def _was(verdict: Verdict) -> str:
    return {"pass": "passed", "borderline": "borderline", "fail": "failed"}[verdict]


def _counts(asked: AskedAgain, word: str) -> str:
    here, before = asked.here, asked.before
    if here.asked == before.asked == 1:
        return f"{word} before, not now, in one answer each".capitalize()
    if here.asked == before.asked:
        verb = "Judged" if asked.judged else "Asked"
        return f"{verb} {here.asked} times: {word} {before.held} before, {here.held} now"
    told = f"{word} {before.held} of {before.asked} before, {here.held} of {here.asked} now"
    return told.capitalize()


def limits(report: RunReport) -> Iterator[str]:
    comparison = report.comparison
    if comparison and comparison.judge_moved:
        yield f"{comparison.judge_moved}. No case is called worse until the baseline is new"
    yield from together_lines(report)
    yield from comparison.notes if comparison else ()


def together_lines(report: RunReport) -> Iterator[str]:
    """Yield the result of all cases together, and the cases that moved most."""
    found = report.comparison.together if report.comparison else None
    if found is None:
        return
    if found.problem:
        yield f"{dropped_by(found)}; the old version gave no new answer: {found.problem}"
    elif found.before_moved:
        yield "The old version fails today, too: model or judge moved. Not your change"
    elif found.again and not found.worse:
        yield f"{dropped_by(found)}, but not than the old version, asked again today"
    elif found.worse:
        again = "; the old version, asked again today, still passes" if found.again else ""
        yield f"{dropped_by(found)}{again}"
        if names := moved_most(report):
            yield f"Moved most: {numbers.listed(names)}"


def moved_most(report: RunReport) -> list[str]:
    """Return the names of the cases that are worse than before, the worst first."""
    fallen = [(_fall(case), case) for case in with_verdict(report.cases)]
    worse = sorted((each for each in fallen if each[0] > 0), key=lambda each: -each[0])
    name = case_names(report)
    return [name(case) for _, case in worse]


def _fall(case: Graded) -> float:
    """Return by how many tiers the mean verdict of all answers fell."""
    if case.before is None or case.before.verdict is None:
        return 0.0
    then = [trial.verdict for trial in case.before.trials] or [case.before.verdict]
    return fmean(map(tier, then)) - fmean(tier(trial.verdict) for trial in trials_of(case))


def lines(report: RunReport) -> Iterator[str]:
    """Yield the whole comparison as lines: its counts, its kinds and its source."""
    yield counts(report)
    yield from kind_lines(report)
    if where := source(report):
        yield f"{noun(report).capitalize()}: {where}"
    yield from limits(report)


def broken(report: RunReport) -> Sequence[CaseResult]:
    return [case for case in report.cases if case.change == "broken"]


def in_words(case: CaseResult) -> str:
    """Return how a case differs, for a cell of a table: "▼ broke: pass 1.00 → fail 0.00"."""
    if case.change is None:
        return ""
    sign = SIGNS.get(case.change, "")
    words = f"{sign} {kind(case)}".lstrip()
    told = movement(case) if sign or _score_moved(case) else ""
    return f"{words}: {told}" if told else words


def kind(case: CaseResult) -> str:
    """Return how a case differs in two words; empty if it was not compared."""
    if case.change_reason == SUSPECTED:
        return "worse tonight"
    if case.change == "unchanged" and case.status == "waived":
        return "waived"
    return TITLES[case.change] if case.change else ""


def why(case: CaseResult) -> str:
    """Return the result of asking again, and the reason of a kind that does not say it."""
    told = case.status != "errored" or case.change == "broken"
    reason = case.change_reason if told else ""
    return "; ".join(filter(None, [asked_words(case), reason]))


def movement(case: CaseResult) -> str:
    """Return verdict and score before and here; empty unless both sides have them.

    A case that is worse by the rubrics of the base has the same or better ones here.
    """
    if case.change == "broken" and case.status != "errored" and case.change_reason:
        return case.change_reason
    then = case.before
    if case.score is None or then is None or then.verdict is None or then.score is None:
        return ""
    before = f"{then.verdict} {numbers.score(then.score)}"
    return f"{before} → {case.verdict} {numbers.score(case.score)}"


def verdicts(case: CaseResult) -> str:
    """Return the verdicts before and here; empty unless both sides have one."""
    if case.verdict and case.before and case.before.verdict:
        return f"{case.before.verdict} → {case.verdict}"
    return ""


def short(text: str) -> str:
    """Return a question or a reason in one line of limited length."""
    return numbers.shortened(" ".join(text.split()), _MOST)


def _score_moved(case: CaseResult) -> bool:
    """Return True if a case that did not change has another score."""
    if case.score is None or case.before is None:
        return False
    return case.change in {"unchanged", "failing-before"} and case.before.score != case.score


def _why(case: CaseResult) -> str:
    waived = "waived: " if case.status == "waived" else ""
    return waived + (case.change_reason or case.reason)


def listed(report: RunReport) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the title of each kind that is listed, and its cases with their reasons."""
    name = case_names(report)
    for kind, cases in kinds(report).items():
        if kind == "removed" and report.removed:
            names = [(case.id, short(case.file)) for case in report.removed]
            yield f"{len(names):,} {TITLES[kind]}", names
        elif kind in _LISTED and cases:
            told = [(name(case), short(why(case) or case.reason)) for case in cases]
            yield f"{len(cases):,} {TITLES[kind]}", told


def noun(report: RunReport) -> str:
    """Return the word for the source of the comparison; empty if it is not compared."""
    return NOUNS[report.comparison.source] if report.comparison else ""


def than(report: RunReport) -> str:
    """Return what the run is compared with, in a few words: "main abc1234"."""
    comparison = report.comparison
    if comparison is None:
        return "nothing"
    name = "" if comparison.ref == "auto" else comparison.ref
    if report.against:
        origin = report.against.origin.removeprefix("the last common commit with ").strip("`")
        name = name or report.metadata.get("base_ref", "") or origin
        name = "the default branch" if name == "origin/HEAD" else name.removeprefix("origin/")
    elif comparison.source == "reference":
        name = "the baseline"
    commit = escape.commit(comparison.commit)
    if name and commit and comparison.commit.startswith(name):
        name = ""
    return " ".join(filter(None, [name, commit])) or f"the {noun(report)}"


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
    short, *more = escape.commit(run.commit).split(" ", 1)
    place = " ".join([f"commit `{short}`", *more]) if short else "an unknown commit"
    age = "" if run.age_days is None else f", {numbers.plural(run.age_days, 'day')} old"
    return f"{place} of {run.measured_at[:10]}{age}"
