"""Prices, output modes and tokens of models, from the packaged list and what providers publish."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import ceil, inf
from typing import Final, NamedTuple

from rubric_ci.system.model_list import model_info
from rubric_ci.values.config import OutputMode
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall
from rubric_ci.values.media import Media
from rubric_ci.values.targets import Endpoint

# https://api-docs.deepseek.com/guides/json_mode: `json_object` only.
_WITHOUT_SCHEMA = frozenset({"deepseek-chat", "deepseek-reasoner"})

_TIER = re.compile(r"input_cost_per_token(?P<suffix>_above_(?P<thousands>\d+)k_tokens)")


OVERHEAD_TOKENS = 1000  # what a provider may add to the prompt, such as schemas
UNKNOWN_OUTPUT = 128_000  # tokens, for a model without a known limit of its replies


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices of a model in dollars per token, and the maximum length of its replies."""

    input: float
    output: float
    most_output_tokens: int = UNKNOWN_OUTPUT
    above: tuple[tuple[int, "Prices"], ...] = ()  # of prompts of more tokens than this

    def worst(self, call: ModelCall) -> float:
        """Return the maximum cost of a call: a token has at least one byte."""
        texts = [message.content for message in call.messages]
        texts.append(json.dumps(call.output_schema))
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        written = longest_reply(call) or self.most_output_tokens
        read = size + OVERHEAD_TOKENS + at_most(call.media, call.endpoint.model)
        passed = [self, *(prices for tokens, prices in self.above if read > tokens)]
        return max(read * prices.input + written * prices.output for prices in passed)


def longest_reply(call: ModelCall) -> int:
    """Return the maximum length of the reply in tokens; 0: the model's maximum."""
    options = call.endpoint.options
    return int(
        call.max_tokens or options.get("max_tokens") or options.get("max_completion_tokens") or 0
    )


class Tokens(NamedTuple):
    read: int
    cached: int  # of those read
    written: int


UNCOUNTED: Final = Tokens(read=0, cached=0, written=0)


def counted(*, read: Sequence[JSON], cached: JSON = 0, written: Sequence[JSON]) -> Tokens:
    """Return the sums of the counts of a reply; UNCOUNTED if one of them is no count.

    Then the cost of the call is not known.
    """
    if not all(map(_is_count, (*read, cached, *written))):
        return UNCOUNTED
    sums = [sum(int(each or 0) for each in counts) for counts in (read, [cached], written)]
    return Tokens(*sums) if sums[1] <= sums[0] else UNCOUNTED


def _is_count(value: JSON) -> bool:
    if value is None:
        return True
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < inf and value == int(value)


def prices_of(endpoint: Endpoint) -> Prices | None:
    """Return the configured prices of a model, else the model list's; None if unknown.

    A command adds its own prompt and tools, so the price of its model bounds no call.
    """
    if endpoint.command:
        return None
    info = model_info(endpoint.model)
    known = {**info, **endpoint.options}
    if known.get("input_cost_per_token") is None or known.get("output_cost_per_token") is None:
        return None
    prices = _prices(known, known["input_cost_per_token"], known["output_cost_per_token"])
    if not (prices.input >= 0 and prices.output >= 0):  # NaN as well
        return None
    if "input_cost_per_token" in endpoint.options:
        return prices
    longer = ((tokens, _for_length(info, tokens + 1)) for tokens, _ in _tiers(tuple(info)))
    above = tuple(
        (tokens, _prices(entry, entry["input_cost_per_token"], entry["output_cost_per_token"]))
        for tokens, entry in longer
    )
    return replace(prices, above=above)


def batch_prices_of(endpoint: Endpoint) -> Prices | None:
    """Return the prices of a model in batches; None if unknown.

    A model with configured prices has batch prices only if they are configured as well.
    """
    priced = any("_cost_per_token" in name for name in endpoint.options)
    known = endpoint.options if priced else model_info(endpoint.model)
    read = known.get("input_cost_per_token_batches")
    written = known.get("output_cost_per_token_batches")
    if read is None or written is None:
        return None
    return _prices(model_info(endpoint.model), read, written)


def _prices(known: Mapping[str, JSON], read: JSON, written: JSON) -> Prices:
    most = known.get("max_output_tokens")
    return Prices(
        input=float(read),
        output=float(written),
        most_output_tokens=most if isinstance(most, int) else UNKNOWN_OUTPUT,
    )


def cost_of(endpoint: Endpoint, tokens: Tokens) -> float | None:
    """Return the cost of a call in dollars; None if unknown."""
    known = {**_for_length(model_info(endpoint.model), tokens.read), **endpoint.options}
    each = known.get("input_cost_per_token")
    if tokens.read == 0 or each is None:
        return None
    own = "input_cost_per_token" in endpoint.options
    cached = each if own else known.get("cache_read_input_token_cost", each)
    fresh = tokens.read - tokens.cached
    spent = fresh * each + tokens.cached * cached
    return float(spent + tokens.written * known.get("output_cost_per_token", 0))


def _for_length(known: Mapping[str, JSON], tokens: int) -> Mapping[str, JSON]:
    passed = [tier for tier in _tiers(tuple(known)) if tokens > tier[0]]
    if not passed:
        return known
    _, suffix = max(passed)
    dearer = {name.removesuffix(suffix): value for name, value in known.items() if suffix in name}
    return {**known, **dearer}


@lru_cache(maxsize=100)
def _tiers(names: tuple[str, ...]) -> list[tuple[int, str]]:
    """Return the lengths of prompts, in tokens, above which prices differ, and their suffixes."""
    found = filter(None, map(_TIER.fullmatch, names))
    return [(int(each["thousands"]) * 1000, each["suffix"]) for each in found]


def known_mode(model: str) -> OutputMode:
    """Return the output mode of a model that is asked without litellm.

    Servers of models that no list has (llama.cpp, Ollama, vLLM) take a schema; one that does not
    says so, and is sent the next simpler mode.
    """
    known = model_info(model)
    takes = known.get("supports_response_schema", not known)
    return "json_schema" if takes and accepts_schema(model) else "json_object"


def accepts_schema(model: str) -> bool:
    """Return False for a model that litellm's list wrongly gives structured output."""
    return model.rpartition("/")[2] not in _WITHOUT_SCHEMA


_CLAUDE: Final = 4784  # tokens of an image at most; one of 750 pixels each
_GEMINI: Final = 1120  # tokens of an image, from Gemini 3 on
_GPT_4O_MINI: Final = 48_169  # tokens of an image at most, far more than of any other model
_PATCH: Final = 1.3  # tokens of 32 x 32 pixels: OpenAI's small models take less than twice as many
_MOST_PATCHES: Final = 10_000
_PAGE: Final = {"gemini": 560}  # tokens of a page, as an image and its text
_OTHER_PAGE: Final = 3000
_MOST_PAGES: Final = 600  # of a request
_MARGIN: Final = 2  # of the maximum over the estimate


def estimated(media: Iterable[Media], model: str) -> int:
    """Return the tokens of images and documents; a document of unknown length counts as a page."""
    return sum(_tokens(each, model, each.pages or 1) for each in media)


def at_most(media: Iterable[Media], model: str) -> int:
    """Return a number of tokens that they do not exceed."""
    return _MARGIN * sum(_tokens(each, model, each.pages or _MOST_PAGES) for each in media)


def _tokens(media: Media, model: str, pages: int) -> int:
    provider, _, name = model.rpartition("/")
    if not media.is_image:
        return pages * _PAGE.get(provider, _OTHER_PAGE)
    if "claude" in name:
        return min(ceil(media.width * media.height / 750), _CLAUDE)
    if "gemini" in name:
        return _GEMINI
    if name.startswith("gpt-4o-mini"):
        return _GPT_4O_MINI
    return ceil(_PATCH * min(ceil(media.width / 32) * ceil(media.height / 32), _MOST_PATCHES))
