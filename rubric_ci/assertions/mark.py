"""The mark of an assertion on an answer."""

import json
from typing import Any

from rubric_ci.assertions.json_data import NotJson, parsed
from rubric_ci.assertions.row import Outcome
from rubric_ci.assertions.table import TABLE, described
from rubric_ci.model.rubric import Assertion, Mark, Rubric
from rubric_ci.text.json_path import Missing, value_at
from rubric_ci.text.numbers import shortened

MOST_EVIDENCE = 400  # characters


def assertion_marks(rubric: Rubric, answer: str) -> dict[str, Mark]:
    """Return the marks of all assertions of a rubric."""
    return {c.id: mark(c, answer) for c in rubric if isinstance(c, Assertion)}


def mark(assertion: Assertion, answer: str) -> Mark:
    """Return whether an answer meets an assertion, with what was sought and what was found."""
    found = _outcome(assertion, answer)
    sought = described(
        assertion.key, assertion.value, negated=assertion.negated, field=assertion.field
    )
    return Mark(
        value=found.holds is not assertion.negated,
        reasoning=f"{sought}: {found.found}",
        evidence=shortened(found.evidence, MOST_EVIDENCE),
    )


def _outcome(assertion: Assertion, answer: str) -> Outcome:
    text = _text(answer, assertion.field) if assertion.field else answer
    if isinstance(text, NotJson):
        return Outcome(holds=False, found=text.reason)
    return TABLE[assertion.key].check(text, assertion.value, assertion.ignore_case)


def _text(answer: str, field: str) -> str | NotJson:
    """Return a field of an answer as text: a text as it is, another value as JSON."""
    value: Any = parsed(answer)
    if isinstance(value, NotJson):
        return NotJson(f"the answer has no fields; {value.reason}")
    found = value_at(value, field)
    if isinstance(found, Missing):
        return NotJson("the answer has no such field")
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
