"""Transforms that promptfoo calls."""

from typing import Any


def get_transform(output: dict[str, Any], context: dict[str, Any]) -> str:
    """Return the order as a text."""
    return f"{context['vars']['question']} in {context['vars']['plan']}: {output['total']}"


def cheap(output: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Return whether the order is cheap."""
    return {"cheap": output["total"] < 20}
