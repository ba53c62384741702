"""The check of a draft: a criterion that passes every variant of the reference is left out."""

import asyncio
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from rubric_ci.services.drafting.draft_check import Drafted, check_draft
from rubric_ci.services.drafting.drafting_reply import Draft, read_draft
from rubric_ci.values import parts
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from tests.services.drafting.test_drafter import case

REFERENCE = "You have 30 days. Send the form to us. Thank you for that. The shop opens at 9."
QUOTES = {"limit": "You have 30 days", "way": "Send the form to us", "thanks": "Thank you for that"}
ITEMS = [
    {"id": name, "expected_outcome": f"Says {quote}", "weight": 1.0, "required": False}
    for name, quote in QUOTES.items()
]


def draft() -> Draft:
    made = read_draft(json.dumps({"rubrics": ITEMS}), kind="checklist")
    assert isinstance(made, Draft)
    return made


def check(always: set[str], reference: str = REFERENCE) -> Drafted:
    """Check the draft with a judge that looks for the quotes, but for some criteria."""

    async def ask(call: ModelCall) -> ModelReply:
        user = call.messages[-1].content
        (answer,) = re.findall(r"<answer_\w+>\n(.*?)\n?</answer_", user, re.DOTALL)[-1:]
        asked = re.findall(
            r"^(c\d+): .*\n +Says (.*)$", user.partition("Criteria:\n")[2], re.MULTILINE
        )
        marks: Mapping[str, object] = {
            alias: {
                "evidence": quote if quote in answer else "",
                "reasoning": "as it is",
                "satisfied": quote in {QUOTES[name] for name in always} or quote in answer,
            }
            for alias, quote in asked
        }
        return ModelReply(text=json.dumps(marks), usage=Usage(calls=1))

    context = RunContext(
        call_model=ask,
        root=Path(),
        environment=os.environ,
        judge=JudgeConfig(endpoint=Endpoint(model="openai/m")),
    )
    return asyncio.run(check_draft(Drafted(case=case("a", reference), draft=draft()), context))


LEFT_OUT = (
    "way: left out: it passes every variant of the reference answer, such as without “Send the "
    "form to us”"
)


@pytest.mark.parametrize(
    ("always", "kept", "warnings"),
    [
        (set(), ["limit", "way", "thanks"], ()),
        ({"way"}, ["limit", "thanks"], (LEFT_OUT,)),
        (
            {"limit", "way", "thanks"},
            ["limit", "way", "thanks"],
            ("the judge passes every variant of the reference answer",),
        ),
    ],
    ids=["each is noticed", "one never fails", "the judge says yes"],
)
def test_criteria_that_never_fail(
    always: set[str], kept: list[str], warnings: tuple[str, ...]
) -> None:
    found = check(always)
    assert [each.id for each in found.draft.rubric] == kept
    assert [dict(each)["id"] for each in found.draft.rubrics if isinstance(each, dict)] == kept
    assert (found.warnings, found.unchecked) == (warnings, "")
    assert found.usage.calls > 8


def test_a_reference_that_fails_is_not_changed() -> None:
    found = check(set(), "Nothing.")
    assert found.draft == draft()
    assert found.usage.calls == 1


def test_without_the_part_only_the_reference_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PARTS", ())
    found = check({"thanks"})
    assert (found.draft, found.warnings, found.usage.calls) == (draft(), (), 1)
