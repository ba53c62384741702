"""The prompt that asks a model to draft rubrics for a case, in the style of its suite."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, assert_never

from rubric_ci.models.judge.prompt import Shown, about_fences, background, fenced
from rubric_ci.models.judge.request import takes_media
from rubric_ci.services.drafting.drafting_reply import (
    FEWEST,
    MOST,
    SCHEMA_VERSION,
    Kind,
    draft_schema,
)
from rubric_ci.values.config import OutputMode
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, call_key, message_of
from rubric_ci.values.rubric import Check, Chosen, Judged, Levelled, Scored, condition_text
from rubric_ci.values.targets import Endpoint

PROMPT_VERSION = "3"
MAX_TOKENS = 4096


MAX_EXAMPLES = 2  # cases of the suite whose rubrics show its style

SYSTEM = f"""\
You write the rubric by which answers to one case of an evaluation will be marked: {FEWEST} to \
{MOST} criteria. A judge will see the question, an answer and your criteria, and mark each one \
on its own.

What makes a good criterion
- It tests one thing. What could be half met is two criteria.
- It can be checked from the answer alone: "Names the 30-day limit" rather than "Is complete" or \
"Has good quality".
- It holds for every good answer, also for one that is worded or built unlike the reference. Ask \
for the substance, never for the reference's phrases.
- It follows from what a good answer achieves. Length, tone and format count only if that says so.
- No two criteria mark the same thing.
- Beside what a good answer contains, at least one criterion is about what a bad answer to this \
question would say, if there is such a thing, and names it in words that can be looked for in an \
answer. {{faults}}
- It is one line, in the language in which the expected outcome is written.

The fields
- "id": two to four words in lower case joined by hyphens, unlike every other.
- "expected_outcome": the criterion, beginning with a verb: "Names", "Explains", "Does not promise".
- "weight": 1.0 as a rule; 2.0 for the heart of the matter, 0.5 for what is nice to have.
{{kinds}}

{{data}}

How to reply
- With one JSON object of the form that is asked for, and nothing before or after it."""

_FORBIDS = 'It begins with "Does not".'
_FAULTS = """\
What the expected outcome forbids is a fault: it has a "penalty" and no "weight", and its text \
says what is wrong where it is present, such as "Promises a day of payment". What the expected \
outcome does not mention is a criterion that begins with "Does not"."""

_LAYERS = """\
- "penalty", of a fault: how much of the weights it takes away; 1.0 as a rule. Its "required" is \
true only where an answer with the fault is unacceptable.
- "applies_if": null as a rule. Where the expected outcome asks for something only if, when or \
unless something is so, this is the condition, as one sentence that the question or an answer \
decides, and the criterion is what is asked for then."""

_CHECKLIST = """\
- "required": true only where an answer that misses this is worthless: none, one or two of them. \
Otherwise false."""

_SCORE_RANGE = """\
- "score_ranges": what the scores 0 to 10 mean, as three to five ranges [lowest, highest] that \
cover every integer from 0 to 10 once, each with its "expected_outcome".
- "required_min_score": null as a rule; a score below which the answer is worthless, if any."""

_LEVELS = """\
- "levels": three to five steps, each with an integer "level" (1 is the worst), a "name" of one \
or two words and the "criteria" for it.
- "required_min_level": null as a rule; a level below which the answer is worthless, if any."""

_KINDS: Mapping[Kind, str] = {
    "checklist": _CHECKLIST,
    "score-range": _SCORE_RANGE,
    "levels": _LEVELS,
    "auto": f"""\
Each criterion is of one kind, the first unless another fits better:
1. Met or not met.
{_CHECKLIST}
2. A matter of degree, scored 0 to 10.
{_SCORE_RANGE}
3. A matter of distinct steps.
{_LEVELS}""",
}

_CHECK_FORM = '{"id": "...", "expected_outcome": "...", "weight": 1.0, "required": false}'
_FAULT_FORM = '{"id": "...", "expected_outcome": "...", "penalty": 1.0, "required": false}'
_SCORED_FORM = (
    '{"id": "...", "expected_outcome": "...", "weight": 1.0, "required_min_score": null, '
    '"score_ranges": [{"score_range": [0, 3], "expected_outcome": "..."}, ...]}'
)
_LEVELLED_FORM = (
    '{"id": "...", "expected_outcome": "...", "weight": 1.0, "required_min_level": null, '
    '"levels": [{"level": 1, "name": "...", "criteria": "..."}, ...]}'
)
_FORMS: Mapping[Kind, tuple[str, ...]] = {
    "checklist": (_CHECK_FORM,),
    "score-range": (_SCORED_FORM,),
    "levels": (_LEVELLED_FORM,),
    "auto": (_CHECK_FORM, _SCORED_FORM, _LEVELLED_FORM),
}

_FORM = """\
Reply with one JSON object of this form:
{{"rubrics": [CRITERION, ...]}}
where each CRITERION is
{forms}"""

REMINDER = "Write the rubric for this case. Reply with the JSON object only."


class Wanted(NamedTuple):
    """The criteria to draft: of a kind, and plain without faults and conditions."""

    kind: Kind = "checklist"
    plain: bool = False

    @property
    def forms(self) -> str:
        if self.plain:
            return "\nor ".join(_FORMS[self.kind])
        forms = (*_FORMS[self.kind], _FAULT_FORM)
        return "\nor ".join(f'{form[:-1]}, "applies_if": null}}' for form in forms)

    @property
    def system(self) -> Mapping[str, str]:
        """The texts of the system message about the kinds of criteria."""
        kinds = _KINDS[self.kind]
        if self.plain:
            return {"faults": _FORBIDS, "kinds": kinds}
        return {"faults": _FAULTS, "kinds": f"{kinds}\n{_LAYERS}"}


_CHECKLIST_WANTED: Final = Wanted()


def draft_call(
    case: EvalCase,
    examples: Sequence[EvalCase],
    endpoint: Endpoint,
    *,
    wanted: Wanted = _CHECKLIST_WANTED,
    output: OutputMode | None = None,
    fence: str,
    about: str = "",
) -> ModelCall:
    """Return the model call; `examples` are cases of the same suite, some of which have rubrics."""
    shown = partial(takes_media, endpoint)
    written = (case, examples, wanted, shown)
    schema = draft_schema(wanted.kind, plain=wanted.plain)
    turn = f"draft {PROMPT_VERSION}, schema {SCHEMA_VERSION}"
    return ModelCall(
        endpoint=endpoint,
        messages=_messages(*written, fence),
        key=call_key(endpoint, _messages(*written, ""), schema=schema, turn=turn),
        about=about,
        output_schema=schema,
        output_mode=output,
        max_tokens=int(endpoint.options.get("max_tokens", MAX_TOKENS)),
    )


def _messages(
    case: EvalCase, examples: Sequence[EvalCase], wanted: Wanted, shown: Shown, fence: str
) -> tuple[ChatMessage, ...]:
    parts = [
        *_style(examples, fence),
        *background(case, fence, shown),
        _FORM.format(forms=wanted.forms),
        REMINDER,
    ]
    system = SYSTEM.format(**wanted.system, data=about_fences(fence))
    return (ChatMessage(role="system", content=system), message_of("user", parts))


def _style(examples: Sequence[EvalCase], fence: str) -> list[str]:
    """Return prompt parts with the rubrics of other cases of the suite."""
    shown = []
    for example in examples:
        criteria = [each for spec in example.rubrics for each in spec.rubric.judged]
        if criteria and example.expected_outcome:
            rubrics = [as_data(criterion) for criterion in criteria]
            outcome = {"expected_outcome": example.expected_outcome, "rubrics": rubrics}
            shown.append(json.dumps(outcome, ensure_ascii=False, indent=1))
    return [
        f"Another case of this suite, for its style:\n{fenced('data', text, fence)}"
        for text in shown[:MAX_EXAMPLES]
    ]


def as_data(criterion: Judged) -> JSON:
    """Return a criterion as a model is shown it and writes it."""
    texts = {"id": criterion.id, "expected_outcome": criterion.text}
    if needs := condition_text(criterion.applies_if):
        texts["applies_if"] = needs
    shared = {**texts, "weight": criterion.weight}
    match criterion:
        case Check(fault=True):
            return {**texts, "penalty": criterion.weight, "required": criterion.required}
        case Check():
            return {**shared, "required": criterion.required}
        case Scored():
            ranges = [
                {"score_range": [r.low, r.high], "expected_outcome": r.text}
                for r in criterion.ranges
            ]
            gate = criterion.required_min_score
            return {**shared, "required_min_score": gate, "score_ranges": ranges}
        case Levelled():
            levels = [
                {"level": s.level, "name": s.name, "criteria": s.text} for s in criterion.levels
            ]
            return {**shared, "required_min_level": criterion.required_min_level, "levels": levels}
        case Chosen():
            choices = {each.name: each.score for each in criterion.choices}
            return {**shared, "required_choices": criterion.required_choices, "choices": choices}
        case _:
            assert_never(criterion)
