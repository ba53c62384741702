"""Types of evaluators that measure an answer, and the one that combines evaluators."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(
    evaluators={
        "composite": "kinds:COMPOSITE",
        "field_accuracy": "kinds:FIELD_ACCURACY",
        "tool_trajectory": "kinds:TOOL_TRAJECTORY",
        "latency": "kinds:LATENCY",
        "cost": "kinds:COST",
        "token_usage": "kinds:TOKEN_USAGE",
    }
)
