"""Minimal cases, answers and contexts for tests."""

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from rubric_ci.errors import CannotReachModel
from rubric_ci.values.context import RunContext
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import CodeJudgeSpec, EvalCase
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelReply, Unsent
from rubric_ci.values.messages import Message, Role, TextPart
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import Endpoint

Found = TypeVar("Found")

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nowhere",
    "OPENAI_API_KEY": "sk-secret",
    "DEMO": "on",
}


def span(line: int = 1) -> Span:
    return Span(line, 1, line, 2)


def text_message(text: str, role: Role = "user") -> Message:
    return Message(role=role, parts=(TextPart(text),))


def build_case(**facts: Any) -> EvalCase:
    defaults: dict[str, Any] = {
        "id": "one",
        "file": "evals/a.eval.yaml",
        "span": span(3),
        "input_messages": (text_message("Say hello"),),
    }
    return EvalCase(**{**defaults, **facts})


def build_script(script: str | tuple[str, ...], **facts: Any) -> CodeJudgeSpec:
    defaults: dict[str, Any] = {"name": "check", "cwd": ".", "span": span(7), "timeout_seconds": 20}
    return CodeJudgeSpec(**{**defaults, "script": script, **facts})


def build_call(model: str = "m", content: str = "?", **facts: Any) -> ModelCall:
    """Return a call with one message of the user; `options` are those of its endpoint."""
    endpoint = Endpoint(model=model, options=facts.pop("options", {}))
    messages = (ChatMessage(role="user", content=content),)
    return ModelCall(**{"endpoint": endpoint, "messages": messages, "key": "k", **facts})


async def no_model(call: ModelCall) -> ModelReply:
    raise CannotReachModel(f"no model answers {call.about}")


def build_context(root: Path, **facts: Any) -> RunContext:
    defaults: dict[str, Any] = {"call_model": no_model, "root": root, "environment": ENVIRONMENT}
    return RunContext(**{**defaults, **facts})


def text_answer(text: str) -> Answer:
    return Answer(text=text)


def marked_by(work: Coroutine[Any, Any, Found | Unsent]) -> Found:
    """Run a judgement that sends its requests."""
    found = asyncio.run(work)
    assert not isinstance(found, Unsent)
    return found


class MemoryCache(dict[str, str]):
    """A cache for the length of a test."""

    get = dict.get
    put = dict.__setitem__

    def is_empty(self) -> bool:
        return not self
