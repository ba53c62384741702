"""What changed in the answer and the marks of a case: a word diff, and the marks that are lower."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias

from rubric_ci.comparison.wording import short
from rubric_ci.model.results import Assessed, CaseResult, EvaluatorResult, Graded
from rubric_ci.text import numbers

WORDS: Final = 200  # of each answer in a word diff, which takes quadratic time
CUT: Final = f"… only the first {WORDS} words are compared"

RunKind: TypeAlias = Literal["same", "removed", "added"]


def lower_marks(case: CaseResult) -> Iterator[tuple[str, str, str]]:
    """Yield what has a lower mark than before: its name, both marks and the reason."""
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


def _marks(evaluator: EvaluatorResult) -> Iterator[tuple[tuple[str, str], float, str]]:
    """Yield the marks of the criteria, or the score of an evaluator without criteria."""
    if not isinstance(evaluator, Assessed):
        return
    for criterion in evaluator.criteria:
        yield (evaluator.name, criterion.id), criterion.normalised, criterion.reasoning
    if not evaluator.criteria:
        yield (evaluator.name, ""), evaluator.score, evaluator.reasoning
