"""The providers that are asked through litellm, batches, and tokens of a job's identity."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(
    entries={
        "litellm": "litellm_client",
        "batch": "batch",
        "authenticated": "workload_identity:authenticated",
    }
)
