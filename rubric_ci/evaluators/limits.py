"""The `latency`, `cost` and `token_usage` evaluators: score 1 within the limit, else 0.

The target reports the measurements. Without a measurement there is no verdict.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rubric_ci.errors import CannotMeasure
from rubric_ci.model.evaluators import CostSpec, LatencySpec, TokenUsageSpec
from rubric_ci.model.results import Answer, Assessment


@dataclass(frozen=True, slots=True)
class _Measurement:
    """A measurement and its limit."""

    used: float
    limit: float
    unit: str

    def __str__(self) -> str:
        return f"{_number(self.used)} of at most {_number(self.limit)} {self.unit}"


def latency(answer: Answer, spec: LatencySpec) -> Assessment:
    """Compare the target's duration with its limit."""
    if answer.duration_seconds is None:
        raise CannotMeasure("the target reports no duration (`duration_ms`)")
    used = round(answer.duration_seconds * 1000, 3)
    return _compared([_Measurement(used, spec.threshold_ms, "ms")])


def cost(answer: Answer, spec: CostSpec) -> Assessment:
    """Compare the cost of the answer with its limit."""
    used = (answer.trace_summary or {}).get("cost_usd")
    if used is None:
        raise CannotMeasure("the target reports no cost (`cost_usd`)")
    return _compared([_Measurement(used, spec.budget_usd, "USD")])


def token_usage(answer: Answer, spec: TokenUsageSpec) -> Assessment:
    """Compare each kind of tokens with its limit, if it has one."""
    return _compared(list(_tokens(answer, spec)))


def _tokens(answer: Answer, spec: TokenUsageSpec) -> Iterator[_Measurement]:
    used = (answer.trace_summary or {}).get("token_usage")
    if used is None:
        raise CannotMeasure("the target reports no token usage (`token_usage`)")
    for kind, limit in (("input", spec.max_input), ("output", spec.max_output)):
        if limit is not None:
            yield _Measurement(_count(used, kind), limit, f"{kind} tokens")
    if spec.max_total is not None:
        total = _count(used, "input") + _count(used, "output") + used.get("cached", 0)
        yield _Measurement(total, spec.max_total, "tokens in all")


def _count(used: dict[str, float], kind: str) -> float:
    if kind not in used:
        raise CannotMeasure(f"the target's `token_usage` does not count `{kind}` tokens")
    return used[kind]


def _compared(measured: Sequence[_Measurement]) -> Assessment:
    misses = tuple(str(m) for m in measured if m.used > m.limit)
    return Assessment(
        score=0.0 if misses else 1.0,
        reasoning="; ".join(map(str, measured)),
        hits=tuple(str(m) for m in measured if m.used <= m.limit),
        misses=misses,
    )


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")
