"""What litellm's list says of a model: its prices, its limits, the output modes it takes."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from rubric_ci.llm.budget import UNKNOWN_OUTPUT, Prices
from rubric_ci.model.config import Endpoint, OutputMode
from rubric_ci.model.evals import JSON

_MODELS = "model_prices_and_context_window_backup.json"


class Tokens(NamedTuple):
    """What a server counted."""

    read: int
    cached: int  # of those read
    written: int


def prices_of(endpoint: Endpoint) -> Prices | None:
    """Return what a model costs, as configured or as litellm knows; None: nobody knows."""
    known = {**model_info(endpoint.model), **endpoint.options}
    if known.get("input_cost_per_token") is None or known.get("output_cost_per_token") is None:
        return None
    most = known.get("max_output_tokens")
    return Prices(
        input=float(known["input_cost_per_token"]),
        output=float(known["output_cost_per_token"]),
        most_output_tokens=most if isinstance(most, int) else UNKNOWN_OUTPUT,
    )


def batch_prices_of(endpoint: Endpoint) -> Prices | None:
    """Return what a model costs in batches; None: nobody knows.

    A price of one's own says nothing of batches unless it is given for them.
    """
    priced = any("_cost_per_token" in name for name in endpoint.options)
    known = endpoint.options if priced else model_info(endpoint.model)
    read = known.get("input_cost_per_token_batches")
    written = known.get("output_cost_per_token_batches")
    if read is None or written is None:
        return None
    most = model_info(endpoint.model).get("max_output_tokens")
    return Prices(
        input=float(read),
        output=float(written),
        most_output_tokens=most if isinstance(most, int) else UNKNOWN_OUTPUT,
    )


def cost_of(endpoint: Endpoint, tokens: Tokens) -> float | None:
    """Return what a call cost; None: nobody knows."""
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
    """Return what `output_mode` does for the models that are asked directly."""
    known = model_info(model)
    if known.get("supports_response_schema"):
        return "json_schema"
    return "json_object" if known else "prompt"


def model_info(model: str) -> Mapping[str, JSON]:
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
