"""Prices, limits and output modes of models, from litellm's model list."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from rubric_ci.llm.budget import UNKNOWN_OUTPUT, Prices
from rubric_ci.model.config import Endpoint, OutputMode
from rubric_ci.model.json_value import JSON

# https://api-docs.deepseek.com/guides/json_mode: `json_object` only.
_WITHOUT_SCHEMA = frozenset({"deepseek-chat", "deepseek-reasoner"})

_MODELS = "model_prices_and_context_window_backup.json"


class Tokens(NamedTuple):
    """Token counts of a server."""

    read: int
    cached: int  # of those read
    written: int


def prices_of(endpoint: Endpoint) -> Prices | None:
    """Return the configured prices of a model, else those of the model list; None if unknown."""
    known = {**model_info(endpoint.model), **endpoint.options}
    if known.get("input_cost_per_token") is None or known.get("output_cost_per_token") is None:
        return None
    return _prices(known, known["input_cost_per_token"], known["output_cost_per_token"])


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
    known = {**model_info(endpoint.model), **endpoint.options}
    each = known.get("input_cost_per_token")
    if tokens.read == 0 or each is None:
        return None
    own = "input_cost_per_token" in endpoint.options
    cached = each if own else known.get("cache_read_input_token_cost", each)
    fresh = tokens.read - tokens.cached
    spent = fresh * each + tokens.cached * cached
    return float(spent + tokens.written * known.get("output_cost_per_token", 0))


def known_mode(model: str) -> OutputMode:
    """Return the output mode of a model that is asked without litellm."""
    known = model_info(model)
    if known.get("supports_response_schema") and accepts_schema(model):
        return "json_schema"
    return "json_object" if known else "prompt"


def accepts_schema(model: str) -> bool:
    """Return False for a model that litellm's list wrongly gives structured output."""
    return model.rpartition("/")[2] not in _WITHOUT_SCHEMA


def model_info(model: str) -> Mapping[str, JSON]:
    """Return the entry of the model list; {} for an unknown model."""
    known = _models()
    return known.get(model) or known.get(model.partition("/")[2]) or {}


@cache
def _models() -> Mapping[str, Mapping[str, JSON]]:
    """Return litellm's model list, read from its file, because its import takes two seconds."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:  # not needed if every reply is cached
        return {}
    text = Path(spec.origin).with_name(_MODELS).read_text(encoding="utf-8")
    models: Mapping[str, Mapping[str, JSON]] = json.loads(text)
    return models
