"""Types of evaluators that measure an answer, and the one that combines evaluators."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(
    evaluators={
        "composite": "grader_kinds:COMPOSITE",
        "field_accuracy": "grader_kinds:FIELD_ACCURACY",
        "tool_trajectory": "grader_kinds:TOOL_TRAJECTORY",
        "latency": "grader_kinds:LATENCY",
        "cost": "grader_kinds:COST",
        "token_usage": "grader_kinds:TOKEN_USAGE",
    },
    entries={"problems of reference answers": "grader_rules:reference_answer_problems"},
    rules=("grader_rules",),
)
