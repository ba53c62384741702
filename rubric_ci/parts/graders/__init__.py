"""Types of evaluators that measure an answer, and the one that combines evaluators."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(
    evaluators={
        "composite": "grader_kinds_and_rules:COMPOSITE",
        "field_accuracy": "grader_kinds_and_rules:FIELD_ACCURACY",
        "tool_trajectory": "grader_kinds_and_rules:TOOL_TRAJECTORY",
        "latency": "grader_kinds_and_rules:LATENCY",
        "cost": "grader_kinds_and_rules:COST",
        "token_usage": "grader_kinds_and_rules:TOKEN_USAGE",
    },
    entries={"problems of reference answers": "grader_kinds_and_rules:reference_answer_problems"},
    rules=("grader_kinds_and_rules",),
)
