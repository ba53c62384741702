"""A model answers the case's input messages."""

import json
from collections.abc import Iterator
from time import perf_counter
from typing import assert_never

from rubric_ci.errors import CannotAnswer
from rubric_ci.model.config import LlmTarget
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import JSON, EvalCase, Message
from rubric_ci.model.llm_calls import ChatMessage, ModelCall, ModelReply, Usage, call_key
from rubric_ci.model.results import Answer


async def answer(case: EvalCase, target: LlmTarget, context: RunContext, attempt: int) -> Answer:
    """Send the messages and return what came back, whole; raises CannotAnswer otherwise."""
    messages = tuple(_chat_messages(case))
    if not messages:
        raise CannotAnswer("the case has no input messages to send to the model")
    call = ModelCall(
        endpoint=target.endpoint,
        messages=messages,
        key=call_key(target.endpoint, messages, turn=f"attempt {attempt}" if attempt else ""),
        about=f"{case.file}: {case.id}: answer",
    )
    started = perf_counter()
    reply = await context.call_model(call)
    seconds = perf_counter() - started
    _check(reply, target)
    # A reply from a recording took no time and cost nothing.
    live = reply.usage.calls > 0
    return Answer(
        text=reply.text,
        messages=({"role": "assistant", "content": reply.text},),
        trace_summary=_summary(reply.usage, seconds) if live else None,
        duration_seconds=seconds if live else None,
        usage=reply.usage,
    )


def _chat_messages(case: EvalCase) -> Iterator[ChatMessage]:
    """Yield the turns as text; calls of tools and their results are told, not replayed."""
    for turn in case.input_messages:
        match turn.role:
            case "system" | "user" | "assistant":
                yield ChatMessage(role=turn.role, content=_content(turn))
            case "tool":
                title = f"[result of {turn.name}]" if turn.name else "[result of a tool]"
                yield ChatMessage(role="user", content=f"{title}\n{turn.text}")
            case _:
                assert_never(turn.role)


def _content(turn: Message) -> str:
    calls = [f"[call of a tool]\n{json.dumps(dict(call), indent=2)}" for call in turn.tool_calls]
    return "\n\n".join([turn.text, *calls] if turn.text else calls)


def _check(reply: ModelReply, target: LlmTarget) -> None:
    model = target.endpoint.model
    if reply.finish == "length":
        raise CannotAnswer(
            f"{model} was cut off by its token limit; raise `max_tokens` of the target "
            f"`{target.name}`",
            reply.usage,
        )
    if not reply.text.strip():
        said = "refused to answer" if reply.finish == "refusal" else "gave an empty answer"
        raise CannotAnswer(f"{model} {said}", reply.usage)


def _summary(usage: Usage, seconds: float) -> dict[str, JSON]:
    summary: dict[str, JSON] = {
        "duration_ms": round(seconds * 1000),
        "token_usage": {"input": usage.input_tokens, "output": usage.output_tokens},
    }
    if not usage.unpriced_calls:
        summary["cost_usd"] = usage.cost_usd
    return summary
