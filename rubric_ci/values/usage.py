"""Tokens and cost of requests, also by target and judge, from which the next run is estimated.

NOTE: errors.py imports it, so it needs little.
"""

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

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


Role: TypeAlias = Literal["target", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedBy:
    """The usage of the answers of a target, or of the marks of a judge, in a run."""

    role: Role
    name: str  # of the target; of a judge: its model
    model: str = ""  # that answered; empty: a program
    answers: int  # with usage, that were asked for; of a judge: answers that it marked
    usage: Usage
    timed: int = 0  # answers whose duration is known
    seconds: float = 0.0  # of those, together

    def __add__(self, other: "UsedBy") -> "UsedBy":
        """Sum the counts of the same target or judge."""
        return UsedBy(
            role=self.role,
            name=self.name,
            model=self.model,
            answers=self.answers + other.answers,
            usage=self.usage + other.usage,
            timed=self.timed + other.timed,
            seconds=round(self.seconds + other.seconds, 3),
        )


class Accounts:
    """The use of each target and judge so far."""

    def __init__(self) -> None:
        self._every: list[UsedBy] = []

    def add(
        self, role: Role, name: str, usage: Usage, model: str = "", seconds: float | None = None
    ) -> None:
        """Count one answer, or one answer that was marked; nothing for a cached one."""
        used, timed = bool(usage.calls or usage.cost_usd), seconds is not None
        if name and (used or timed):
            one = UsedBy(
                role=role,
                name=name,
                model=model,
                answers=int(used),
                usage=usage,
                timed=int(timed),
                seconds=seconds or 0.0,
            )
            self._every.append(one)

    def list(self) -> tuple[UsedBy, ...]:
        """Return the sum of each, sorted."""
        return merged_use(self._every)


def merged_use(every: Iterable[UsedBy]) -> tuple[UsedBy, ...]:
    """Return the sum of each target and judge, sorted."""
    found: dict[tuple[Role, str, str], UsedBy] = {}
    for each in every:
        key = each.role, each.name, each.model
        found[key] = found[key] + each if key in found else each
    return tuple(found[key] for key in sorted(found))
