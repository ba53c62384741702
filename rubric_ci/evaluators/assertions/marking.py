"""The marks of assertions on an answer, and an assertion in words."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, assert_never

from rubric_ci.errors import CannotMeasure
from rubric_ci.evaluators.assertions import calls, folder, json_data, text
from rubric_ci.evaluators.assertions.folder import check_name
from rubric_ci.evaluators.assertions.json_data import NotJson, parsed
from rubric_ci.evaluators.assertions.row import CALLS, Outcome, Row, listed, quoted_value
from rubric_ci.text.numbers import shortened
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON, Missing, value_at
from rubric_ci.values.rubric import Assertion, ByAnswer, Check, Mark, Rubric
from rubric_ci.values.scoring import NOT_APPLICABLE
from rubric_ci.values.trace import Step, WorkCheck, steps_of
from rubric_ci.values.written_keys import keys_of

if TYPE_CHECKING:  # `validate` does not need it
    from rubric_ci.values.results import Answer

TABLE: Final[Mapping[str, Row]] = {
    row.key: row for row in (*text.ROWS, *json_data.ROWS, *text.WORDS, *calls.ROWS, *folder.ROWS)
}

OPTIONS: Final = tuple(key for key in keys_of(Assertion) if key not in keys_of(Check))

MOST_EVIDENCE = 400  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Did:
    """The work of a target for its answer, as far as it reports that."""

    steps: tuple[Step, ...] | None = None  # None: it reports none
    checks: tuple[WorkCheck, ...] | None = None  # None: it has no workspace
    left_out: int = 0  # steps that the report has not, from which this was read


def did(answer: "Answer") -> Did:
    return Did(
        steps=steps_of(answer.messages) if answer.reports_calls else None,
        checks=answer.work.checks if answer.work else None,
        left_out=answer.left_out,
    )


def is_of_text(rubric: Rubric) -> bool:
    return all(TABLE[each.key].of == "text" for each in rubric.assertions)


def described(key: str, value: JSON, *, negated: bool, field: str) -> str:
    """Return an assertion in words, such as "Field `total` equals `42`"."""
    row = TABLE[key]
    words = (row.denies if negated else row.says).format(_said(value, row))
    return f"Field `{field}` {words}" if field else f"{words[0].upper()}{words[1:]}"


def _said(value: JSON, row: Row) -> str:
    if isinstance(value, list) and (row.growth or row.of == CALLS):
        return listed(value)
    return f"{value:,}" if isinstance(value, int) and row.growth else quoted_value(value)


def assertion_marks(
    rubric: Rubric, answer: str, did: Did | None = None, redact: Callable[[str], str] = str
) -> dict[str, Mark]:
    """Return the marks of all assertions; without `did`, of those about the answer's text.

    Raises CannotMeasure where the target does not report what an assertion is about.
    """
    return {
        c.id: mark(c, answer, did, redact)
        for c in rubric
        if isinstance(c, Assertion) and (did or TABLE[c.key].of == "text")
    }


def unmet_conditions(
    rubric: Rubric, answer: str, did: Did, redact: Callable[[str], str] = str
) -> dict[str, Mark]:
    """Return the marks of the criteria that do not apply to this answer; raises CannotMeasure."""
    found = dict[str, Mark]()
    for each in rubric:
        if isinstance(each.applies_if, ByAnswer):
            condition = mark(each.applies_if.assertion, answer, did, redact)
            if condition.value is not True:
                found[each.id] = replace(condition, value=NOT_APPLICABLE)
    return found


def mark(
    assertion: Assertion, answer: str, did: Did | None = None, redact: Callable[[str], str] = str
) -> Mark:
    """Return whether an answer meets an assertion, with the expected text and the text found.

    Evidence is redacted before it is cut: half a key is not recognised.
    """
    found = _outcome(assertion, answer, did or Did())
    sought = described(
        assertion.key, assertion.value, negated=assertion.negated, field=assertion.field
    )
    return Mark(
        value=found.is_clear and found.holds is not assertion.negated,
        reasoning=f"{sought}: {found.found}",
        evidence=shortened(redact(found.evidence), MOST_EVIDENCE),
    )


def _outcome(assertion: Assertion, answer: str, did: Did) -> Outcome:
    match TABLE[assertion.key].of:
        case "calls":
            if did.steps is None:
                raise CannotMeasure(
                    f"`{assertion.key}`: the target reports no tool calls; use an agent, or a "
                    "command with `trace` or `output_messages`"
                )
            if did.left_out:
                raise CannotMeasure(
                    f"`{assertion.key}`: the report left out {did.left_out:,} calls of a long trace"
                )
            return TABLE[assertion.key].check(did.steps, assertion.value, assertion.ignore_case)
        case "folder":
            return _in_folder(assertion, did)
        case "text":
            return _text_outcome(assertion, answer)
        case _:
            assert_never(TABLE[assertion.key].of)


def _in_folder(assertion: Assertion, did: Did) -> Outcome:
    name = check_name(assertion.key, assertion.value)
    check = next((each for each in did.checks or () if each.name == name), None)
    if check is None:
        reason = "the target has no `workspace`" if did.checks is None else "it was not checked"
        raise CannotMeasure(f"`{assertion.key}`: {reason}")
    if check.error:
        raise CannotMeasure(f"`{assertion.key}`: {check.error}")
    return Outcome(check.holds, check.found, check.evidence)


def _text_outcome(assertion: Assertion, answer: str) -> Outcome:
    of_data = assertion.key == "json_schema"  # a text of the answer's JSON is a text to it
    text = _field_text(answer, assertion.field, as_json=of_data) if assertion.field else answer
    if isinstance(text, NotJson):
        return Outcome(holds=False, found=text.reason)
    row = TABLE[assertion.key]
    check = row.exact if assertion.exact and row.exact else row.check
    return check(text, assertion.value, assertion.ignore_case)


def _field_text(answer: str, field: str, *, as_json: bool) -> str | NotJson:
    """Return a field of an answer as text: a text as it is if not `as_json`, any other as JSON."""
    value: Any = parsed(answer)
    if isinstance(value, NotJson):
        return NotJson(f"the answer has no fields; {value.reason}")
    found = value_at(value, field)
    if isinstance(found, Missing):
        return NotJson("the answer has no such field")
    plain = isinstance(found, str) and not as_json
    return found if plain else json.dumps(found, ensure_ascii=False)
