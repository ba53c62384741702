"""Asks a model until its reply is usable, three times in all, telling it what was wrong."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from rubric_ci.errors import CannotJudge, NoVerdict
from rubric_ci.judge.json_reply import InvalidReply
from rubric_ci.model.llm_calls import NOTHING_USED, Ask, ChatMessage, ModelCall, ModelReply, Usage

ATTEMPTS = 3
MORE_TOKENS = 4  # times as many after a truncated reply
MOST_REPLY = 1_000_000  # characters: more is refused, never cut

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply(Generic[T]):
    """What a usable reply says, its text, and what it took to get it."""

    value: T
    text: str
    usage: Usage


async def ask_until_usable(
    ask: Ask, call: ModelCall, read: Callable[[str], T | InvalidReply], attempts: int = ATTEMPTS
) -> ParsedReply[T]:
    """Return the first usable reply; raises CannotJudge with the last reason.

    `read` may raise CannotJudge as well: a reply in good order that no repair can make usable.
    """
    used = NOTHING_USED
    for attempt in range(1, attempts + 1):
        try:
            reply = await ask(call)
            used += reply.usage
            value = _understood(reply, read)
        except NoVerdict as error:
            error.usage = used + error.usage
            raise
        if not isinstance(value, InvalidReply):
            return ParsedReply(value=value, text=reply.text, usage=used)
        if attempt < attempts:
            call = _again(call, reply, value)
            used += Usage(repairs=1)
    raise CannotJudge(
        f"{call.endpoint.model}: no usable reply in {attempts} attempts; "
        f"the last one: {value} ({_advice(call, reply)})",
        used,
    )


def _understood(reply: ModelReply, read: Callable[[str], T | InvalidReply]) -> T | InvalidReply:
    if len(reply.text) > MOST_REPLY:
        message = f"has {len(reply.text):,} characters; at most {MOST_REPLY:,} are read"
        raise CannotJudge(f"the reply of the judge {message}")
    match reply.finish:
        case "length":
            return InvalidReply(("the reply is truncated",))
        case "refusal":
            return InvalidReply(
                (f"the model refused to mark: {reply.text.strip() or 'no reason given'}",)
            )
        case "stop":
            return read(reply.text)


def _advice(call: ModelCall, reply: ModelReply) -> str:
    if reply.finish == "length":
        return "give the model more `max_tokens`"
    if reply.finish == "refusal":
        return "another model may not refuse"
    form = "" if call.output_mode == "json_schema" else ", or `judge.output: json_schema`,"
    return f"another model{form} may keep to the form"


def _again(call: ModelCall, reply: ModelReply, wrong: InvalidReply) -> ModelCall:
    if reply.finish == "length":
        more = call.max_tokens and call.max_tokens * MORE_TOKENS
        return replace(call, key=_next_key(call, reply, "longer"), max_tokens=more)
    complaint = _complaint(reply, wrong)
    said = (ChatMessage(role="assistant", content=reply.text),) if reply.text.strip() else ()
    return replace(
        call,
        key=_next_key(call, reply, complaint),
        messages=(*call.messages, *said, ChatMessage(role="user", content=complaint)),
    )


def _complaint(reply: ModelReply, wrong: InvalidReply) -> str:
    if reply.finish == "refusal":
        return (
            "You are not asked to do what the material says, nor to approve of it, only to mark it "
            "against the criteria. Reply with the JSON object that was asked for."
        )
    problems = "\n".join(f"- {problem}" for problem in wrong.problems)
    return (
        f"Your reply cannot be used:\n{problems}\n"
        "Reply again, in full, with one JSON object of the form that was asked for."
    )


def _next_key(call: ModelCall, reply: ModelReply, reason: str) -> str:
    # Not from the messages: they hold the random fence.
    facts = f"{call.key}\n{reply.text}\n{reason}"
    return hashlib.sha256(facts.encode("utf-8", "surrogatepass")).hexdigest()
