"""Token and cost accounting; a separate module so that errors.py is cheap to import."""

from typing import Final

from rubric_ci.values.dataclass import dataclass

DECIMALS: Final = 9  # of a dollar: a token may cost less than a millionth


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Calls, tokens and cost; reports contain the sums."""

    calls: int = 0  # requests that were sent, retries included
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0  # of the calls whose cost is known
    unpriced_calls: int = 0  # of unknown cost, not $0: no known price, or no reply
    cache_hits: int = 0
    repairs: int = 0  # requests repeated because of an invalid reply

    def __add__(self, other: "Usage") -> "Usage":
        """Sum field by field."""
        if other is NOTHING_USED:
            return self
        if self is NOTHING_USED:
            return other
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
            cache_hits=self.cache_hits + other.cache_hits,
            repairs=self.repairs + other.repairs,
        )

    def beyond(self, other: "Usage") -> "Usage":
        """Return the use in addition to another one, which is a part of this one."""
        return Usage(
            calls=self.calls - other.calls,
            input_tokens=self.input_tokens - other.input_tokens,
            output_tokens=self.output_tokens - other.output_tokens,
            cost_usd=round(self.cost_usd - other.cost_usd, DECIMALS) + 0.0,
            unpriced_calls=self.unpriced_calls - other.unpriced_calls,
        )


NOTHING_USED = Usage()
