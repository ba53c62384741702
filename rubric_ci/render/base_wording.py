"""What a change broke, fixed and left failing: the words, order and word diff of all formats."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias

from rubric_ci.model.report import Against, RunReport
from rubric_ci.model.results import (
    Assessed,
    CaseResult,
    Change,
    Errored,
    EvaluatorResult,
    Graded,
    standing,
)
from rubric_ci.render import wording
from rubric_ci.text import numbers

TITLE: Final = "Compared with the base"
WORDS: Final = 200  # of each answer in a word diff, which takes quadratic time
CUT: Final = f"… only the first {WORDS} words are compared"
NAMES: Final = 10  # of cases in a line about a class
TITLES: Final[Mapping[Change, str]] = {
    "broken": "broken by this change",
    "fixed": "fixed",
    "failing-before": "failing before as well",
    "unchanged": "unchanged",
    "new": "new",
    "not-comparable": "not comparable",
}
_LISTED: Final[tuple[Change, ...]] = ("not-comparable", "failing-before")
_SHORT: Final = 10  # characters of a commit
_MOST: Final = 300  # characters of a question or a reason

RunKind: TypeAlias = Literal["same", "removed", "added"]


def base(report: RunReport) -> str:
    """Return the commit of the base, its date and its age; empty without a base."""
    return commit(report.against, report.started_at) if report.against else ""


def commit(against: Against, now: str) -> str:
    """Return the commit of a base, its date and its age at a time in RFC 3339."""
    if not against.commit:
        return "no base"
    place = f"`{against.commit[:_SHORT]}`"
    if not against.committed_at:
        return place
    return f"{place} of {against.committed_at[:10]}{_aged(now, against.committed_at)}"


def _aged(now: str, then: str) -> str:
    try:
        age = datetime.fromisoformat(now) - datetime.fromisoformat(then)
    except (ValueError, TypeError):  # a report of a fork may hold any text
        return ""
    if age < timedelta(0):  # the clocks of two machines differ
        return ""
    days = numbers.plural(age.days, "day") if age.days else "less than a day"
    return f", {days} old"


def counts(report: RunReport) -> str:
    """Return the number of cases of each class."""
    classes = [f"{len(cases):,} {TITLES[change]}" for change, cases in _classes(report)]
    removed = [f"{len(report.removed):,} removed"] if report.removed else []
    return ", ".join([*classes, *removed]) or "no case"


def class_lines(report: RunReport) -> Iterator[str]:
    """Yield a line per class with the first cases of it; unchanged cases have no names."""
    for change, cases in _classes(report):
        names = [] if change == "unchanged" else [case.id for case in cases]
        yield _named(f"{len(cases):,} {TITLES[change]}", names)
    if report.removed:
        yield _named(f"{len(report.removed):,} removed", [case.id for case in report.removed])


def broken(report: RunReport) -> list[CaseResult]:
    """Return the cases that the change broke."""
    return [case for case in report.cases if case.change == "broken"]


def listed(report: RunReport) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the title of each class that is listed, and its cases with their reasons."""
    for change, cases in _classes(report):
        if change in _LISTED:
            title = f"{len(cases):,} {TITLES[change]}"
            yield title, [(case.id, short(_why(case))) for case in cases]
    if report.removed:
        title = f"{len(report.removed):,} removed"
        yield title, [(case.id, short(case.file)) for case in report.removed]


def verdicts(case: CaseResult) -> str:
    """Return the verdicts at the base and here; empty unless both sides have one."""
    if isinstance(case, Graded) and case.before and case.before.verdict:
        return f"{case.before.verdict} → {case.verdict}"
    return ""


def movement(case: Graded) -> str:
    """Return the verdict and score at the base and here; empty without a verdict at the base."""
    then = case.before
    if then is None or then.verdict is None or then.score is None:
        return ""
    before = f"{then.verdict} {numbers.score(then.score)}"
    return f"{before} → {case.verdict} {numbers.score(case.score)}"


def moved(case: CaseResult) -> Iterator[tuple[str, str, str]]:
    """Yield what has a lower mark than at the base: its name, both marks and the reason."""
    before = case.before.evaluators if isinstance(case, Graded) and case.before else ()
    then = {key: mark for each in before for key, mark, _ in _marks(each)}
    for each in case.evaluators if before and isinstance(case, Graded) else ():
        for key, mark, reason in _marks(each):
            if key in then and mark < then[key]:
                marks = f"{numbers.score(then[key])} → {numbers.score(mark)}"
                yield key[1] or key[0], marks, short(reason)


def word_runs(before: str, after: str) -> Iterator[tuple[RunKind, str]]:
    """Yield runs of words that both answers have or one of them; only of the first words."""
    then, now = before.split()[:WORDS], after.split()[:WORDS]
    for tag, a, b, c, d in SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", " ".join(now[c:d])
            continue
        if a < b:
            yield "removed", " ".join(then[a:b])
        if c < d:
            yield "added", " ".join(now[c:d])


def is_cut(before: str, after: str) -> bool:
    """Return True if an answer has more words than a word diff compares."""
    return len(before.split()) > WORDS or len(after.split()) > WORDS


def short(text: str) -> str:
    """Return a question or a reason in one line of limited length."""
    return numbers.shortened(" ".join(text.split()), _MOST)


def short_question(question: str) -> str:
    """Return a question in one line of limited length, without the messages before the last."""
    return short(wording.brief_question(question, _MOST))


def _marks(evaluator: EvaluatorResult) -> Iterator[tuple[tuple[str, str], float, str]]:
    """Yield the marks of the criteria, or the score of an evaluator without criteria."""
    if not isinstance(evaluator, Assessed):
        return
    for criterion in evaluator.criteria:
        yield (evaluator.name, criterion.id), criterion.normalised, criterion.reasoning
    if not evaluator.criteria:
        yield (evaluator.name, ""), evaluator.score, evaluator.reasoning


def _classes(report: RunReport) -> Iterator[tuple[Change, list[CaseResult]]]:
    for change in TITLES:
        if cases := [case for case in report.cases if case.change == change]:
            yield change, cases


def _named(title: str, names: list[str]) -> str:
    more = f" and {len(names) - NAMES:,} more" if len(names) > NAMES else ""
    return f"{title}: {', '.join(names[:NAMES])}{more}" if names else title


def _why(case: CaseResult) -> str:
    reason = case.reason if isinstance(case, Graded | Errored) else ""
    waived = "waived: " if isinstance(case, Graded) and standing(case) == "waived" else ""
    return waived + (case.change_reason or reason)
