"""Checks of a draft: warnings about its wording, and the marks of the reference answer.

The reference answer must pass, and its variants must be noticed. The warnings are about criteria in
English: their wording, and copies of the case's texts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.evaluators.evaluate import evaluate
from rubric_ci.files.validation.ambiguous_wording import ALIKE, FILLERS, repeated, wording, words_of
from rubric_ci.services.drafting.drafting_reply import Draft
from rubric_ci.values import parts
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.results import Answer, Assessed, Unassessed
from rubric_ci.values.rubric import Criterion, Rubric
from rubric_ci.values.scoring import CHECKLIST
from rubric_ci.values.usage import NOTHING_USED, Usage

VARIANTS: Final = 4  # of the reference answer that a criterion must notice
_NOT_CONTRASTED: Final = "the answer that the change broke passes this draft"
_DROPPED: Final = "left out: it passes every variant of the reference answer, such as"

COPIED_RUN = 7  # words in a row that are not shared with the reference by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """Rubrics for a case, and warnings for the person who reviews them."""

    case: EvalCase
    draft: Draft
    warnings: tuple[str, ...] = ()
    unchecked: str = ""  # why an answer has no marks, if the draft is checked or has tests
    usage: Usage = NOTHING_USED

    def but(self, usage: Usage, *warnings: str, draft: Draft | None = None) -> "Drafted":
        """Return it with the usage and the findings of a check."""
        return replace(
            self,
            draft=draft or self.draft,
            warnings=(*self.warnings, *warnings),
            usage=self.usage + usage,
        )


async def check_draft(made: Drafted, context: RunContext, *, bad: str = "") -> Drafted:
    """Have the judge mark the reference answer, variants of it if it passes, and a bad answer.

    Criteria that no variant fails are left out of the draft.
    """
    found = await _check_reference(made, context)
    if not bad or found.unchecked:
        return found
    result = await evaluate(made.case, Answer(text=bad), _spec(found), context)
    if isinstance(result, Unassessed):
        return replace(found.but(result.usage), unchecked=f"the bad answer: {result.reason}")
    return found.but(result.usage, *[_NOT_CONTRASTED] * (result.verdict == "pass"))


async def _check_reference(made: Drafted, context: RunContext) -> Drafted:
    answer = made.case.reference_answer
    if not answer:
        return made.but(NOTHING_USED, "there is no reference answer to check the draft with")
    result = await evaluate(made.case, Answer(text=answer), _spec(made), context)
    if isinstance(result, Unassessed):
        return replace(made.but(result.usage), unchecked=f"the reference answer: {result.reason}")
    if result.verdict != "pass":
        return made.but(result.usage, _failed(result))
    return await _probed(made, result, context)


def _spec(made: Drafted) -> RubricSpec:
    return RubricSpec(name="draft", rubric=made.draft.rubric, span=made.case.span)


def _failed(result: Assessed) -> str:
    missed = ", ".join(c.id for c in result.criteria if c.applies and c.normalised < 1)
    return (
        f"the reference answer does not pass this draft: {result.verdict}, score {result.score:g}; "
        f"below full marks: {missed}"
    )


async def _probed(made: Drafted, reference: Assessed, context: RunContext) -> Drafted:
    if (find := parts.offered("criteria that never fail")) is None:
        return made.but(reference.usage)
    spec, draft = _spec(made), made.draft
    blind: Mapping[str, str]
    blind, used = await find(made.case, spec, reference, VARIANTS, context)
    used += reference.usage
    if len(blind) == len(draft.rubric):  # a judge that passes everything says nothing of a draft
        return made.but(used, "the judge passes every variant of the reference answer")
    warnings = (f"{name}: {_DROPPED} {change}" for name, change in blind.items())
    return made.but(used, *warnings, draft=_without(draft, blind))


def _without(draft: Draft, names: Mapping[str, str]) -> Draft:
    kept = [n for n, each in enumerate(draft.rubric) if each.id not in names]
    return replace(
        draft,
        rubrics=tuple(draft.rubrics[n] for n in kept),
        rubric=Rubric(tuple(draft.rubric.criteria[n] for n in kept)),
    )


def lint(rubric: Rubric, case: EvalCase) -> tuple[str, ...]:
    """Return the warnings about a draft for this case, one line each."""
    return tuple(_warnings(rubric, case))


def _warnings(rubric: Rubric, case: EvalCase) -> Iterator[str]:
    criteria = rubric.criteria
    for each in criteria:
        for found in wording(each.text, checklist=each.kind == CHECKLIST):
            yield f"{each.id}: draft-{found.kind}: {found.message}"
        yield from _copied(each, case)
    for later, first in repeated([words_of(each.text) for each in criteria]):
        message = f"checks the same as `{criteria[first].id}`: remove one of them"
        yield f"{criteria[later].id}: draft-duplicate: {message}"


def _copied(criterion: Criterion, case: EvalCase) -> Iterator[str]:
    words, rule = _words(criterion.text), f"{criterion.id}: draft-restates"
    if _runs(words) & _runs(_words(case.reference_answer)):
        how = "word for word; a good answer in other words would fail"
        yield f"{rule}: repeats the reference answer {how}"
    if _likeness(words, _words(case.expected_outcome)) >= ALIKE:
        how = "split it into parts that can be checked"
        yield f"{rule}: repeats the whole expected outcome: {how}"


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[n : n + COPIED_RUN]) for n in range(len(words) - COPIED_RUN + 1)}


def _likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of content words that both have; 0 where one has none."""
    left, right = set(one) - FILLERS, set(other) - FILLERS
    return len(left & right) / len(left | right) if left and right else 0.0
