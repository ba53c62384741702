"""Model targets: a model answers the case's input messages."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import assert_never

from rubric_ci.errors import CannotAnswer
from rubric_ci.grading.targets import answer_format
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelReply, call_key, message_of
from rubric_ci.values.media import Media, with_names
from rubric_ci.values.messages import MediaPart, Message, Part
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import LlmTarget
from rubric_ci.values.usage import Usage
from rubric_ci.values.workspace_settings import PromptTemplate


async def answer(case: EvalCase, target: LlmTarget, context: RunContext, attempt: int) -> Answer:
    """Return the model's reply; raises CannotAnswer if it is empty, truncated or a refusal."""
    messages = tuple(chat_messages(case, target.prompt))
    if not messages:
        raise CannotAnswer("the case has no input messages to send to the model")
    call = ModelCall(
        endpoint=target.endpoint,
        messages=messages,
        key=call_key(target.endpoint, messages, turn=f"attempt {attempt}" if attempt else ""),
        about=f"{case.file}: {case.id}: answer",
    )
    return await asked(call, target, context)


async def asked(call: ModelCall, target: LlmTarget, context: RunContext) -> Answer:
    """Return the reply to a call; raises CannotAnswer as `answer` does."""
    started = perf_counter()
    reply = await context.call_model(call)
    seconds = perf_counter() - started
    _check(reply, target)
    # A reply from a recording has no duration and no cost.
    live = reply.usage.calls > 0
    text = with_names(reply.text, reply.media) if reply.media else reply.text
    calls = {"role": "assistant", "tool_calls": list(reply.calls)}
    messages: tuple[Mapping[str, JSON], ...] = (
        *([calls] if reply.calls else []),
        {"role": "assistant", "content": text},
    )
    reports_calls = target.endpoint.http is not None and bool(target.endpoint.http.tool_calls)
    counts = answer_format.counts(messages) if reports_calls else {}
    summary = {**counts, **(_summary(reply.usage, seconds, target) if live else {})}
    return Answer(
        text=text,
        messages=messages,
        has_no_tools=not reports_calls,
        media=reply.media,
        trace_summary=summary or None,
        duration_seconds=seconds if live else None,
        usage=reply.usage,
    )


def rendered(text: str, variables: Mapping[str, JSON], what: str) -> str:
    """Return the text of a template; raises CannotAnswer if a variable is missing."""
    from rubric_ci.text.template import NotRendered, render  # few targets need Jinja2

    try:
        return render(text, variables)
    except NotRendered as error:
        raise CannotAnswer(f"{what}: {error}") from None


def chat_messages(case: EvalCase, prompt: PromptTemplate | None = None) -> list[ChatMessage]:
    """Return the messages as text; guidelines are at the start of the system message.

    Raises CannotAnswer if the case lacks a variable of the prompt.
    """
    messages = [_chat_message(each) for each in case.input_messages if not each.is_guideline]
    if prompt:
        messages = [*_prompt_messages(prompt, case), *([] if prompt.takes_input else messages)]
    messages = list(_varied(messages, case.variant))
    if not case.guidelines:
        return messages
    texts = ["[[ ## Guidelines ## ]]", *(part.text for part in case.guidelines)]
    if messages and messages[0].role == "system":
        texts.append(messages.pop(0).content)
    return [ChatMessage(role="system", content="\n\n".join(texts)), *messages]


def _varied(messages: Sequence[ChatMessage], blanks: str) -> Iterator[ChatMessage]:
    """Yield the messages, the last one of the user with blanks at its end."""
    last = max((n for n, each in enumerate(messages) if each.role == "user"), default=-1)
    for number, each in enumerate(messages):
        if number != last or not blanks:
            yield each
        elif each.parts and isinstance(each.parts[-1], str):
            yield replace(each, parts=(*each.parts[:-1], each.parts[-1] + blanks))
        elif each.parts:
            yield replace(each, parts=(*each.parts, blanks))
        else:
            yield replace(each, content=each.content + blanks)


def _prompt_messages(prompt: PromptTemplate, case: EvalCase) -> list[ChatMessage]:
    variables = {**case.vars, "input": replace(case, variant="").question}
    return [
        ChatMessage(role=role, content=rendered(text, variables, f"`{prompt.path}`"))
        for role, text in prompt.messages
    ]


def _chat_message(message: Message) -> ChatMessage:
    """Return a message as text; tool calls and their results are written out."""
    match message.role:
        case "user" if message.media:
            return message_of("user", map(_sent_part, message.parts))
        case "system" | "user" | "assistant":
            return ChatMessage(role=message.role, content=_text_with_calls(message))
        case "tool":
            title = f"[result of {message.name}]" if message.name else "[result of a tool]"
            if message.media:
                return message_of("user", [title, *map(_sent_part, message.parts)])
            return ChatMessage(role="user", content=f"{title}\n{message.text}")
        case _:
            assert_never(message.role)


def _sent_part(part: Part) -> str | Media:
    return part.media if isinstance(part, MediaPart) else part.text


def _text_with_calls(message: Message) -> str:
    calls = [f"[call of a tool]\n{json.dumps(dict(call), indent=2)}" for call in message.tool_calls]
    return "\n\n".join([message.text, *calls] if message.text else calls)


def _check(reply: ModelReply, target: LlmTarget) -> None:
    model = target.endpoint.model
    if reply.finish == "length":
        raise CannotAnswer(
            f"{model} reached its token limit; increase `max_tokens` of the target `{target.name}`",
            reply.usage,
        )
    if not reply.text.strip() and not reply.media:
        problem = "refused to answer" if reply.finish == "refusal" else "gave an empty answer"
        raise CannotAnswer(f"{model} {problem}", reply.usage)


def _summary(usage: Usage, seconds: float, target: LlmTarget) -> dict[str, JSON]:
    summary: dict[str, JSON] = {"duration_ms": round(seconds * 1000)}
    http = target.endpoint.http
    if http is None or {"input_tokens", "output_tokens"} & http.usage.keys():
        tokens = {"input": usage.input_tokens, "output": usage.output_tokens}
        summary["token_usage"] = tokens
    if not usage.unpriced_calls:
        summary["cost_usd"] = usage.cost_usd
    return summary
