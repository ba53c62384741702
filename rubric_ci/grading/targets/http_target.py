"""Services: what is sent for a case, and the answer in the reply."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Coroutine, Mapping
from dataclasses import asdict, replace
from secrets import token_hex
from typing import Any, Final

from rubric_ci.errors import CannotAnswer, CannotReadFile, NoVerdict
from rubric_ci.grading.targets import llm
from rubric_ci.values.context import RunContext, RunningService
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON, nodes, with_texts
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, call_key
from rubric_ci.values.media import Media
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import ServiceTarget
from rubric_ci.values.usage import Usage

_POLL_SECONDS: Final = 0.1
_GRACE_SECONDS: Final = 0.5
_KNOWS_EARLIER: Final = frozenset(("messages", "history", "input", "session_id"))
_WHOLE: Final = ("files", "messages")  # variables that are lists where they are a whole value


def new_session() -> str:
    """Return the id of a conversation, one for each trial."""
    return token_hex(16)


async def answer(
    case: EvalCase, target: ServiceTarget, context: RunContext, attempt: int, session: str
) -> Answer:
    """Return the answer of the service; raises NoVerdict if there is none.

    The session is in no key: the same request is found again in a recording.
    """
    messages = sent(case, target, session)
    side = "base" if context.side.is_base else ""
    turn = ", ".join(filter(None, (side, f"attempt {attempt}" if attempt else "")))
    call = ModelCall(
        endpoint=target.endpoint,
        messages=messages,
        key=call_key(target.endpoint, messages, turn=turn, fence=session),
        about=f"{case.file}: {case.id}: answer",
    )
    if target.program is None or context.offline or context.replays:
        return await llm.asked(call, target, context)
    if context.services is None:
        raise CannotAnswer(f"the service `{target.name}` is started by `rubric-ci run` only")
    running = await context.services.running(target, context)
    call = replace(call, endpoint=running.endpoint)
    return await _unless_it_ends(llm.asked(call, target, context), running)


async def _unless_it_ends(asking: Coroutine[Any, Any, Answer], service: RunningService) -> Answer:
    """Return the answer; raises CannotAnswer with the last lines of a service that ends."""
    task = asyncio.create_task(asking)
    try:
        while not (await asyncio.wait([task], timeout=_POLL_SECONDS))[0]:
            if why := service.why_ended():
                await asyncio.wait([task], timeout=_GRACE_SECONDS)  # its last reply may arrive
                break
        if task.done():
            return task.result()
    except NoVerdict as error:
        if why := service.why_ended():
            raise CannotAnswer(why, error.usage) from None
        raise
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    raise CannotAnswer(why, Usage(calls=1, unpriced_calls=1))


def key_parts(case: EvalCase, target: ServiceTarget, _: RunContext) -> JSON:
    """Return the facts that determine an answer, besides files; None: a variable is missing."""
    try:
        messages = sent(case, target, session="")
    except CannotAnswer:
        return None
    program = None if target.program is None else asdict(target.program)
    options = target.endpoint.options
    return ["service", call_key(target.endpoint, messages), options["api_base"], program]


def sent(case: EvalCase, target: ServiceTarget, session: str) -> tuple[ChatMessage, ...]:
    """Return the body of the request as one message.

    Raises CannotAnswer if the case lacks a variable of it.
    """
    http = target.endpoint.http
    assert http is not None  # noqa: S101 - a service has it
    variables = {**_variables(case, http.encode, session), **case.vars, "input": case.question}
    if _has_earlier(case) and not _KNOWS_EARLIER & _names(http.body):
        raise CannotAnswer(
            f"the service `{target.name}` would not know the messages before the last one: put "
            "`{{ messages }}`, `{{ history }}` or `{{ session_id }}` into its `body`"
        )
    body = _filled(http.body, variables, f"`body` of the target `{target.name}`")
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return (ChatMessage(role="user", content=text),)


def _has_earlier(case: EvalCase) -> bool:
    """Return True if messages of a conversation stand before its last one."""
    return sum(each.role != "system" and not each.is_guideline for each in case.input_messages) > 1


def _names(body: JSON) -> frozenset[str]:
    from rubric_ci.text import template  # few cases have several messages

    texts = [each for _, each in nodes(body) if isinstance(each, str)]
    used = [template.used(text).names for text in texts if template.is_template(text)]
    return frozenset[str]().union(*used)


def _variables(case: EvalCase, encode: str, session: str) -> dict[str, JSON]:
    """Return the variables of a body that each case has."""
    chat = llm.chat_messages(case)
    last = max((n for n, each in enumerate(chat) if each.role == "user"), default=len(chat))
    return {
        "files": _files(case, encode),
        "message": "".join(each.content for each in chat[last : last + 1]) or case.question,
        "messages": [{"role": each.role, "content": each.content} for each in chat],
        "history": "\n\n".join(f"[{each.role}]\n{each.content}" for each in chat[:last]),
        "session_id": session,
    }


def _files(case: EvalCase, encode: str) -> list[JSON]:
    """Return the images and documents of a case for a body; raises CannotAnswer."""
    return [
        {"path": each.path, "type": each.type}
        | ({"data": b64encode(_content(each)).decode("ascii")} if encode else {})
        for each in case.media
    ]


def _content(media: Media) -> bytes:
    from rubric_ci.models.llm.media import content  # few cases have one

    try:
        return content(media)
    except CannotReadFile as error:
        raise CannotAnswer(error.message) from None


def _filled(value: JSON, variables: Mapping[str, JSON], what: str) -> JSON:
    """Return the value with its texts rendered; keys are not templates."""

    def rendered(text: str) -> JSON:
        name = _whole(text)
        return variables[name] if name in variables else llm.rendered(text, variables, what)

    return with_texts(value, rendered)


def _whole(text: str) -> str:
    """Return the list that is a whole value; empty: a text with variables."""
    return next((name for name in _WHOLE if text.strip() == f"{{{{ {name} }}}}"), "")
