"""Evaluators without a judge: limits, field comparison, tool calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from rubric_ci.model.diagnostics import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySpec:
    """Maximum duration of an answer."""

    name: str
    type: str = "latency"
    weight: float = 1.0
    threshold_ms: float
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSpec:
    """Maximum cost of an answer."""

    name: str
    type: str = "cost"
    weight: float = 1.0
    budget_usd: float
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsageSpec:
    """Maximum tokens of an answer; at least one limit is set."""

    name: str
    type: str = "token_usage"
    weight: float = 1.0
    max_total: float | None = None
    max_input: float | None = None
    max_output: float | None = None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """One field of a JSON answer, and how it is compared with the reference answer."""

    path: str  # steps between dots, indices as `[0]` or `.0`
    match: Literal["exact", "numeric_tolerance", "date"]
    weight: float = 1.0
    required: bool = False  # a gate
    optional: bool = False  # not counted if the answer lacks it
    may_lack_reference: bool = False  # not compared if the reference answer lacks it
    tolerance: float = 0.0
    relative: bool = False  # the tolerance is a fraction of the expected number
    formats: tuple[str, ...] = ()  # of dates, such as "DD.MM.YYYY"; empty: common spellings
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAccuracySpec:
    """Fields of a JSON answer are compared with the reference answer."""

    name: str
    type: str = "field_accuracy"
    weight: float = 1.0
    fields: tuple[FieldSpec, ...]
    aggregation: Literal["weighted_average", "all_or_nothing"] = "weighted_average"
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """An expected tool call."""

    tool: str
    args: Mapping[str, Any] | None = None  # required arguments; None: any
    max_duration_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTrajectorySpec:
    """Expected tool calls of the target, their counts or their order."""

    name: str
    type: str = "tool_trajectory"
    weight: float = 1.0
    mode: Literal["any_order", "in_order", "exact"]
    minimums: Mapping[str, int] = field(default_factory=dict)  # for any_order
    expected: tuple[ExpectedCall, ...] = ()  # for the other two
    span: Span


MeasuringSpec: TypeAlias = (
    LatencySpec | CostSpec | TokenUsageSpec | FieldAccuracySpec | ToolTrajectorySpec
)
