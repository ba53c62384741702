"""Paraphrases of an answer by a model: variants that must not matter, like those of `harmless`."""

import re
from collections import Counter
from functools import partial
from typing import Final

from rubric_ci.judge.prompt import about_fences, fenced, judge_call
from rubric_ci.judge.reply import InvalidReply, find_object, strict_object
from rubric_ci.judge.request import new_fence, request_cached_reply
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.context import RunContext
from rubric_ci.model.llm_calls import ChatMessage, Usage, call_key
from rubric_ci.probe.harmless import PARAPHRASE
from rubric_ci.probe.variants import Variant

PROMPT_VERSION: Final = "1"
COUNT: Final = 2
MAX_TOKENS: Final = 8192

_SYSTEM: Final = f"""\
You rewrite an answer in other words, {COUNT} times.

Each version says the same as the answer: every statement, number, name, unit, condition, link and \
piece of code stays, and nothing is added. Keep the language, the form (lists, paragraphs) and \
about the length. Change the wording and the structure of sentences.

{{data}}

Reply with one JSON object of this form and nothing else: {{{{"paraphrases": ["...", "..."]}}}}"""
_SCHEMA: Final = strict_object({"paraphrases": {"type": "array", "items": {"type": "string"}}})
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


async def paraphrases(
    answer: str, about: str, model: JudgeConfig, context: RunContext
) -> tuple[tuple[Variant, ...], Usage]:
    """Return the paraphrases of an answer and what they cost; raises NoVerdict."""
    fence = new_fence()
    messages = (
        ChatMessage(role="system", content=_SYSTEM.format(data=about_fences(fence))),
        ChatMessage(role="user", content=fenced("answer", answer, fence)),
    )
    turn = f"paraphrase {PROMPT_VERSION}"
    key = call_key(model.endpoint, messages, schema=_SCHEMA, turn=turn, fence=fence)
    call = judge_call(messages, model, key=key, schema=_SCHEMA, about=about, max_tokens=MAX_TOKENS)
    reply = await request_cached_reply(call, partial(_read, answer=answer), context)
    made = (
        Variant(family=PARAPHRASE, text=text, change=f"paraphrase {n} of {COUNT}")
        for n, text in enumerate(reply.value, start=1)
    )
    return tuple(made), reply.usage


def _read(text: str, answer: str) -> tuple[str, ...] | InvalidReply:
    """Return the paraphrases; each has the numbers of the answer."""
    match find_object(text):
        case InvalidReply() as invalid:
            return invalid
        case {"paraphrases": [str(one), str(other)]} if one.strip() and other.strip():
            wanted = Counter(_NUMBER.findall(answer))
            if any(Counter(_NUMBER.findall(each)) != wanted for each in (one, other)):
                numbers = ", ".join(wanted.elements()) or "none"
                return InvalidReply((f"each paraphrase must have the answer's numbers: {numbers}",))
            return one, other
        case _:
            return InvalidReply(('the object must have "paraphrases", a list of two texts',))
