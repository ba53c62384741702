"""Prompts of llm judges: whether one names a file, and which variables it may hold."""

import re
from typing import Final

PROMPT_VARIABLES: Final = (
    "question",
    "expected_outcome",
    "reference_answer",
    "candidate_answer",
    "answer",
    "input_messages",
    "expected_messages",
    "output_messages",
)
RESULTS_VARIABLE: Final = "EVALUATOR_RESULTS_JSON"

_VARIABLE = r"\{\{([^{}]*)\}\}"
_FILE = r"\S*/\S*|\S+\.[A-Za-z0-9]{1,6}|.+\.(?:md|txt|prompt|j2|jinja|mustache|hbs)"


def names_file(prompt: str) -> bool:
    """Tell whether a prompt is a path rather than the text itself."""
    return "{{" not in prompt and re.fullmatch(_FILE, prompt.strip()) is not None


def variables(text: str) -> list[str]:
    """Return what stands between `{{` and `}}`: names, and the blanks around them."""
    return re.findall(_VARIABLE, text)
