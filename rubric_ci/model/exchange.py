"""What travels between us and a model: a call, a reply, and what it used up."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rubric_ci.model.config import Endpoint, OutputMode
from rubric_ci.model.evals import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was spent; sums of these stand in every report."""

    calls: int = 0  # requests that were sent, retries included
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0  # of the priced calls
    unpriced_calls: int = 0  # calls of models without a known price; their cost is unknown, not 0
    cache_hits: int = 0
    repairs: int = 0  # replies that were not usable and asked for again

    def __add__(self, other: "Usage") -> "Usage":
        """Sum field by field."""
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
            cache_hits=self.cache_hits + other.cache_hits,
            repairs=self.repairs + other.repairs,
        )


NOTHING_USED = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a model call."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One request to a model."""

    endpoint: Endpoint
    messages: tuple[ChatMessage, ...]
    key: str  # digest of all that determines the reply; random fences are left out of it
    output_mode: OutputMode | None = None  # None: free text
    output_schema: Mapping[str, JSON] | None = None  # JSON Schema of the reply
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What the model said, whole or not."""

    text: str
    finish: Literal["stop", "length", "refusal"] = "stop"
    usage: Usage = NOTHING_USED


Ask: TypeAlias = Callable[[ModelCall], Awaitable[ModelReply]]
"""Send one call; raises `errors.CannotReachModel` or `errors.OverBudget`."""
