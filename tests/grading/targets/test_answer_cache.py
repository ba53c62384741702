"""Answers in the cache: what their keys depend on, and that a kill leaves whole entries."""

import json
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.grading.targets import answer_cache
from rubric_ci.models.llm.cache_and_recording import Cache
from rubric_ci.values.context import RunContext, Side
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.messages import FilePart
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import (
    CliTarget,
    Endpoint,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    Target,
    UnsupportedTarget,
)
from tests import platforms
from tests.cases import ENVIRONMENT, build_case, build_context, build_script, text_message

NONE: dict[str, Any] = {}
MODEL = LlmTarget(name="m", endpoint=Endpoint(model="openai/a", options={"api_base": "http://a"}))
COMMAND = CliTarget(name="c", command_template="agent {PROMPT}", env=("DEMO", "OPENAI_API_KEY"))
FILE = FilePart(path="a.txt", text="A")
CASE = build_case(input_messages=(text_message("Be kind", "system"), text_message("Say hello")))


def files(known: str | None) -> Side:
    return Side(reuse=True, dependencies=lambda *_: known)


def build(root: Path, **facts: Any) -> RunContext:
    return build_context(root, **{"cache": Cache(root), "side": files("digest"), **facts})


def key(case: EvalCase, target: Target, **facts: Any) -> str | None:
    return answer_cache.key_of(case, target, build(Path(), **facts))


def asked(text: str, *parts: FilePart) -> EvalCase:
    message = text_message(text)
    return replace(CASE, input_messages=(replace(message, parts=(*message.parts, *parts)),))


OTHER_HOST = replace(MODEL.endpoint, options={"api_base": "http://b"})
KEYED: dict[str, tuple[Target, EvalCase, Target, dict[str, Any]]] = {
    "model": (MODEL, CASE, replace(MODEL, endpoint=replace(MODEL.endpoint, model="b")), NONE),
    "host": (MODEL, CASE, replace(MODEL, endpoint=OTHER_HOST), NONE),
    "prompt": (MODEL, asked("Say hello"), MODEL, NONE),
    "file of a message": (MODEL, asked("Say hello", FILE), MODEL, NONE),
    "trial": (MODEL, CASE, MODEL, {"trial": 1}),
    "files of depends_on": (MODEL, CASE, MODEL, {"side": files("other")}),
    "command": (COMMAND, CASE, replace(COMMAND, command_template="agent -v {PROMPT}"), NONE),
    "folder of the command": (COMMAND, CASE, replace(COMMAND, cwd="app"), NONE),
    "variable": (COMMAND, CASE, COMMAND, {"environment": ENVIRONMENT | {"DEMO": "off"}}),
    "prompt of a command": (COMMAND, asked("Say hello"), COMMAND, NONE),
    "file of a command": (COMMAND, asked("Say hello", FILE), COMMAND, NONE),
}  # fmt: skip
SAME: dict[str, tuple[Target, EvalCase, Target, dict[str, Any]]] = {
    "nothing": (MODEL, CASE, MODEL, NONE),
    "rubrics": (MODEL, replace(CASE, evaluators=(build_script("true"),)), MODEL, NONE),
    "id": (COMMAND, replace(CASE, id="two"), COMMAND, NONE),
    "expected outcome": (MODEL, replace(CASE, expected_outcome="Hi"), MODEL, NONE),
    "name of the target": (MODEL, CASE, replace(MODEL, name="n"), NONE),
    "value of a key": (
        COMMAND, CASE, COMMAND, {"environment": ENVIRONMENT | {"OPENAI_API_KEY": "sk-other"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("target", "case", "other", "facts"), KEYED.values(), ids=KEYED)
def test_what_determines_an_answer_changes_its_key(
    target: Target, case: EvalCase, other: Target, facts: dict[str, Any]
) -> None:
    before, after = key(CASE, target), key(case, other, **facts)
    assert None not in (before, after)
    assert before != after


@pytest.mark.parametrize(("target", "case", "other", "facts"), SAME.values(), ids=SAME)
def test_what_does_not_determine_an_answer_is_not_in_its_key(
    target: Target, case: EvalCase, other: Target, facts: dict[str, Any]
) -> None:
    assert key(CASE, target) == key(case, other, **facts)


@pytest.mark.parametrize(
    ("target", "facts"),
    [
        pytest.param(replace(MODEL, cache=False), NONE, id="cache: false"),
        pytest.param(replace(COMMAND, cache=False), NONE, id="cache: false of a command"),
        pytest.param(RecordedTarget(name="r", answers="a.jsonl"), NONE, id="recorded"),
        pytest.param(MockTarget(name="m", response="Hi"), NONE, id="fixed"),
        pytest.param(UnsupportedTarget(name="u", provider="x"), NONE, id="not supported"),
        pytest.param(COMMAND, {"side": files(None)}, id="unknown files"),
        pytest.param(COMMAND, {"side": Side(reuse=True)}, id="no files"),
    ],
)
def test_an_answer_that_is_not_kept(target: Target, facts: dict[str, Any]) -> None:
    assert key(CASE, target, **facts) is None


ANSWER = Answer(
    text="Hello \u2028 \udc80",
    messages=({"role": "assistant", "content": "Hello"},),
    trace_summary={"duration_ms": 12},
    duration_seconds=0.5,
)


def test_a_kept_answer_is_found(tmp_path: Path) -> None:
    context = build(tmp_path)
    assert answer_cache.find(CASE, COMMAND, context) is None
    answer_cache.keep(CASE, COMMAND, context, ANSWER)
    found = answer_cache.find(CASE, COMMAND, context)
    assert found is not None
    assert found.answered_at.endswith("+00:00")
    assert replace(found, answered_at="") == ANSWER
    fresh = replace(context, side=replace(context.side, reuse=False))
    assert answer_cache.find(CASE, COMMAND, fresh) is None
    assert answer_cache.find(CASE, COMMAND, replace(context, cache=None)) is None


def test_an_answer_with_a_secret_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_API_KEY", "correct-horse")
    answer = Answer(text="Use correct-horse")
    answer_cache.keep(CASE, COMMAND, build(tmp_path), answer)
    assert Cache(tmp_path).stats().entries == 0


def change(name: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda facts: {**facts, name: value}


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda _: [], id="no object"),
        pytest.param(change("text", 1), id="text"),
        pytest.param(change("messages", {}), id="messages"),
        pytest.param(change("trace_summary", []), id="summary"),
        pytest.param(change("duration_seconds", "1"), id="seconds"),
        pytest.param(change("answered_at", ""), id="time"),
    ],
)
def test_an_entry_of_another_form(tmp_path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    context, cache = build(tmp_path), Cache(tmp_path)
    answer_cache.keep(CASE, COMMAND, context, ANSWER)
    known = answer_cache.key_of(CASE, COMMAND, context)
    assert known is not None
    cache.put(known, json.dumps(edit(json.loads(cache.get(known) or ""))))
    assert answer_cache.find(CASE, COMMAND, context) is None


WRITERS, KILLS, CASES = 6, 4, 40
LONG = "x" * 50_000


def numbered(number: int) -> EvalCase:
    return replace(CASE, input_messages=(text_message(f"Say {number}"),))


def _write(folder: Path, seed: int) -> None:
    """Keep answers until killed."""
    context, chance = build(folder), random.Random(seed)
    while True:
        number = chance.randrange(CASES)
        text = f"{number} {seed} {LONG}"
        answer_cache.keep(numbered(number), COMMAND, context, Answer(text=text))


@platforms.SIGNALS
def test_many_writers_killed_at_any_moment_leave_whole_answers(tmp_path: Path) -> None:
    """After each kill of all writers every entry is read back whole, with its own answer."""
    fork, chance = multiprocessing.get_context("fork"), random.Random(14)
    for turn in range(KILLS):
        writers = [
            fork.Process(target=_write, args=(tmp_path, turn * WRITERS + n)) for n in range(WRITERS)
        ]
        for writer in writers:
            writer.start()
        time.sleep(chance.random() * 0.1)
        for writer in writers:
            os.kill(writer.pid or 0, signal.SIGKILL)
        for writer in writers:
            writer.join()
            assert writer.exitcode == -signal.SIGKILL
        found = [answer_cache.find(numbered(n), COMMAND, build(tmp_path)) for n in range(CASES)]
        whole = [(n, each.text) for n, each in enumerate(found) if each]
        assert all(text.startswith(f"{n} ") and text.endswith(f" {LONG}") for n, text in whole)
        assert Cache(tmp_path).stats().entries == len(whole)
    assert Cache(tmp_path).stats().entries > 0
