"""What a service is sent for a case, and what is read from its reply."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import NoVerdict
from rubric_ci.grading import targets
from rubric_ci.text.answer_text import Exchange, read_exchanges
from rubric_ci.values.agent_program import HttpRequest
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import Side
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.messages import SimulatedUser, Turn
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import Endpoint, ServiceTarget
from rubric_ci.values.usage import Usage
from tests.cases import build_case, build_context, text_message

CASE = build_case(
    input_messages=(text_message("Be brief", "system"),),
    turns=(Turn(text="They squeak"), Turn(text="4711")),
)
ONE = build_case(input_messages=(text_message('Say "hello"'),))
USED = Usage(calls=1, unpriced_calls=1)


def service(body: JSON, **facts: Any) -> ServiceTarget:
    options = {"api_base": "http://127.0.0.1:1/chat"}
    endpoint = Endpoint(model="http/bot", options=options, http=HttpRequest(body=body))
    return ServiceTarget(name="bot", endpoint=endpoint, depends_on=None, **facts)


class Bot:
    """Replies with the number of the request, and keeps what it was sent."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []

    async def ask(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        return ModelReply(text=f"answer {len(self.calls)}", usage=USED)

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(call.messages[0].content) for call in self.calls]


def answer(body: JSON, root: Path, bot: Bot, case: EvalCase = CASE, **context: Any) -> Answer:
    built = build_context(root, call_model=bot.ask, **context)
    return asyncio.run(targets.answer(case, service(body), built))


HISTORY = "[system]\nBe brief\n\n[user]\nThey squeak\n\n[assistant]\nanswer 1"
SYSTEM = {"role": "system", "content": "Be brief"}
FIRST = {"role": "user", "content": "They squeak"}
REPLY = {"role": "assistant", "content": "answer 1"}


@pytest.mark.parametrize(
    ("template", "first", "second"),
    [
        ("{{ message }}", "They squeak", "4711"),
        ("{{ history }}", "[system]\nBe brief", HISTORY),
        ("{{ messages }}", [SYSTEM, FIRST], [SYSTEM, FIRST, REPLY, {**FIRST, "content": "4711"}]),
        ("all: {{ messages }}", f"all: {json.dumps([SYSTEM, FIRST])}", None),
        ("{{ input }}", "[system]\nBe brief\n\n[user]\nThey squeak", f"{HISTORY}\n\n[user]\n4711"),
    ],
)
def test_variables_of_a_talk(tmp_path: Path, template: str, first: JSON, second: JSON) -> None:
    bot = Bot()
    given = answer({"text": template, "session": "{{ session_id }}"}, tmp_path, bot)
    assert bot.bodies[0]["text"] == first
    assert second is None or bot.bodies[1]["text"] == second
    assert read_exchanges(given.text) == (
        Exchange("They squeak", "answer 1"),
        Exchange("4711", "answer 2"),
    )


@pytest.mark.parametrize("body", ["{{ message }}", {"text": ["{{ message }}"], "user": "{{ u }}"}])
def test_a_service_that_would_not_know_the_talk(tmp_path: Path, body: JSON) -> None:
    reason = re.escape(
        "the service `bot` would not know the messages before the last one: put `{{ messages }}`, "
        "`{{ history }}` or `{{ session_id }}` into its `body`"
    )
    bot = Bot()
    with pytest.raises(NoVerdict, match=reason):
        answer(body, tmp_path, bot, replace(CASE, vars={"u": "1"}))
    assert len(bot.calls) == 1


def test_a_case_with_one_message(tmp_path: Path) -> None:
    bot = Bot()
    body = {"all": "{{ messages }}", "last": "{{ message }}", "before": "{{ history }}"}
    answer(body, tmp_path, bot, ONE)
    said = 'Say "hello"'
    assert bot.bodies == [{"all": [{"role": "user", "content": said}], "last": said, "before": ""}]


def test_a_variable_of_the_case_comes_first(tmp_path: Path) -> None:
    bot = Bot()
    answer("{{ message | tojson }}", tmp_path, bot, replace(ONE, vars={"message": "own"}))
    assert bot.bodies == ["own"]


def test_a_session_belongs_to_one_conversation_and_to_no_key(tmp_path: Path) -> None:
    bot = Bot()
    body = {"text": "{{ message }}", "session": "{{ session_id }}"}
    for _ in range(2):
        answer(body, tmp_path, bot)
    sessions = [each["session"] for each in bot.bodies]
    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
    assert all(len(each) == 32 for each in sessions)
    keys = [call.key for call in bot.calls]
    assert keys[0] != keys[1]
    assert keys[:2] == keys[2:]


def test_the_replies_of_both_sides_have_their_own_keys(tmp_path: Path) -> None:
    bot = Bot()
    answer("{{ message }}", tmp_path, bot, ONE)
    answer("{{ message }}", tmp_path, bot, ONE, side=Side(is_base=True))
    assert bot.calls[0].messages == bot.calls[1].messages
    assert bot.calls[0].key != bot.calls[1].key


def test_a_simulated_user_talks_to_a_service(tmp_path: Path) -> None:
    replies = iter(
        [
            {"message": "My order?", "ended": False},
            {"message": "4711", "ended": False},
            {"message": "", "ended": True},
        ]
    )
    bot = Bot()

    async def ask(call: ModelCall) -> ModelReply:
        if call.endpoint.http:
            return await bot.ask(call)
        return ModelReply(text=json.dumps(next(replies)), usage=Usage(calls=1))

    user = SimulatedUser(persona="Anna", goal="Return order 4711", max_turns=3)
    case = build_case(input_messages=(), simulated_user=user)
    context = build_context(
        tmp_path, call_model=ask, judge=JudgeConfig(endpoint=Endpoint(model="openai/judge"))
    )
    body = {"text": "{{ message }}", "before": "{{ history }}"}
    given = asyncio.run(targets.answer(case, service(body), context))
    assert [each["text"] for each in bot.bodies] == ["My order?", "4711"]
    assert bot.bodies[1]["before"] == "[user]\nMy order?\n\n[assistant]\nanswer 1"
    assert read_exchanges(given.text) == (
        Exchange("My order?", "answer 1"),
        Exchange("4711", "answer 2"),
    )
    assert given.usage.calls == 5


def test_a_variable_that_the_case_lacks(tmp_path: Path) -> None:
    with pytest.raises(NoVerdict, match="`body` of the target `bot`: 'user' is undefined"):
        answer("{{ user }}", tmp_path, Bot(), ONE)
