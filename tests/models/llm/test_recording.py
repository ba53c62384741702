"""Recorded replies are returned unchanged, a missing one is an error; what `--debug` writes."""

import asyncio
import json
from io import StringIO
from pathlib import Path

import pytest

from rubric_ci.errors import CannotReachModel, CannotReadFile, CannotWriteFile
from rubric_ci.models.llm.recording import log_requests, record, replay
from rubric_ci.system import masking
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from tests.cases import build_call


def call(key: str, about: str = "") -> ModelCall:
    return build_call(key=key, about=about)


def reply(ask: ModelCaller, one: ModelCall) -> ModelReply:
    async def asked() -> ModelReply:
        return await ask(one)

    return asyncio.run(asked())


def asked(ask: ModelCaller, *keys: str) -> list[str]:
    return [reply(ask, call(key)).text for key in keys]


async def echo(one: ModelCall) -> ModelReply:
    return ModelReply(text=one.key)


def test_what_is_recorded_is_replayed_at_no_cost(tmp_path: Path) -> None:
    file = tmp_path / "new" / "judge.jsonl"
    said = ModelReply(text="ja\u2028\n\udc80", finish="length", usage=Usage(calls=2, cost_usd=1))

    async def model(_: ModelCall) -> ModelReply:
        return said

    assert asked(record(file, tmp_path).wrap(model), "a") == [said.text]
    assert reply(replay(file, file.parent).ask, call("a")) == ModelReply(
        text=said.text, finish="length", usage=Usage()
    )


def test_a_recording_names_what_was_asked(tmp_path: Path) -> None:
    file = tmp_path / "judge.jsonl"
    reply(record(file, file.parent).wrap(echo), call("a", "evals/a.yaml: case: rubric"))
    line = json.loads(file.read_text())
    assert (line["key"], line["about"], line["model"]) == ("a", "evals/a.yaml: case: rubric", "m")


def test_a_fresh_recording_forgets_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "judge.jsonl"
    file.write_text("old")
    asked(record(file, file.parent).wrap(echo), "a", "b")
    assert asked(replay(file, file.parent).ask, "b", "a") == ["b", "a"]


def test_replies_to_one_key_come_in_order_the_last_for_ever(tmp_path: Path) -> None:
    file = tmp_path / "judge.jsonl"
    lines = [{"key": "a", "text": text, "finish": "stop"} for text in ("one", "two")]
    file.write_text("\n\n".join(json.dumps(line) for line in lines))
    assert asked(replay(file, file.parent).ask, "a", "a", "a") == ["one", "two", "two"]


def test_a_missing_reply_says_whose_and_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "judge.jsonl"
    file.write_text("")
    with pytest.raises(CannotReachModel) as ended:
        reply(replay(file, file.parent).ask, call("a", "evals/a.yaml: case: rubric"))
    assert str(ended.value) == (
        f"{file}: no recorded reply to this request (evals/a.yaml: case: rubric); record again "
        "with --record: the case, the answer, the judge or the prompt changed"
    )


BROKEN = {
    "no JSON": "{",
    "no object": "[]",
    "no key": '{"text": "a", "finish": "stop"}',
    "text is none": '{"key": "a", "text": null, "finish": "stop"}',
    "unknown end": '{"key": "a", "text": "a", "finish": "maybe"}',
}


@pytest.mark.parametrize("line", BROKEN.values(), ids=BROKEN)
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "judge.jsonl"
    file.write_text(f'{{"key": "a", "text": "a", "finish": "stop"}}\n{line}\n')
    with pytest.raises(CannotReadFile) as ended:
        replay(file, file.parent)
    assert ended.value.message == f"{file}:2: not a recorded reply"


UNREADABLE: dict[str, tuple[bytes | None, str]] = {
    "not there": (None, "No such file or directory"),
    "not UTF-8": (b"\xff", "it is not UTF-8"),
}


@pytest.mark.parametrize(("data", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_recording_that_cannot_be_read(tmp_path: Path, data: bytes | None, reason: str) -> None:
    file = tmp_path / "judge.jsonl"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(CannotReadFile) as ended:
        replay(file, tmp_path)
    assert ended.value.message == f"{file}: cannot read the recording: {reason}"
    assert ended.value.hint == "create one with --record FILE, or run without --replay"


def test_a_recording_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(CannotWriteFile, match="cannot write the recording"):
        record(tmp_path / "folder", tmp_path)
    with pytest.raises(CannotWriteFile, match="a file stands in the place of a folder"):
        record(tmp_path / "file" / "judge.jsonl", tmp_path)


CALL = ModelCall(
    endpoint=Endpoint(model="openai/gpt-6-luna"),
    messages=(
        ChatMessage(role="system", content="Mark the answer."),
        ChatMessage(role="user", content="one\n::error::two s3cr3t-key"),
    ),
    key="0",
    about="evals/a.yaml: case-1: rubric",
    output_schema={"type": "object"},
)


async def replies(_: ModelCall) -> ModelReply:
    return ModelReply(text='{"c1": 1}\n::stop::')


async def fails(_: ModelCall) -> ModelReply:
    raise CannotReachModel("HTTP 401: wrong key s3cr3t-key")


def test_requests_and_replies() -> None:
    masking.hide(["s3cr3t-key"])
    stream = StringIO()
    logged = log_requests(replies, stream)
    reply(logged, CALL)
    assert stream.getvalue().splitlines() == [
        "[debug 1] request to openai/gpt-6-luna (evals/a.yaml: case-1: rubric)",
        '[debug 1] schema: {"type": "object"}',
        "[debug 1] system: Mark the answer.",
        "[debug 1] user: one",
        "[debug 1] : :error::two ***",
        "[debug 1] reply: 0 + 0 tokens, finish stop",
        '[debug 1] {"c1": 1}',
        "[debug 1] : :stop::",
    ]


def test_an_error_is_logged_and_raised() -> None:
    masking.hide(["s3cr3t-key"])
    stream = StringIO()
    with pytest.raises(CannotReachModel):
        reply(log_requests(fails, stream), CALL)
    assert stream.getvalue().splitlines()[-1] == "[debug 1] error: HTTP 401: wrong key ***"
