"""A provider that shows what it gets."""

from typing import Any


def call_api(prompt: str, options: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """Return the prompt with a variable and a setting."""
    question = context.get("vars", {}).get("q")
    suffix = options.get("config", {}).get("suffix", "")
    return {"output": f"py {prompt} q={question} {suffix}"}
