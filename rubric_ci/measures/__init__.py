"""Evaluators without a judge, by their types: one file has the settings and the measurement."""

from collections.abc import Mapping
from typing import Final

from rubric_ci.measures import field_accuracy, limits, tool_trajectory
from rubric_ci.measures.kind import Kind

KINDS: Final[Mapping[str, Kind]] = {
    "latency": limits.LATENCY,
    "cost": limits.COST,
    "token_usage": limits.TOKEN_USAGE,
    "field_accuracy": field_accuracy.FIELD_ACCURACY,
    "tool_trajectory": tool_trajectory.TOOL_TRAJECTORY,
}
