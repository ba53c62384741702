"""Warnings about drafted criteria in English: their wording, and copies of the case's texts."""

import re
from collections.abc import Iterator, Sequence

from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.rubric import Criterion, Rubric
from rubric_ci.model.scoring import CHECKLIST
from rubric_ci.validation.wording import ALIKE, FILLERS, repeated, wording, words_of

COPIED_RUN = 7  # words in a row that are not shared with the reference by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class LintWarning:
    """A warning about one criterion, for the person who reviews the draft."""

    criterion: str  # its id
    rule: str  # kebab-case, as of diagnostics
    message: str


def lint(rubric: Rubric, case: EvalCase) -> tuple[LintWarning, ...]:
    """Return the warnings about a draft for this case."""
    single = (warning for c in rubric for warning in (*_wording(c), *_copied(c, case)))
    return (*single, *_alike(rubric.criteria))


def lint_messages(rubric: Rubric, case: EvalCase) -> tuple[str, ...]:
    """Return the same warnings as text, one line each."""
    return tuple(f"{w.criterion}: {w.rule}: {w.message}" for w in lint(rubric, case))


def _wording(criterion: Criterion) -> Iterator[LintWarning]:
    for found in wording(criterion.text, checklist=criterion.kind == CHECKLIST):
        rule = f"draft-{found.kind}"
        yield LintWarning(criterion=criterion.id, rule=rule, message=found.message)


def _copied(criterion: Criterion, case: EvalCase) -> Iterator[LintWarning]:
    words = _words(criterion.text)
    if _runs(words) & _runs(_words(case.reference_answer)):
        yield LintWarning(
            criterion=criterion.id,
            rule="draft-restates",
            message="repeats the reference answer word for word; "
            "a good answer in other words would fail",
        )
    if _likeness(words, _words(case.expected_outcome)) >= ALIKE:
        yield LintWarning(
            criterion=criterion.id,
            rule="draft-restates",
            message="repeats the whole expected outcome: split it into parts that can be checked",
        )


def _alike(criteria: Sequence[Criterion]) -> Iterator[LintWarning]:
    for later, first in repeated([words_of(criterion.text) for criterion in criteria]):
        message = f"checks the same as `{criteria[first].id}`: remove one of them"
        yield LintWarning(criterion=criteria[later].id, rule="draft-duplicate", message=message)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[n : n + COPIED_RUN]) for n in range(len(words) - COPIED_RUN + 1)}


def _likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of content words that both have; 0 where one has none."""
    left, right = set(one) - FILLERS, set(other) - FILLERS
    return len(left & right) / len(left | right) if left and right else 0.0
