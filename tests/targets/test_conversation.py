"""Conversations of a scripted user with every kind of target."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from rubric_ci import targets
from rubric_ci.errors import CannotReachModel, NoVerdict, OverBudget
from rubric_ci.model.config import (
    CliTarget,
    Endpoint,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    Target,
    Workspace,
)
from rubric_ci.model.context import Side
from rubric_ci.model.evals import EvalCase, Turn
from rubric_ci.model.llm_calls import ModelCall, ModelReply, Usage
from rubric_ci.model.results import Answer
from rubric_ci.targets import answer_cache
from rubric_ci.text.transcript import Exchange, read
from tests import platforms
from tests.cases import build_case, build_context, text_message

CASE = build_case(
    input_messages=(text_message("Be brief", "system"),),
    turns=(Turn(text="They squeak"), Turn(text="4711")),
)
MODEL = LlmTarget(name="m", endpoint=Endpoint(model="openai/m"))
KEPT = RecordedTarget(name="kept", answers="answers.jsonl")
USED = Usage(calls=1, input_tokens=3, output_tokens=2, cost_usd=0.5)


def answer(target: Target, root: Path, case: EvalCase = CASE, **context: Any) -> Answer:
    return asyncio.run(targets.answer(case, target, build_context(root, **context)))


def refusal(target: Target, root: Path, case: EvalCase = CASE, **context: Any) -> NoVerdict:
    with pytest.raises(NoVerdict) as caught:
        answer(target, root, case, **context)
    return caught.value


def cli(template: str, **facts: Any) -> CliTarget:
    return CliTarget(name="agent", command_template=template, timeout_seconds=20, **facts)


def test_a_model_is_asked_turn_after_turn(tmp_path: Path) -> None:
    heard: list[list[str]] = []

    async def ask(call: ModelCall) -> ModelReply:
        heard.append([f"{m.role}: {m.content}" for m in call.messages])
        return ModelReply(text=f"answer {len(heard)}", usage=USED)

    given = answer(MODEL, tmp_path, call_model=ask)
    first = ["system: Be brief", "user: They squeak"]
    assert heard == [first, [*first, "assistant: answer 1", "user: 4711"]]
    assert read(given.text) == (Exchange("They squeak", "answer 1"), Exchange("4711", "answer 2"))
    assert given.messages == (
        {"role": "user", "content": "They squeak", "turn": 1},
        {"role": "assistant", "content": "answer 1", "turn": 1},
        {"role": "user", "content": "4711", "turn": 2},
        {"role": "assistant", "content": "answer 2", "turn": 2},
    )
    assert given.usage == USED + USED
    assert given.trace_summary is not None
    assert given.trace_summary["token_usage"] == {"input": 6, "output": 4}
    assert given.trace_summary["cost_usd"] == 1.0


@pytest.mark.parametrize(
    "error",
    [OverBudget("--max-calls 1", before="the run"), CannotReachModel("down", scope="server")],
    ids=["budget", "server"],
)
def test_a_failed_turn_ends_the_conversation(error: NoVerdict, tmp_path: Path) -> None:
    replies = [ModelReply(text="one", usage=USED)]

    async def ask(_: ModelCall) -> ModelReply:
        if not replies:
            raise error
        return replies.pop()

    failed = refusal(MODEL, tmp_path, call_model=ask)
    assert type(failed) is type(error)
    assert str(failed) == str(error)
    assert failed.usage == USED


@platforms.SHELL
def test_a_command_gets_what_was_said_before(tmp_path: Path) -> None:
    given = answer(cli("printf '%s.' {PROMPT}"), tmp_path)
    asked = "[system]\nBe brief\n\n[user]\nThey squeak"
    assert read(given.text) == (
        Exchange("They squeak", f"{asked}."),
        Exchange("4711", f"{asked}\n\n[assistant]\n{asked}.\n\n[user]\n4711."),
    )
    assert given.messages == ()


@platforms.SHELL
def test_a_command_works_in_one_workspace_in_all_turns(tmp_path: Path) -> None:
    (tmp_path / "seen").write_text("0\n", encoding="utf-8")
    target = cli("echo x >> seen; wc -l < seen | tr -d ' '", workspace=Workspace(copy="."))
    given = answer(target, tmp_path)
    assert read(given.text) == (Exchange("They squeak", "2"), Exchange("4711", "3"))
    assert given.work is not None
    assert [(each.path, each.kind) for each in given.work.changes] == [("seen", "modified")]


@platforms.SHELL
def test_a_command_that_fails_in_a_turn(tmp_path: Path) -> None:
    target = cli("case {PROMPT} in *4711) echo no >&2; exit 3;; esac; echo hm")
    assert str(refusal(target, tmp_path)) == "turn 2: the target `agent` failed: exit status 3: no"


def test_a_batch_answers_no_turns(tmp_path: Path) -> None:
    assert str(refusal(cli("true", batched=True), tmp_path)) == (
        "the target `agent` answers each case once, in a batch; a case with `turns` needs a "
        "command that is started for each turn"
    )


def test_a_fixed_answer_is_given_to_each_turn(tmp_path: Path) -> None:
    given = answer(MockTarget(name="m", response="hi"), tmp_path)
    assert read(given.text) == (Exchange("They squeak", "hi"), Exchange("4711", "hi"))


def record(root: Path, **line: Any) -> None:
    (root / "answers.jsonl").write_text(json.dumps(line), encoding="utf-8")


def test_a_recording_has_a_text_per_turn(tmp_path: Path) -> None:
    record(tmp_path, id="one", answer=["Order?", "Yes."], duration_ms=2000)
    given = answer(KEPT, tmp_path)
    assert read(given.text) == (Exchange("They squeak", "Order?"), Exchange("4711", "Yes."))
    assert given.duration_seconds == 2


@pytest.mark.parametrize(
    ("recorded", "message"),
    [
        (
            {"id": "one", "answer": "Yes."},
            "the recorded answer to the case `one` must be a list of texts, one per turn",
        ),
        (
            {"id": "one", "answer": ["Yes."]},
            "the recorded answer to the case `one` has 1 texts for 2 turns",
        ),
        (
            {"id": "two", "answer": "Yes."},
            (
                "answers.jsonl has no answer for the case `one` of evals/a.eval.yaml; "
                'add a line {"id": "one", "answer": ["…", "…"]}'
            ),
        ),
    ],
    ids=["a text", "too few", "none"],
)
def test_a_recording_that_does_not_fit(
    recorded: dict[str, Any], message: str, tmp_path: Path
) -> None:
    record(tmp_path, **recorded)
    assert str(refusal(KEPT, tmp_path)) == message


def test_the_key_of_a_cached_conversation(tmp_path: Path) -> None:
    context = build_context(tmp_path, side=Side(dependencies=lambda *_: "files"))
    keys = {
        answer_cache.key_of(build_case(turns=turns), MODEL, context)
        for turns in ((), (Turn(text="a"),), (Turn(text="b"),), (Turn(text="a"), Turn(text="b")))
    }
    assert len(keys) == 4
    same = Turn(text="a", expected_outcome="Greets")
    assert answer_cache.key_of(build_case(turns=(same,)), MODEL, context) in keys
