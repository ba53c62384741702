"""A draft, warnings about its wording, and tests of its criteria.

The warnings are about criteria in English: their wording, and copies of the case's texts. For each
criterion a model writes an answer of which it is true and one of which it is not. The judge marks
each before it is written: a test that it does not pass says nothing of a later edit of the
criterion.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, assert_never

from rubric_ci.evaluators.evaluate import evaluate
from rubric_ci.files.validation.ambiguity_rules import ALIKE, FILLERS, repeated, wording, words_of
from rubric_ci.models.judge.prompt import about_fences, background, fenced
from rubric_ci.models.judge.reply import InvalidReply, find_object, strict_object
from rubric_ci.models.judge.request import takes_media
from rubric_ci.services.drafting.drafting_prompt import as_data
from rubric_ci.services.drafting.drafting_reply import Draft, validated
from rubric_ci.text.escape import one_line
from rubric_ci.text.numbers import shortened
from rubric_ci.values.config import OutputMode
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, call_key, message_of
from rubric_ci.values.results import Answer, Assessed, Unassessed
from rubric_ci.values.rubric import (
    Check,
    Chosen,
    Criterion,
    Judged,
    Levelled,
    Rubric,
    Scored,
    equal_marks,
)
from rubric_ci.values.scoring import CHECKLIST, MarkValue
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import NOTHING_USED, Usage

COPIED_RUN = 7  # words in a row that are not shared with the reference by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """Rubrics for a case, and warnings for the person who reviews them."""

    case: EvalCase
    draft: Draft
    warnings: tuple[str, ...] = ()
    unchecked: str = ""  # why an answer has no marks, if the draft has tests
    usage: Usage = NOTHING_USED

    def but(self, usage: Usage, *warnings: str, draft: Draft | None = None) -> "Drafted":
        """Return it with the usage and the findings of a check."""
        return replace(
            self,
            draft=draft or self.draft,
            warnings=(*self.warnings, *warnings),
            usage=self.usage + usage,
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


PROMPT_VERSION: Final = "1"
MAX_TOKENS: Final = 8192
LONGEST: Final = 2_000  # characters of an answer
SHOWN: Final = 80  # of an answer in a warning

_SYSTEM: Final = """\
You write answers that test the criteria of a rubric. A judge will see the question and one \
answer, and mark each criterion on its own.

For each criterion write two answers to the question that the system under test could give
- "yes": the criterion is plainly true of it. Of a criterion with "penalty", the fault is present. \
Of one with "score_ranges" or "levels", it is in the highest.
- "no": the criterion is plainly not true of it. Of a criterion with "penalty", the fault is not \
present. Of one with "score_ranges" or "levels", it is in the lowest.
Where a criterion has "applies_if", both answers are such that it applies. The two differ in this \
point only, are whole answers of one to four sentences, in the language of the question, and do \
not mention the criterion.

{data}

How to reply
- With one JSON object of the form that is asked for, and nothing before or after it."""
_FORM: Final = """\
Reply with one JSON object of this form, with one entry per criterion:
{"tests": [{"id": "...", "yes": "...", "no": "..."}, ...]}"""
_SCHEMA: Final = strict_object(
    {
        "tests": {
            "type": "array",
            "items": strict_object({key: {"type": "string"} for key in ("id", "yes", "no")}),
        }
    }
)


class DraftTest(NamedTuple):
    """An answer for one criterion, and the marks of which the judge must give it one."""

    criterion: str
    answer: str
    marks: tuple[MarkValue, ...]

    @property
    def written(self) -> JSON:
        """The test as in a file."""
        marks = [*self.marks]
        return {
            "answer": self.answer,
            "marks": {self.criterion: marks if len(marks) > 1 else marks[0]},
        }


def call_for_tests(
    case: EvalCase,
    criteria: Sequence[Judged],
    endpoint: Endpoint,
    output: OutputMode | None,
    fence: str,
) -> ModelCall:
    """Return the request for two answers per criterion."""
    return ModelCall(
        endpoint=endpoint,
        messages=_messages(case, criteria, endpoint, fence),
        key=call_key(
            endpoint,
            _messages(case, criteria, endpoint, ""),
            schema=_SCHEMA,
            turn=f"tests {PROMPT_VERSION}",
        ),
        about=f"{case.file}: {case.id}: tests",
        output_schema=_SCHEMA,
        output_mode=output,
        max_tokens=int(endpoint.options.get("max_tokens", MAX_TOKENS)),
    )


def _messages(
    case: EvalCase, criteria: Sequence[Judged], endpoint: Endpoint, fence: str
) -> tuple[ChatMessage, ...]:
    shown = json.dumps([as_data(each) for each in criteria], ensure_ascii=False, indent=1)
    parts = [
        *background(case, fence, partial(takes_media, endpoint)),
        f"The criteria:\n{fenced('data', shown, fence)}",
        _FORM,
    ]
    system = _SYSTEM.format(data=about_fences(fence))
    return (ChatMessage(role="system", content=system), message_of("user", parts))


def read_tests(text: str, criteria: Sequence[Judged]) -> tuple[DraftTest, ...] | InvalidReply:
    """Return two tests per criterion, or all problems of the reply."""
    match find_object(text):
        case InvalidReply() as invalid:
            return invalid
        case {"tests": list(items)} as reply if len(reply) == 1:
            pass
        case _:
            return InvalidReply(('the object must have one property, "tests", which is a list',))
    known, given = {each.id: each for each in criteria}, dict[str, Any]()
    problems = list[str]()
    for each in items:
        name = each.get("id") if isinstance(each, dict) else None
        if not isinstance(name, str):
            problems.append(
                f"an entry has no id that is a text: {shortened(json.dumps(each), SHOWN)}"
            )
        elif name in given:
            problems.append(f'there are two entries for the criterion "{name}"')
        else:
            given[name] = each
    problems += [f'there is no criterion "{name}"' for name in given if name not in known]
    problems += [p for name in known for p in _problems(name, given.get(name))]
    if problems:
        return InvalidReply(tuple(problems))
    return tuple(
        DraftTest(name, given[name][key].strip(), marks)
        for name, criterion in known.items()
        for key, marks in zip(("yes", "no"), _marks(criterion), strict=True)
    )


def _problems(name: str, item: Any) -> Iterator[str]:
    if item is None:
        yield f'there is no entry for the criterion "{name}"'
        return
    texts = [item.get(key) for key in ("yes", "no")]
    if not all(isinstance(text, str) and 0 < len(text.strip()) <= LONGEST for text in texts):
        yield f'"yes" and "no" of "{name}" must be texts of 1 to {LONGEST:,} characters'
    elif texts[0] == texts[1]:
        yield f'"yes" and "no" of "{name}" are the same text'


def _marks(criterion: Judged) -> tuple[tuple[MarkValue, ...], tuple[MarkValue, ...]]:
    """Return the marks of an answer of which a criterion is true, and of the other one."""
    match criterion:
        case Check():
            return (True,), (False,)
        case Scored(ranges=ranges):
            low, high = ranges[0], ranges[-1]
            return tuple(range(high.low, high.high + 1)), tuple(range(low.low, low.high + 1))
        case Levelled(levels=levels):
            return (levels[-1].level,), (levels[0].level,)
        case Chosen(choices=choices):
            ordered = sorted(choices, key=lambda each: each.score)
            return (ordered[-1].name,), (ordered[0].name,)
        case _:
            assert_never(criterion)


async def checked_tests(
    made: Drafted, tests: Sequence[DraftTest], used: Usage, context: RunContext
) -> Drafted:
    """Return a draft with the tests that the judge passes, and a warning about each other one."""
    spec = RubricSpec(name="rubric", rubric=made.draft.rubric, span=made.case.span)
    results = await asyncio.gather(
        *(evaluate(made.case, Answer(text=each.answer), spec, context) for each in tests)
    )
    used = sum((each.usage for each in results), used)
    kept, warnings, unchecked = list[JSON](), list[str](), ""
    for test, result in zip(tests, results, strict=True):
        if isinstance(result, Unassessed):
            unchecked = unchecked or f"its tests: {result.reason}"
        elif why := _refused(test, result):
            warnings.append(f"{test.criterion}: a test is left out: {why}")
        else:
            kept.append(test.written)
    draft = validated(made.draft.rubrics, kept)
    if isinstance(draft, InvalidReply):
        warnings.append(f"the tests are left out: {'; '.join(draft.problems)}")
        draft = made.draft
    checked = made.but(used, *warnings, draft=draft)
    return replace(checked, unchecked=checked.unchecked or unchecked)


def _refused(test: DraftTest, result: Assessed) -> str:
    """Return why the judge does not pass a test; empty: it does."""
    (mark,) = (each.mark for each in result.criteria if each.id == test.criterion)
    if any(equal_marks(mark, each) for each in test.marks):
        return ""
    expected, got = " or ".join(map(json.dumps, test.marks)), json.dumps(mark)
    answer = shortened(one_line(test.answer), SHOWN)
    return f"the judge marks {got} where {expected} is expected, of “{answer}”"
