"""The question of a case: what belongs to it, and what is a prompt or a setting."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.values.agent_program import HttpRequest
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON
from rubric_ci.values.messages import (
    DataPart,
    FilePart,
    MediaPart,
    Message,
    Part,
    SimulatedUser,
    TextPart,
    Turn,
)
from rubric_ci.values.question import NOT_ASKED, question, question_id
from rubric_ci.values.targets import CliTarget, Endpoint, LlmTarget, MockTarget, ServiceTarget
from rubric_ci.values.workspace_settings import Hook, Hooks, PromptTemplate, Workspace
from tests.cases import build_case
from tests.model_values import changes, examples
from tests.pictures import media, png

FILE = FilePart("data/a.csv", "1")
ASKED = Message(role="user", parts=(TextPart("Yes?"), FILE))
RULES = Message(role="system", parts=(TextPart("Be kind."),))
GUIDELINE = Message(role="user", parts=(FilePart("rules.md", "Be kind.", guideline=True),))
CALL = {"tool": "search"}
OTHER_FILE = FilePart("data/b.csv", "2")
IMAGE = MediaPart(media=media("a.png", png(8, 6)))
AND = (Turn(text="And?", parts=(TextPart("And?"),)),)


def asking(*parts: Part, **facts: Any) -> EvalCase:
    message = Message(role="user", parts=parts)
    return build_case(input_messages=(message,) if parts else (), **facts)


@pytest.mark.parametrize(
    ("messages", "same"),
    [
        pytest.param((ASKED,), True, id="no system message"),
        pytest.param((replace(RULES, parts=()), ASKED), True, id="another system message"),
        pytest.param((GUIDELINE, RULES, ASKED), True, id="a guideline"),
        pytest.param((replace(ASKED, in_list=True),), True, id="a list of parts"),
        pytest.param(
            (replace(ASKED, parts=(TextPart("Yes?"), OTHER_FILE)),), True, id="another file"
        ),
        pytest.param((), False, id="no message"),
        pytest.param((ASKED, ASKED), False, id="one more message"),
        pytest.param((replace(ASKED, role="assistant"),), False, id="another role"),
        pytest.param((replace(ASKED, name="bob"),), False, id="another name"),
        pytest.param((replace(ASKED, tool_calls=(CALL,)),), False, id="a tool call"),
        pytest.param((replace(ASKED, parts=(TextPart("No?"), FILE)),), False, id="another text"),
        pytest.param((replace(ASKED, parts=ASKED.parts[:1]),), False, id="no file"),
    ],
)
def test_the_messages_of_a_question(messages: tuple[Message, ...], *, same: bool) -> None:
    then, now = (build_case(input_messages=each) for each in ((RULES, ASKED), messages))
    assert (question(now) == question(then)) is same


@pytest.mark.parametrize(
    ("case", "edited", "seen"),
    [
        (asking(TextPart("Read"), FILE), asking(TextPart("Read"), OTHER_FILE), False),
        (asking(DataPart({"a": 1}), FILE), asking(DataPart({"a": 1}), OTHER_FILE), False),
        (asking(FILE), asking(OTHER_FILE), True),
        (asking(FILE, IMAGE), asking(OTHER_FILE, IMAGE), True),
        (asking(FILE, turns=AND), asking(OTHER_FILE, turns=AND), False),
        (
            asking(turns=(Turn(text="1", parts=(FILE,)),)),
            asking(turns=(Turn(text="2", parts=(OTHER_FILE,)),)),
            True,
        ),
    ],
    ids=["next to a text", "next to data", "alone", "with an image", "before a turn", "of a turn"],
)
def test_a_file_alone_is_the_question(case: EvalCase, edited: EvalCase, seen: bool) -> None:
    assert (question(case) != question(edited)) is seen
    assert question(case, files=True) != question(edited, files=True)


def test_the_same_text_in_a_file_is_the_same_question() -> None:
    assert question(asking(TextPart("1"))) == question(asking(FILE))


TALK = asking(TextPart("Hello"), simulated_user=SimulatedUser(persona="A buyer", goal="To pay"))
HOOKS = Hooks(before_each=Hook(command=("true",), timeout_seconds=1))


@pytest.mark.parametrize(
    "edited",
    [
        {"turns": (Turn(text="And?"),)},
        {"simulated_user": SimulatedUser(persona="A buyer", goal="To pay", max_turns=9)},
        {"simulated_user": SimulatedUser(persona="A buyer", goal="To pay", model="openai/x")},
        {"vars": {"days": 30}},
        {"workspace": Workspace()},
        {"workspace": Workspace(copy="app")},
    ],
    ids=["turn", "max_turns", "model", "variable", "workspace", "copy"],
)
def test_an_edit_of_the_question(edited: dict[str, Any]) -> None:
    assert question(replace(TALK, **edited)) != question(TALK)


MODEL = Endpoint(model="openai/x")


def prompted(text: str) -> LlmTarget:
    template = PromptTemplate(path="p.md", messages=(("user", text),), takes_input=True)
    return LlmTarget(name="t", endpoint=MODEL, prompt=template)


def service(body: JSON) -> ServiceTarget:
    return ServiceTarget(name="t", endpoint=replace(MODEL, http=HttpRequest(body=body)))


TARGETS = {
    "fixed": MockTarget(name="t", response="Yes."),
    "model": LlmTarget(name="t", endpoint=MODEL),
    "prompt": prompted("{{ input }}"),
    "prompt with it": prompted("{{ input }} in {{ days }}"),
    "body": service({"text": "{{ input }}"}),
    "command": CliTarget(name="t", command_template="bot {PROMPT}"),
    "command with the id": CliTarget(name="t", command_template="bot --vars a.yaml {EVAL_ID}"),
    "command with the file": CliTarget(name="t", command_template="bot {EVAL_FILE} {PROMPT}"),
    "body with it": service({"text": "{{ input }}", "within": ["{{ days }}"]}),
}
READING = ["prompt with it", "command with the id", "command with the file", "body with it"]


@pytest.mark.parametrize(
    ("case", "asking_for_it"),
    [
        pytest.param(asking(TextPart("Yes?")), READING, id="written"),
        pytest.param(TALK, READING, id="conversation"),
        pytest.param(asking(), list(TARGETS), id="variables alone"),
        pytest.param(replace(TALK, workspace=Workspace(hooks=HOOKS)), list(TARGETS), id="hooks"),
    ],
)
def test_a_variable_of_criteria_alone_is_not_asked(
    case: EvalCase, asking_for_it: list[str]
) -> None:
    then, now = (replace(case, vars={"days": days}) for days in (30, 60))
    differ = [
        name for name, each in TARGETS.items() if question_id(then, each) != question_id(now, each)
    ]
    assert differ == asking_for_it


def test_the_metadata_is_asked_where_hooks_read_it() -> None:
    noted = replace(TALK, metadata={"row": 1})
    assert question(noted) == question(TALK)
    hooked = Workspace(hooks=HOOKS)
    assert question(replace(noted, workspace=hooked)) != question(replace(TALK, workspace=hooked))


def test_how_the_work_is_kept_is_not_asked() -> None:
    kept = Workspace(copy="app", keep=("*.md",), sandbox=("box",), container="a/b", of_target=False)
    with_work = replace(TALK, workspace=Workspace(copy="app"))
    assert question(replace(TALK, workspace=kept)) == question(with_work)


def test_each_field_of_a_case_is_asked_or_listed() -> None:
    """A new field is asked until it is listed with the others."""
    plain = examples(EvalCase)[0]
    before, moved, every = question(plain, files=True), set(), set()
    for change in changes(EvalCase, plain):
        field = change.place[0].removeprefix("EvalCase.")
        every.add(field)
        if field not in moved and question(change.value, files=True) != before:
            moved.add(field)
    asked = {"input_messages", "turns", "simulated_user", "vars", "workspace"}
    assert moved - {"metadata"} == asked
    assert every - asked - {"span"} <= NOT_ASKED
