"""From the second answer on, a comparison sends the message with other blanks at its end."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.grading import engine
from rubric_ci.grading.engine import blanks
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.targets import llm
from rubric_ci.parts.agents.agent import prompt
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.messages import MediaPart, Message, TextPart, Turn
from rubric_ci.values.results import Graded
from rubric_ci.values.targets import CliTarget, Target
from rubric_ci.values.workspace_settings import PromptTemplate
from tests.cases import build_case, build_context, build_script, text_message
from tests.pictures import media, png


def test_each_answer_has_other_blanks() -> None:
    assert [blanks(n) for n in range(5)] == ["", "\n", "\n ", "\n \n", "\n \n "]


ASKED = build_case(input_messages=(text_message("Hi", "user"),))
TALK = build_case(
    input_messages=(
        text_message("A", "user"),
        text_message("B", "assistant"),
        text_message("C", "user"),
    )
)
PROMPT = PromptTemplate(
    path="p", messages=(("system", "S"), ("user", "Say {{ x }}")), takes_input=False
)


@pytest.mark.parametrize(
    ("case", "template", "contents"),
    [
        (ASKED, None, ["Hi\n "]),
        (TALK, None, ["A", "B", "C\n "]),
        (replace(ASKED, input_messages=(), vars={"x": "it"}), PROMPT, ["S", "Say it\n "]),
        (build_case(input_messages=(text_message("S", "system"),)), None, ["S"]),
    ],
    ids=["one message", "several", "a prompt of variables", "without a user"],
)
def test_a_model_gets_them_at_the_end_of_the_last_message_of_the_user(
    case: EvalCase, template: PromptTemplate | None, contents: list[str]
) -> None:
    sent = llm.chat_messages(replace(case, variant="\n "), template)
    assert [message.content for message in sent] == contents


def test_a_message_with_an_image_gets_them_as_its_last_text() -> None:
    parts = (TextPart("Look"), MediaPart(media("a.png", png(2, 2))))
    case = build_case(input_messages=(Message(role="user", parts=parts),))
    (plain,), (varied,) = (llm.chat_messages(replace(case, variant=blank)) for blank in ("", "\n"))
    assert varied.parts == (*plain.parts, "\n")


def test_an_agent_gets_them_at_the_end_of_the_question() -> None:
    assert prompt(replace(ASKED, variant="\n")) == "Hi\n\n"


SAYS_PROMPT = CliTarget(name="t", command_template="printf '%s|' {PROMPT}")


def answers(case: EvalCase, root: Path, target: Target = SAYS_PROMPT, **facts: Any) -> list[str]:
    """Return the answers of three trials."""
    script = build_script("true {answer_file}")
    task = Task(case=replace(case, evaluators=(script,)), target=target)
    context = build_context(root, **facts)
    (found,) = asyncio.run(engine.grade([task], context, concurrency=1, trials=3))
    assert isinstance(found, Graded), found
    assert found.question == case.question  # judges and reports have it as written
    return [trial.answer or "" for trial in found.trials]


def test_a_command_gets_them(tmp_path: Path) -> None:
    assert answers(ASKED, tmp_path, variants=True) == ["Hi|", "Hi\n|", "Hi\n |"]
    assert answers(ASKED, tmp_path) == ["Hi|"] * 3


def test_each_message_of_a_conversation_has_them(tmp_path: Path) -> None:
    talk = build_case(turns=(Turn(text="One"), Turn(text="Two")))
    first, second, _ = answers(talk, tmp_path, variants=True)
    assert ("One|" in first, "One\n|" in second, "Two\n|" in second) == (True, True, True)
