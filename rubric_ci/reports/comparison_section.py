"""The comparison of a run as text and as JSON, and what differs between two answers of a case."""

from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias

from rubric_ci.gate.comparison import phrases
from rubric_ci.gate.comparison.phrases import short
from rubric_ci.gate.report import json_format
from rubric_ci.text import escape, numbers
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Assessed, CaseResult, CriterionResult, EvaluatorResult, Graded

WORDS: Final = 200  # of each answer in a word diff, which takes quadratic time
CUT: Final = f"… only the first {WORDS} words are compared"

RunKind: TypeAlias = Literal["same", "removed", "added"]


def text(report: RunReport) -> str:
    rows = [f"{case.file}: {case.id}: {phrases.in_words(case)}" for case in _different(report)]
    gone = [f"{case.file}: {case.id}: removed" for case in report.removed]
    whole = [*rows, *gone, *phrases.lines(report), phrases.headline(report)]
    return "".join(f"{escape.log_line(line)}\n" for line in whole)


def json(report: RunReport) -> str:
    """Return the comparison as JSON, with the keys of a report file."""
    return escape.json_text(json_format.render_comparison(report))


FORMATS: Final[Mapping[str, Callable[[RunReport], str]]] = {"text": text, "json": json}


def _different(report: RunReport) -> list[CaseResult]:
    kinds = phrases.kinds(report)
    return [case for kind in kinds if kind != "unchanged" for case in kinds[kind]]


def marks_before(case: CaseResult, evaluator: str) -> dict[str, CriterionResult]:
    """Return the marks of an evaluator of before, by criterion."""
    before = case.before
    same = (each for each in (before.evaluators if before else ()) if each.name == evaluator)
    return {c.id: c for each in same if isinstance(each, Assessed) for c in each.criteria}


def score_before(case: Graded, evaluator: str) -> float | None:
    """Return the score of an evaluator of before, if it has one."""
    before = case.before.evaluators if case.before else ()
    scores = (e.score for e in before if isinstance(e, Assessed) and e.name == evaluator)
    return next(scores, None)


def lower_marks(case: CaseResult) -> Iterator[tuple[str, str, str]]:
    """Yield criteria with a lower mark than before: name, both marks and the reason."""
    before = case.before.evaluators if case.verdict and case.before else ()
    then = {key: mark for each in before for key, mark, _ in _marks(each)}
    for each in case.evaluators if before else ():
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


def _marks(evaluator: EvaluatorResult) -> Iterator[tuple[tuple[str, str], float, str]]:
    """Yield the marks of the criteria, or the score of an evaluator without criteria."""
    if not isinstance(evaluator, Assessed):
        return
    for criterion in (each for each in evaluator.criteria if each.applies):
        yield (evaluator.name, criterion.id), criterion.normalised, criterion.reasoning
    if not evaluator.criteria:
        yield (evaluator.name, ""), evaluator.score, evaluator.reasoning
