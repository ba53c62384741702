"""Graders of autoevals 0.4, for `import`: a prompt that a judge answers with a choice."""

import re
from typing import Any, Final

from rubric_ci.files.yaml_text.translation import Translation
from rubric_ci.parts.bring.dialects.rubric_file import add, named
from rubric_ci.values.problems import Path

NAME: Final = "autoevals"
_KNOWN: Final = ("prompt", "choice_scores")
_OF_JUDGE: Final = (
    *("model", "engine", "use_cot", "temperature", "max_tokens"),
    *("reasoning_effort", "reasoning_enabled", "reasoning_budget"),
)
_PLACES: Final = {
    "input": "the question",
    "output": "the answer",
    "expected": "the reference answer",
}
_VARIABLE: Final = re.compile(r"\{\{\{?([^{}]*)\}?\}\}")


def matches(data: Any) -> bool:
    """Return True for a prompt with the scores of its choices."""
    return isinstance(data, dict) and {*_KNOWN} <= data.keys()


def translate_rubric(data: dict[str, Any], stem: str) -> Translation:
    """Return the prompt as guidelines of one criterion with choices."""
    found = Translation(data={})
    prompt, scores = data["prompt"], data["choice_scores"]
    for key in data.keys() & {*_OF_JUDGE}:
        found.skip((key,), f"`{key}` is a setting of the judge in rubric-ci.yaml")
    found.refuse_keys(data, (*_KNOWN, *_OF_JUDGE), ())
    if not isinstance(prompt, str) or not isinstance(scores, dict):
        found.refuse(("prompt",), "a prompt that is no text, or without choices, is not imported")
        return found
    for name in dict.fromkeys(map(str.strip, _VARIABLE.findall(prompt))):
        if name not in _PLACES:
            found.refuse(("prompt",), f"`{{{{{name}}}}}` of the prompt has no counterpart")
    found.put(("guidelines",), _VARIABLE.sub(_place, prompt), ("prompt",))
    found.put(("criteria",), [], ("choice_scores",))
    where: Path = ("choice_scores",)
    criterion = {
        "id": named(stem, set()),
        "expected_outcome": "The choice that the guidelines ask for",
        "choices": [{"choice": str(name), "score": score} for name, score in scores.items()],
    }
    add(found, criterion, where)
    return found


def _place(match: re.Match[str]) -> str:
    name = match[1].strip()
    return f"({_PLACES.get(name, name)})"
