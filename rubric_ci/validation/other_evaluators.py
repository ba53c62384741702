"""What to write for evaluators, modes and options of other tools and versions, by their names."""

from collections.abc import Mapping
from typing import Final

from rubric_ci.assertions.keys import KEYS

_CRITERIA: Final = "write what it checks as criteria under `rubrics`, or use an `llm_judge`"
_SCRIPT: Final = "use a `code_judge` with a `script`, such as `node check.js` or `python check.py`"

_ASSERTIONS: Final = (
    *((key, f"{{{key}: …}}") for key in KEYS),
    ("icontains", "{contains: …, ignore_case: true}"),
    ("icontains_any", "{contains_any: […], ignore_case: true}"),
    ("icontains_all", "{contains_all: […], ignore_case: true}"),
    ("not_contains", "{contains: …, not: true}"),
    ("regex", "{matches: …}"),
    ("word_count", "{max_words: …}"),
)

TYPES: Final[Mapping[str, str]] = {
    "execution_metrics": "`latency`, `cost` and `token_usage` limit one measure each",
    "expected_messages": "`tool_trajectory` compares tool calls, `field_accuracy` the contents",
    **{name: f"write it as a criterion under `rubrics`: {form}" for name, form in _ASSERTIONS},
    **dict.fromkeys(("llm_grader", "llm_rubric", "rubrics", "g_eval", "factuality"), _CRITERIA),
    **dict.fromkeys(("model_graded_closedqa", "answer_relevance"), _CRITERIA),
    "similar": f"there are no embeddings; {_CRITERIA}",
    **dict.fromkeys(("code_grader", "script", "javascript", "python"), _SCRIPT),
    "assert_set": "use a `composite`",
}
"""Instead of evaluator types; `-` is read as `_`."""

MODES: Final[Mapping[str, str]] = {
    "superset": "`any_order` with `minimums` allows further calls",
}
"""Instead of modes of `tool_trajectory`."""

CODE_JUDGE_OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("required", "min_score"),
        "a script has no gate of its own: its score counts by `weight`, and `gate` decides",
    ),
    "threshold": "`gate.thresholds` has the limits of all scores",
    "negate": "let the script give 1 - score",
    "command": "the command is `script`",
    "value": "list it under `config`, which the script reads",
}
"""Options of graders of other tools, which a script here would get as configuration."""


def instead_of_type(name: str) -> str:
    """Return what to write in place of an evaluator type, or ""."""
    return TYPES.get(name.replace("-", "_"), "")
