"""Checks that promptfoo calls."""

from typing import Any


def get_assert(output: str, context: dict[str, Any]) -> bool:
    """Return True if the total is above the limit."""
    limit: int = context["vars"]["limit"]
    return int(output.split(" ")[1]) > limit


def short(output: str, context: dict[str, Any]) -> dict[str, Any]:
    """Return a result for a short answer."""
    return {"pass": len(output) < 5, "score": 1.0, "reason": f"short: {len(context)}"}
