"""Evaluators that measure and compare, and ask no judge."""

from dataclasses import dataclass
from typing import TypeAlias

from rubric_ci.model.diagnostic import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySpec:
    """The answer may take so long."""

    name: str
    type: str = "latency"
    weight: float = 1.0
    threshold_ms: float
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSpec:
    """The answer may cost so much."""

    name: str
    type: str = "cost"
    weight: float = 1.0
    budget_usd: float
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsageSpec:
    """The answer may use so many tokens; at least one limit is given."""

    name: str
    type: str = "token_usage"
    weight: float = 1.0
    max_total: float | None = None
    max_input: float | None = None
    max_output: float | None = None
    span: Span


MeasuringSpec: TypeAlias = LatencySpec | CostSpec | TokenUsageSpec
