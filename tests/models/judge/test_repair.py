"""The repair loop: messages, usage, end."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from rubric_ci.errors import CannotJudge, CannotReachModel, OverBudget
from rubric_ci.models.judge.reply import InvalidReply
from rubric_ci.models.judge.request import ParsedReply, request_valid_reply
from rubric_ci.values.agent_program import JudgeCommand
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelReply
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.trace import Finish
from rubric_ci.values.usage import Usage

CALL = ModelCall(
    endpoint=Endpoint(model="m"),
    messages=(ChatMessage(role="user", content="A number?"),),
    key="k",
    max_tokens=100,
)
SPENT = Usage(calls=1, cost_usd=0.25)


class Scripted:
    """A model with scripted replies; records the calls."""

    def __init__(self, replies: Sequence[ModelReply | Exception]) -> None:
        self.replies = list(replies)
        self.calls: list[ModelCall] = []

    async def __call__(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        scripted = self.replies.pop(0)
        if isinstance(scripted, Exception):
            raise scripted
        return scripted


def reply(text: str, finish: Finish = "stop") -> ModelReply:
    return ModelReply(text=text, finish=finish, usage=SPENT)


def number(text: str) -> int | InvalidReply:
    return int(text) if text.isdigit() else InvalidReply((f"{text!r} is no number", "try harder"))


def request(model: Scripted, call: ModelCall = CALL) -> ParsedReply[int]:
    return asyncio.run(request_valid_reply(model, call, number))


def test_a_usable_reply_ends_it() -> None:
    model = Scripted([reply("7")])
    assert request(model) == ParsedReply(value=7, text="7", usage=SPENT)
    assert model.calls == [CALL]


def test_an_unusable_reply_is_shown_with_what_was_wrong() -> None:
    model = Scripted([reply("seven"), reply("7")])
    parsed = request(model)
    assert parsed.value == 7
    assert parsed.usage == Usage(calls=2, cost_usd=0.5, repairs=1)
    assert model.calls[1].messages == (
        *CALL.messages,
        ChatMessage(role="assistant", content="seven"),
        ChatMessage(
            role="user",
            content="Your reply cannot be used:\n- 'seven' is no number\n- try harder\n"
            "Reply again, in full, with one JSON object of the form that was asked for.",
        ),
    )


def test_a_truncated_reply_is_asked_for_again_with_more_tokens() -> None:
    model = Scripted([reply("7", "length"), reply("77", "length"), reply("777")])
    assert request(model).value == 777
    assert [call.max_tokens for call in model.calls] == [100, 400, 1600]
    assert {call.messages for call in model.calls} == {CALL.messages}
    assert len({call.key for call in model.calls}) == 3


def test_an_empty_reply_is_not_shown() -> None:
    model = Scripted([reply(" "), reply("7")])
    assert request(model).value == 7
    assert [m.role for m in model.calls[1].messages] == ["user", "user"]


def test_a_refusal_is_answered() -> None:
    model = Scripted([reply("I cannot help.", "refusal"), reply("7")])
    assert request(model).value == 7
    assert model.calls[1].messages[-1].content.startswith("You are not asked to do what")


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (reply("nine"), "try harder (try another model or `judge.output: json_schema`)"),
        (reply("9", "length"), "the reply is truncated (increase `max_tokens` of the model)"),
        (reply("No.", "refusal"), "refused to mark: No. (try another model)"),
        (reply("", "refusal"), "to mark: no reason given (try another model)"),
    ],
    ids=["garbage", "truncated", "refused", "refused without a word"],
)
def test_after_three_there_is_no_judgement(last: ModelReply, reason: str) -> None:
    model = Scripted([reply("seven"), reply("eight"), last])
    with pytest.raises(CannotJudge, match=r"^\w+: no valid reply in 3 attempts; the") as ended:
        request(model)
    assert str(ended.value).endswith(reason)
    assert ended.value.usage == Usage(calls=3, cost_usd=0.75, repairs=2)


@pytest.mark.parametrize(
    "call",
    [
        replace(CALL, output_mode="json_schema"),
        replace(CALL, endpoint=Endpoint(model="m", command=JudgeCommand(argv=("judge",)))),
    ],
    ids=["a schema is sent", "a command has no schema"],
)
def test_no_other_output_mode_is_advised(call: ModelCall) -> None:
    with pytest.raises(CannotJudge, match=r"try harder \(try another model\)$"):
        request(Scripted([reply("seven")] * 3), call)


def test_a_reply_of_another_model_marks_all_attempts() -> None:
    other = replace(reply("seven"), fallback=True)
    assert request(Scripted([other, reply("7")])).fallback
    assert not request(Scripted([reply("seven"), reply("7")])).fallback


def test_a_reply_is_read_as_a_whole_or_not_at_all() -> None:
    longest = Scripted([reply("1" * 1_000_000)])
    assert asyncio.run(request_valid_reply(longest, CALL, len)).value == 1_000_000
    message = "has 1,000,001 characters; at most 1,000,000 are read"
    with pytest.raises(CannotJudge, match=f"^the reply of the judge {message}$") as ended:
        request(Scripted([reply("1" * 1_000_001)]))
    assert ended.value.usage == SPENT


def test_each_attempt_has_a_key_of_its_own_that_repeats() -> None:
    first = Scripted([reply("seven"), reply("eight"), reply("9")])
    again = Scripted([reply("seven"), reply("eight"), reply("9")])
    other = Scripted([reply("seven!"), reply("9")])
    for model in (first, again, other):
        request(model)
    keys = [call.key for call in first.calls]
    assert len(set(keys)) == 3
    assert [call.key for call in again.calls] == keys
    assert other.calls[1].key != keys[1]


@pytest.mark.parametrize(
    "error",
    [CannotReachModel("gone", Usage(calls=5)), OverBudget("spent", Usage(calls=5), before="busy")],
)
def test_what_was_spent_before_a_failure_is_not_lost(error: CannotReachModel | OverBudget) -> None:
    with pytest.raises(type(error)) as ended:
        request(Scripted([reply("seven"), error]))
    assert str(ended.value) == str(error)
    assert ended.value.usage == Usage(calls=6, cost_usd=0.25, repairs=1)
