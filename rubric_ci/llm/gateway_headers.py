"""What LiteLLM's proxy says of a reply in its headers: cost, fallbacks, model."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Final

from rubric_ci.system.model_list import model_info

_COST: Final = "x-litellm-response-cost"  # in dollars
_FALLBACKS: Final = "x-litellm-attempted-fallbacks"  # a number
_MODEL: Final = "x-litellm-model-name"  # of the deployment that replied, with its provider


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayFacts:
    """What a gateway adds to a reply."""

    cost_usd: float | None = None  # None: it names no cost, or has no price
    fallback: bool = False  # another model than the requested one replied
    model: str = ""  # that replied, if the model list has it

    def model_of(self, requested: str, replied: str) -> str:
        """Return the model that replied: a proxy puts the name of an alias into the body."""
        return self.model if self.model and replied == requested else replied


NO_GATEWAY: Final = GatewayFacts()


def gateway_facts(headers: Mapping[str, str]) -> GatewayFacts:
    """Return what the headers of a reply say; names of headers are in lower case."""
    model = headers.get(_MODEL, "")
    return GatewayFacts(
        cost_usd=_cost(headers.get(_COST)),
        fallback=headers.get(_FALLBACKS, "0").strip() not in {"", "0"},
        # A deployment may have any name, which says nothing of its model.
        model=model if model_info(model) else "",
    )


def _cost(value: str | None) -> float | None:
    """Return the cost that a gateway names; None without one, or for a model without a price."""
    try:
        cost = float(value or 0)
    except ValueError:
        return None
    return cost if 0 < cost < inf else None
