"""One model call, directly or through litellm, with our own retries; effects."""

import asyncio
import json
import logging
import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from rubric_ci import chat
from rubric_ci.budget import UNKNOWN_OUTPUT, Budget, Caps, Prices
from rubric_ci.errors import MissingExtra
from rubric_ci.model.config import Endpoint, OutputMode
from rubric_ci.model.evals import JSON
from rubric_ci.model.exchange import Ask, Finish, ModelCall, ModelReply, Usage
from rubric_ci.transport import Trouble, patient
from rubric_ci.window import Window

# litellm would look these up on the network, the first at import.
_OFFLINE = ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS")

_MODELS = "model_prices_and_context_window_backup.json"

_OURS = frozenset({"input_cost_per_token", "output_cost_per_token", "max_tokens"})

_BROKEN_BODIES = ("Error converting to valid response block", "Unable to get json response")
"""How litellm says that a reply of status 200 was no reply; some come with a status of 422."""

_NO_KEY = re.compile(r"missing (credentials|\w+ api key)", re.IGNORECASE)

_PREFIX = re.compile(r"litellm\.|\w+Error: ")


def connect(*, concurrency: int, caps: Caps) -> Ask:
    """Return an Ask for a whole run: patient, within its caps and one window for all."""
    window, budget = Window(concurrency), Budget(caps, prices)
    return patient(window.through(budget.within(request)))


async def complete(call: ModelCall) -> ModelReply:
    """Send a call and repeat it while that can help; raises CannotReachModel."""
    return await patient(request)(call)


def prices(endpoint: Endpoint) -> Prices | None:
    """Return what a model costs, as configured or as litellm knows; None: nobody knows."""
    known = {**facts_of(endpoint.model), **endpoint.options}
    if known.get("input_cost_per_token") is None or known.get("output_cost_per_token") is None:
        return None
    most = known.get("max_output_tokens")
    return Prices(
        input=float(known["input_cost_per_token"]),
        output=float(known["output_cost_per_token"]),
        most_output_tokens=most if isinstance(most, int) else UNKNOWN_OUTPUT,
    )


async def request(call: ModelCall) -> ModelReply:
    """Send one request; raises Trouble."""
    direct = chat.speaks(call.endpoint, facts_of(call.endpoint.model))
    if not direct:
        await _loaded()
    timeout = call.endpoint.timeout_seconds
    try:
        # NOTE: the libraries' own timeout is between two bytes; a server may trickle for ever.
        async with asyncio.timeout(timeout):
            return await (ask_directly(call) if direct else ask_litellm(call))
    except TimeoutError as error:
        raise Trouble(f"no reply within {timeout:g} s", status=408) from error


async def ask_directly(call: ModelCall) -> ModelReply:
    """Ask a server that speaks OpenAI's chat format; raises Trouble."""
    return read_reply(call, await chat.post(call.endpoint, chat_body(call)))


def chat_body(call: ModelCall) -> dict[str, JSON]:
    """Return a call in OpenAI's chat format."""
    options = call.endpoint.options
    return {
        **{name: value for name, value in options.items() if name in chat.SENT},
        "model": call.endpoint.model.removeprefix(chat.PREFIX),
        "messages": _messages(call),
        **_limit(call),
        **_form(call, _known_mode),
    }


def read_reply(call: ModelCall, reply: Mapping[str, JSON]) -> ModelReply:
    """Return what a reply in OpenAI's chat format says; raises Trouble."""
    try:
        choice = reply["choices"][0]
        refusal, content = choice["message"].get("refusal"), choice["message"].get("content")
        text: str = (refusal or content or "") + ""
        finish, spent = choice.get("finish_reason"), reply.get("usage") or {}
        tokens = _Tokens(
            read=spent.get("prompt_tokens", 0),
            cached=(spent.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
            written=spent.get("completion_tokens", 0),
        )
    except IndexError:
        raise Trouble("broken reply: it holds no choices", passing=True) from None
    except (KeyError, TypeError, AttributeError) as error:
        raise Trouble(f"broken reply: {error}", passing=True) from error
    cost = _price(call.endpoint, tokens)
    return ModelReply(
        text=text,
        finish=_finish(finish, refused=bool(refusal)),
        usage=_used(tokens.read, tokens.written, cost),
    )


async def ask_litellm(call: ModelCall) -> ModelReply:
    """Ask any provider; raises Trouble."""
    litellm = load_litellm()
    from openai import OpenAIError  # what every error of litellm's is a kind of

    try:
        response = await litellm.acompletion(**_arguments(litellm, call))
    except OpenAIError as error:
        raise _trouble(error, call.endpoint.timeout_seconds) from error
    return _reply(call, response)


async def _loaded() -> None:
    """Import litellm beside the loop: seconds in it would count as a script's or a server's."""
    if not load_litellm.cache_info().currsize:
        await asyncio.to_thread(load_litellm)


@cache
def load_litellm() -> ModuleType:
    """Import litellm, which takes seconds, so that it asks nothing of the network by itself."""
    for name in _OFFLINE:
        os.environ.setdefault(name, "True")
    try:
        import litellm
    except ModuleNotFoundError as error:
        raise _missing() from error
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)  # what matters is raised
    return litellm


def _missing() -> MissingExtra:
    return MissingExtra(
        "litellm is not installed; it is needed to ask a model", "pip install 'rubric-ci[judge]'"
    )


def _arguments(litellm: ModuleType, call: ModelCall) -> dict[str, Any]:
    options = {k: v for k, v in call.endpoint.options.items() if k not in _OURS}
    return {
        **options,
        "model": call.endpoint.model,
        "messages": _messages(call),
        "timeout": call.endpoint.timeout_seconds,
        # litellm's retries differ by provider; ours do not.
        "num_retries": 0,
        "max_retries": 0,
        **_limit(call),
        **_form(call, lambda model: output_mode(litellm, model)),
    }


def _messages(call: ModelCall) -> list[dict[str, JSON]]:
    return [{"role": message.role, "content": message.content} for message in call.messages]


def _limit(call: ModelCall) -> dict[str, int]:
    wanted = call.max_tokens or call.endpoint.options.get("max_tokens")
    if not wanted:
        return {}
    most = facts_of(call.endpoint.model).get("max_output_tokens")
    return {"max_tokens": min(wanted, most) if isinstance(most, int) else wanted}


def _form(call: ModelCall, mode_of: Callable[[str], OutputMode]) -> dict[str, JSON]:
    if call.output_schema is None:
        return {}
    match call.output_mode or mode_of(call.endpoint.model):
        case "json_schema":
            schema = {"name": "reply", "schema": call.output_schema, "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "prompt":
            return {}


def output_mode(litellm: ModuleType, model: str) -> OutputMode:
    """Return what the model is known for; a model that nobody knows is asked in words only."""
    if litellm.supports_response_schema(model=model):
        return "json_schema"
    known = facts_of(model)
    takes = litellm.get_supported_openai_params(model=model) if known else None
    return "json_object" if takes and "response_format" in takes else "prompt"


def _known_mode(model: str) -> OutputMode:
    """Return what `output_mode` does for the models that are asked directly."""
    known = facts_of(model)
    if known.get("supports_response_schema"):
        return "json_schema"
    return "json_object" if known else "prompt"


def facts_of(model: str) -> Mapping[str, JSON]:
    """Return what litellm's list says of a model; nothing: nobody knows it."""
    known = _models()
    return known.get(model) or known.get(model.partition("/")[2]) or {}


@cache
def _models() -> Mapping[str, Mapping[str, JSON]]:
    """Return what litellm knows of models, read from its file: its import takes two seconds."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:  # a run that is all remembered does without
        return {}
    text = Path(spec.origin).with_name(_MODELS).read_text(encoding="utf-8")
    models: Mapping[str, Mapping[str, JSON]] = json.loads(text)
    return models


class _Tokens(NamedTuple):
    read: int
    cached: int  # of those read
    written: int


def _price(endpoint: Endpoint, tokens: _Tokens) -> float | None:
    known = {**facts_of(endpoint.model), **endpoint.options}
    price = known.get("input_cost_per_token")
    if tokens.read == 0 or price is None:
        return None
    own = "input_cost_per_token" in endpoint.options
    cached = price if own else known.get("cache_read_input_token_cost", price)
    fresh = tokens.read - tokens.cached
    spent = fresh * price + tokens.cached * cached
    return float(spent + tokens.written * known.get("output_cost_per_token", 0))


def _finish(reason: JSON, *, refused: bool) -> Finish:
    if reason == "length":
        return "length"
    return "refusal" if refused or reason == "content_filter" else "stop"


def _used(read: int, written: int, cost: float | None) -> Usage:
    return Usage(
        calls=1,
        input_tokens=read,
        output_tokens=written,
        cost_usd=cost or 0.0,
        unpriced_calls=int(cost is None),
    )


def _reply(call: ModelCall, response: Any) -> ModelReply:
    if not response.choices:
        raise Trouble("broken reply: it holds no choices", passing=True)
    choice = response.choices[0]
    refusal = (choice.message.get("provider_specific_fields") or {}).get("refusal")
    return ModelReply(
        text=refusal or choice.message.content or "",
        finish=_finish(choice.finish_reason, refused=bool(refusal)),
        usage=_usage(call, response),
    )


def _usage(call: ModelCall, response: Any) -> Usage:
    spent = getattr(response, "usage", None)
    read, written = (spent.prompt_tokens, spent.completion_tokens) if spent else (0, 0)
    return _used(read, written, _cost(call.endpoint.options, response, read, written))


def _cost(options: Mapping[str, JSON], response: Any, read: int, written: int) -> float | None:
    """Return the price of a call; None where it is not known."""
    if read == 0:  # the server does not count tokens
        return None
    if "input_cost_per_token" in options:
        prices = options["input_cost_per_token"], options.get("output_cost_per_token", 0)
        return float(prices[0] * read + prices[1] * written)
    cost = response._hidden_params.get("response_cost")
    return None if cost is None else float(cost)


def _trouble(error: Any, timeout: float) -> Trouble:
    message = _plain(str(error))
    if _NO_KEY.search(message):  # nothing was sent, and nothing changes by waiting
        return Trouble(message.removeprefix("broken reply: "), passing=False)
    if any(sign in message for sign in _BROKEN_BODIES):
        return Trouble(f"broken reply: {message}", passing=True)
    status = getattr(error, "status_code", None)
    return Trouble(
        f"no reply within {timeout:g} s" if status == 408 else message,
        status=status,
        retry_after=_retry_after(error),
    )


def _retry_after(error: Any) -> float | None:
    own = getattr(error, "litellm_response_headers", None)
    theirs = getattr(getattr(error, "response", None), "headers", None)
    value = (own or {}).get("retry-after") or (theirs or {}).get("retry-after")
    return None if value is None else chat.seconds(value)


def _plain(message: str) -> str:
    """Return what a message says, without litellm's prefixes and tracebacks."""
    said, traceback, _ = " ".join(message.split()).partition(" Traceback (most recent call last)")
    while match := _PREFIX.match(said):
        said = said[match.end() :]
    said = said.partition(". Handle with `litellm.")[0][:500]
    # litellm tripped over the reply.
    return f"broken reply: {said}" if traceback else said
