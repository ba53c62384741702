"""What to write instead of keys and types of other tools and of later AgentV versions."""

import json
from collections.abc import Mapping
from typing import Any, Final

from rubric_ci.evaluators.assertions.keys import KEYS
from rubric_ci.text.numbers import shortened
from rubric_ci.text.suggestions import JUDGED
from rubric_ci.values.problems import Path

WRITE_CASES: Final = "write `evalcases` with `id`, `input` and `rubrics` (docs/evals.md)"


def hint_for_key(key: str, path: Path, owner: Mapping[str, Any]) -> str:
    """Return the hint for a key of another tool or version, or ""."""
    if key == "min_score" and len(path) > 1 and path[-2] == "rubrics":
        return _min_score(owner)
    if key in ("type", "value") and len(path) > 1 and path[-2] in ("rubrics", "criteria"):
        return _as_criterion(owner)
    if len(path) > 1 and path[-2] in ("rubrics", "criteria"):
        return _as_criterion({"type": key, "value": owner[key]})
    if len(path) > 1 and path[-2] == "turns" and key == "assistant":
        return "a turn has the user's message only: the target answers it"
    return _HINTS.get(key, "") if _is_suite_or_case(path) else ""


def _as_criterion(owner: Mapping[str, Any]) -> str:
    """Return an assertion of another tool as it is written here."""
    kind = str(owner.get("type", "")).replace("_", "-")
    inverted, plain = kind.startswith("not-"), kind.removeprefix("not-")
    ignores = plain.startswith("icontains")
    name = {"regex": "matches"}.get(plain, plain.removeprefix("i") if ignores else plain)
    key, value = name.replace("-", "_"), owner.get("value", True)
    if key in KEYS:
        options = {"ignore_case": ignores, "not": inverted}
        written = {key: value, **{name: True for name, each in options.items() if each}}
        return f"write `{_flow(written)}`"
    if plain in JUDGED and isinstance(value, str):
        return f"write the text alone: `- {shortened(value, _LONGEST)}`"
    return ""


_LONGEST: Final = 60


def _flow(written: Mapping[str, Any]) -> str:
    parts = (f"{key}: {json.dumps(each, ensure_ascii=False)}" for key, each in written.items())
    return f"{{{shortened(', '.join(parts), _LONGEST)}}}"


_CHECKS: Final = (
    "write criteria and checks such as `contains` as `rubrics`, scripts as `execution.evaluators`"
)
_HINTS: Final = {
    "threshold": "set `gate: {thresholds: {pass: 0.8}}` in rubric-ci.yaml, for all cases",
    "assertions": f"a key of AgentV 3 and 4; {_CHECKS}",
    "assert": f"a key of promptfoo and AgentV 2 and 5; {_CHECKS}",
    "prompts": "a key of promptfoo and AgentV 5; write the prompt in `input` of each case",
    "providers": "a key of promptfoo and AgentV 5; define `targets` in rubric-ci.yaml",
    "testData": f"a key of GitHub Models; {WRITE_CASES}",
    "model": "write it at a target: `targets: [{name: default, model: …}]`, or at `judge`",
    "sidecar": "no documented key; suite fields of `cases.jsonl` are in `cases.yaml` next to it",
    "tests": "a key of promptfoo and AgentV 2.7 to 4; move the cases to `evalcases`",
}


def _is_suite_or_case(path: Path) -> bool:
    return not path or (len(path) == 2 and path[0] == "evalcases")


def _min_score(criterion: Mapping[str, Any]) -> str:
    if "score_ranges" not in criterion:
        return "a criterion with `score_ranges` has `required_min_score`, from 0 to 10"
    if "required_min_score" in criterion:
        return "`required_min_score` is the gate"
    value = criterion.get("min_score")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "write `required_min_score`, an integer from 0 to 10"
    score = value if isinstance(value, int) and value > 1 else value * 10
    if score != round(score) or not 0 <= score <= 10:
        return "write `required_min_score`, an integer from 0 to 10"
    return f"write `required_min_score: {round(score)}`; scores are integers from 0 to 10"


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


def instead_of_type(name: str) -> str:
    """Return the replacement of an evaluator type, or ""."""
    return TYPES.get(name.replace("-", "_"), "")
