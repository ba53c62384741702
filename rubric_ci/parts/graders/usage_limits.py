"""The `latency`, `cost` and `token_usage` evaluators: score 1 within the limit, else 0.

The target reports the measurements. Without a measurement there is no verdict.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from rubric_ci.errors import CannotMeasure
from rubric_ci.text.redact import Redactor
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, MeasuringSpec
from rubric_ci.values.results import Answer, Assessment
from rubric_ci.values.usage import DECIMALS
from rubric_ci.values.written_keys import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySpec(MeasuringSpec):
    """Maximum duration of an answer."""

    maximums: ClassVar = ("threshold_ms",)
    type: str = "latency"
    threshold_ms: Annotated[float, Key(2000, name="threshold", minimum=0)]
    """Maximum duration of the answer in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSpec(MeasuringSpec):
    """Maximum cost of an answer."""

    maximums: ClassVar = ("budget_usd",)
    type: str = "cost"
    budget_usd: Annotated[float, Key(0.1, name="budget", minimum=0)]
    """Maximum cost of the answer in US dollars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsageSpec(MeasuringSpec):
    """Maximum tokens of an answer; at least one limit is set."""

    maximums: ClassVar = ("max_total", "max_input", "max_output")
    type: str = "token_usage"
    max_total: Annotated[
        float | None, Key.of("tokens", title="Maximum total tokens", aliases={"maxTotal": "older"})
    ] = None
    """Maximum number of input and output tokens together."""
    max_input: Annotated[
        float | None, Key.of("tokens", title="Maximum input tokens", aliases={"maxInput": "older"})
    ] = None
    """Maximum number of input tokens."""
    max_output: Annotated[
        float | None,
        Key.of("tokens", title="Maximum output tokens", aliases={"maxOutput": "older"}),
    ] = None
    """Maximum number of output tokens."""


@dataclass(frozen=True, slots=True)
class _Measurement:
    """A measurement and its limit."""

    used: float
    limit: float
    unit: str

    def __str__(self) -> str:
        return f"{_number(self.used)} of at most {_number(self.limit)} {self.unit}"


def latency(_: EvalCase, answer: Answer, spec: LatencySpec, __: Redactor) -> Assessment:
    if answer.duration_seconds is None:
        raise CannotMeasure("the target reports no duration (`duration_ms`)")
    used = round(answer.duration_seconds * 1000, 3)
    return _compared([_Measurement(used, spec.threshold_ms, "ms")])


def cost(_: EvalCase, answer: Answer, spec: CostSpec, __: Redactor) -> Assessment:
    used = (answer.trace_summary or {}).get("cost_usd")
    if used is None:
        raise CannotMeasure("the target reports no cost (`cost_usd`)")
    return _compared([_Measurement(round(used, DECIMALS), spec.budget_usd, "USD")])


def token_usage(_: EvalCase, answer: Answer, spec: TokenUsageSpec, __: Redactor) -> Assessment:
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
