"""Checks that promptfoo calls."""

from typing import Any


def half(output: str, context: Any) -> dict[str, Any]:
    """Return half of the points."""
    return {"pass": "days" in output, "score": 0.5, "reason": "half"}
