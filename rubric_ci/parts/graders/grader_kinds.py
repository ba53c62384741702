"""The types of this part as rows of the table."""

from functools import partial
from typing import Final

from rubric_ci.evaluators.kind import Kind
from rubric_ci.evaluators.table import late, spec_reader

_late: Final = partial(late, __package__)
_spec_reader: Final = partial(spec_reader, __package__)

COMPOSITE: Final = Kind(
    _late("composite.read_composite"),
    assess=_late("composite.composite"),
    problems=_late("grader_rules.weights_problems"),
    members=True,
)
FIELD_ACCURACY: Final = Kind(
    _late("field_accuracy.read_field_accuracy"),
    measure=_late("field_accuracy.field_accuracy"),
    problems=_late("grader_rules.no_field_counts"),
    means=True,
)
TOOL_TRAJECTORY: Final = Kind(
    _spec_reader("tool_trajectory.ToolTrajectorySpec"),
    measure=_late("tool_trajectory.tool_trajectory"),
    whole=("minimums",),
)
LATENCY: Final = Kind(
    _spec_reader("usage_limits.LatencySpec"), measure=_late("usage_limits.latency")
)
COST: Final = Kind(_spec_reader("usage_limits.CostSpec"), measure=_late("usage_limits.cost"))
TOKEN_USAGE: Final = Kind(
    _spec_reader("usage_limits.TokenUsageSpec"), measure=_late("usage_limits.token_usage")
)
