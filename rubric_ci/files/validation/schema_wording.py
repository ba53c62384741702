"""Messages about the schema: names of values and places, hints, keys and types of other tools."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from rubric_ci.evaluators.assertions.keys import KEYS
from rubric_ci.files.validation.shape_rules import CRITERION_TEXT, MISSING_KEY
from rubric_ci.text.numbers import shortened
from rubric_ci.text.suggestions import JUDGED, nearest, number_hint, seconds_hint
from rubric_ci.values.problems import INPUTS, MESSAGES, Path, Problem

WRITE_CASES: Final = "write `evalcases` with `id`, `input` and `rubrics` (docs/evals.md)"


def hint_for_key(key: str, path: Path, owner: Mapping[str, Any]) -> str:
    """Return the hint for a key of another tool or version, or ""."""
    if key in ("type", "value") and len(path) > 1 and path[-2] in ("rubrics", "criteria"):
        return _as_criterion(owner)
    if len(path) > 1 and path[-2] in ("rubrics", "criteria"):
        return _as_criterion({"type": key, "value": owner[key]})
    if len(path) > 1 and path[-2] == "turns" and key == "assistant":
        return "a turn has the user's message only: the target answers it"
    of_suite_or_case = not path or (len(path) == 2 and path[0] == "evalcases")
    return _HINTS.get(key, "") if of_suite_or_case else ""


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


KINDS: Final = {
    "string": "text",
    "number": "a number",
    "integer": "an integer",
    "boolean": "`true` or `false`",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}


def value_name(path: Path) -> str:
    if not path:
        return "an eval file"
    if isinstance(path[-1], str):
        return f"`{path[-1]}`"
    keys = [step for step in path if isinstance(step, str)]
    if keys and keys[-1] == "score_range":
        return "a bound of `score_range`"
    return f"an entry of `{keys[-1]}`" if keys else "an entry"


def owner_name(path: Path) -> str:
    if not path:
        return "the file"
    if isinstance(path[-1], str):
        return f"`{path[-1]}`"
    keys = [step for step in path if isinstance(step, str)]
    return _OWNERS.get(keys[-1], f"an entry of `{keys[-1]}`") if keys else "an entry"


_OWNERS = {
    "evalcases": "the case",
    **dict.fromkeys(("rubrics", "criteria"), "the criterion"),
    "turns": "the turn",
    "score_ranges": "the range",
    "levels": "the level",
    "choices": "the choice",
    "evaluators": "the evaluator",
    **dict.fromkeys((*MESSAGES, "messages"), "the message"),
    "content": "the part",
    "targets": "the target",
}


def one_of(keys: tuple[str, ...]) -> str:
    """Return keys as alternatives: "`a`", "`a` or `b`", "`a`, `b` or `c`"."""
    *others, last = (f"`{key}`" for key in keys)
    return f"{', '.join(others)} or {last}" if others else last


def value_in_words(value: Any) -> str:
    """Return a value, or its type if it is long."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"`{value}`"
        case str():
            return f"the text `{value}`" if len(value) < 40 else "a text"
        case list():
            return "a list"
        case _:
            return "a mapping"


_ENTRIES: Final = {
    **dict.fromkeys(MESSAGES, "{{role: assistant, content: {0}}}"),
    **dict.fromkeys(INPUTS, "{{role: user, content: {0}}}"),
    "content": "{{type: text, value: {0}}}",
    "expected": "{{tool: {0}}}",
    "tool_calls": "{{tool: {0}}}",
    "fields": "{{path: {0}, match: exact}}",
    "levels": "{{level: 1, criteria: {0}}}",
}
_LISTS_OF_TEXT: Final = frozenset(
    ("rubrics", "criteria", "tags", "depends_on", "formats", "env", "evals")
)
_SEVERAL: Final[dict[str | int, str]] = {
    "contains": "write `contains_any` or `contains_all`",
    "judge": "write `judge: {panel: […]}` for several judges",
}
_SHORT = 40
_PLAIN = re.compile(r"[A-Za-z][\w ./-]*")


def hint_for(path: Path, wanted: list[str], value: Any) -> str:
    """Return the correct spelling of a value of the wrong type, or ""."""
    owner = path[-1] if path else ""
    if owner == "score_range" and isinstance(value, str):
        return _range(value)
    if owner == "required_min_score" and isinstance(value, float) and 0 < value < 1:
        return "scores are integers from 0 to 10" + _times_ten(value)
    if isinstance(value, str) and {"number", "integer"} & {*wanted}:
        as_seconds = str(owner).endswith("seconds")
        return (as_seconds and seconds_hint(value)) or _number(value)
    if "array" in wanted:
        return _list(str(owner), wanted, value)
    if wanted == ["object"]:
        listed = not path and isinstance(value, list)
        return _LISTED if listed else _mapping(path, value)
    return _SEVERAL.get(owner, "") if isinstance(value, list) else ""


_LISTED: Final = "write the list under `evalcases`, or name the file there in another file"


def diagnose_shape(schema: Any, path: Path, value: Any) -> Problem | None:
    """Return one problem for a mapping that was meant as something else, if it is recognised."""
    owner = path[-2] if len(path) > 1 and isinstance(path[-1], int) else ""
    if not isinstance(value, dict):
        return None
    if owner in {"rubrics", "criteria"} and len(value) == 1:
        return _text_with_colon(schema, path, value)
    if owner in {*MESSAGES, "messages"} and "role" not in value:
        roles = schema["$defs"]["message"]["properties"]["role"]["enum"]
        role = next((role for role in roles if role in value), None)
        return _named_by_key(path, role, "message", "role", "content") if role else None
    if owner == "content" and "type" not in value:
        kinds = schema["$defs"]["part"]["properties"]["type"]["enum"]
        kind = next((kind for kind in kinds if kind in value), None)
        return _named_by_key(path, kind, "part", "type", "value") if kind else None
    return None


def _text_with_colon(schema: Any, path: Path, value: dict[str, Any]) -> Problem | None:
    [(key, rest)] = value.items()
    known = schema["$defs"]["criterionObject"]["properties"].keys()
    meant = nearest(key, known - {"tags", "include"})  # "tag:" begins a text
    if isinstance(rest, dict | list) or meant or key.startswith("not-"):
        return None
    text = f"{key}: {rest}" if isinstance(rest, str) else f"{key}:"
    hint = f"quote it: {json.dumps(text, ensure_ascii=False)}" if isinstance(rest, str) else ""
    message = f"`{text}` reads as a mapping because of its `:`"
    return Problem(CRITERION_TEXT, path, message, hint or "quote the whole text")


def _named_by_key(path: Path, key: str, kind: str, first: str, second: str) -> Problem:
    message = f"a {kind} does not start with `{key}:`"
    hint = f"write `{first}: {key}` and `{second}: …`"
    return Problem(MISSING_KEY, (*path, key), message, hint, at_key=True)


def _list(owner: str, wanted: list[str], value: Any) -> str:
    if owner == "env" and isinstance(value, dict):
        return f"write the names of variables: [{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        return "start each entry with `- `"
    if owner == "tags" and isinstance(value, str) and "," in value:
        names = [_written(each.strip()) for each in value.split(",") if each.strip()]
        return f"write a list: [{', '.join(names)}]"
    if owner in _LISTS_OF_TEXT and wanted == ["array"] and isinstance(value, str):
        return f"write a list: [{_written(value)}]" if len(value) < _SHORT else "write a list"
    return ""


_FIRST_KEY: Final = {"gate": "fail_on", "aggregator": "type"}
"""The key that a text was meant for, by the mapping."""


def _mapping(path: Path, value: Any) -> str:
    owner = path[-1] if path else ""
    keys = [step for step in path if isinstance(step, str)]
    if owner == "healthcheck" and isinstance(value, str):
        return f"write {{type: command, command_template: {_written(value)}}}"
    if owner == "vars" and isinstance(value, list):
        return "write each variable as `name: value`, without `- `"
    if owner in _FIRST_KEY and isinstance(value, str):
        return f"write {{{_FIRST_KEY[str(owner)]}: {_written(value)}}}"
    return _entry(keys[-1], value) if isinstance(owner, int) else ""


def _entry(owner: str, value: Any) -> str:
    """Return the mapping that an entry of a list was meant as, or ""."""
    if owner == "score_ranges" and isinstance(value, list):
        return f"write {{score_range: {json.dumps(value)}, expected_outcome: …}}"
    if owner == "evaluators" and isinstance(value, str):
        return "write the evaluator itself, with its `name` and `type`"
    if owner == "targets" and isinstance(value, str) and "/" in value:
        return f"write {{name: default, model: {_written(value)}}}"
    if isinstance(value, str) and len(value) < _SHORT:
        form = _ENTRIES.get(owner, "")
        return f"write {form.format(_written(value))}" if form else ""
    return ""


def _range(text: str) -> str:
    found = re.fullmatch(r"\s*(\d{1,2})\s*(?:-|to|\.\.)\s*(\d{1,2})\s*", text)
    return f"write [{found[1]}, {found[2]}]" if found else ""


def _times_ten(share: float) -> str:
    score = round(share * 10, 6)
    return f"; write {score:g}" if score == int(score) else ""


def _number(text: str) -> str:
    """Return the hint for a text that was meant as a number."""
    if re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?", text):
        return f"write {text} without quotes"
    if re.fullmatch(r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]{1,2}", text):
        return f"write {Decimal(text):f}"
    return number_hint(text)


def _written(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
