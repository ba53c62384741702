"""Exports of OpenAI Evals and lines of HealthBench, for `import`: a case an item or a line.

An export is an eval (`testing_criteria`) with the `data_source` of a run or its `items`; its items
may be in a file of the same name with the ending `.jsonl`. Graders are criteria.

HealthBench's points are weights and penalties. The tool clips the mean of all cases at 0 and 1, not
the score of a case, so a mean of cases with many faults differs. No criterion of it is a gate.
"""

import json
import re
from math import ceil
from typing import Any, Final, TypeGuard

from rubric_ci.parts.bring.dialects.message_parts import NoPart, is_message, our_message
from rubric_ci.parts.bring.translation import Beside, Placed, Translation, filled, placed
from rubric_ci.values.problems import Path
from rubric_ci.values.walk import text_or_json

_OPERATIONS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "eq": ("equals", {}),
    "ne": ("equals", {"not": True}),
    "like": ("contains", {}),
    "ilike": ("contains", {"ignore_case": True}),
}
_ANSWER: Final = re.compile(r"\{\{\s*+sample\.output_text\s*+\}\}")
_KNOWN: Final = frozenset(
    (
        *("id", "object", "name", "created_at", "metadata", "data_source_config", "data_source"),
        *("testing_criteria", "items", "model", "status", "share_with_openai"),
    )
)


def matches(data: Any) -> bool:
    return _is_export(data) or _are_healthbench(data)


def _is_export(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("testing_criteria"), list)


def translate(data: Any, beside: Beside, file: str) -> Translation:
    return _export(data, beside, file) if _is_export(data) else _healthbench(data)


def _export(data: dict[str, Any], beside: Beside, file: str) -> Translation:
    found = Translation()
    if isinstance(data.get("name"), str):
        found.put(("dataset",), data["name"], ("name",))
    found.refuse_keys(data, _KNOWN, ())
    found.put(("evalcases",), [], ("testing_criteria",))
    items, place = _items(data, beside, file)
    if not items:
        found.refuse(("testing_criteria",), "there are no items: `data_source`, or a `.jsonl` file")
    for index, written in enumerate(items):
        item = written.get("item", written) if isinstance(written, dict) else None
        where: Path = (*place, index) if place else ("testing_criteria",)
        if not isinstance(item, dict):
            found.refuse(where, "an item that is not a mapping is not imported")
            continue
        ours: Path = ("evalcases", len(found.data["evalcases"]))
        found.put(ours, {"id": str(item.get("id", f"item-{index + 1}"))}, where)
        _input(found, data, item, ours, where)
        _criteria(found, data["testing_criteria"], item, ours)
    return found


def _items(data: dict[str, Any], beside: Beside, file: str) -> tuple[list[Any], Path]:
    if isinstance(data.get("items"), list):
        return data["items"], ("items",)
    source = data.get("data_source")
    source = source.get("source") if isinstance(source, dict) else None
    if isinstance(source, dict) and isinstance(source.get("content"), list):
        return source["content"], ("data_source", "source", "content")
    text = beside.read(f"{file.rpartition('.')[0]}.jsonl")
    lines = [line for line in (text or "").splitlines() if line.strip()]
    try:
        return [json.loads(line) for line in lines], ()
    except ValueError:
        return [], ()


def _input(
    found: Translation, data: dict[str, Any], item: dict[str, Any], ours: Path, where: Path
) -> None:
    """Add the messages of the run's template, else the item's own input."""
    source = data.get("data_source")
    written = source.get("input_messages") if isinstance(source, dict) else None
    template = written.get("template") if isinstance(written, dict) else None
    if isinstance(template, list):
        place: Path = ("data_source", "input_messages", "template")
        messages = _messages(found, _rendered(template, item), place)
        found.put((*ours, "input_messages"), messages, place)
        return
    key = next((name for name in ("input", "question", "prompt", "query") if name in item), "")
    if not key:
        found.refuse(where, "the item has no `input`, and the run no template of messages")
    asked = item.get(key, "-")
    if isinstance(asked, list) and asked and all(map(is_message, asked)):
        found.put((*ours, "input_messages"), _messages(found, asked, where), where)
    else:
        found.put((*ours, "input"), text_or_json(asked), where)


def _messages(found: Translation, written: list[Any], place: Path) -> list[dict[str, Any]]:
    """Return messages as ours, without those that have no counterpart."""
    messages = []
    for each in filter(is_message, written):
        try:
            messages.append(our_message(each, found.images))
        except NoPart as error:
            found.refuse(place, f"a message of the input: {error}")
    return messages


def _rendered(value: Any, item: dict[str, Any]) -> Any:
    return filled(value, {"item": item})


def _compared(grader: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """Return the comparison of the answer with a text; empty: it compares something else."""
    operation = _OPERATIONS.get(str(grader.get("operation")))
    if operation is None or not _ANSWER.fullmatch(str(grader.get("input", "")).strip()):
        return {}
    key, options = operation
    return {key: text_or_json(_rendered(grader.get("reference", ""), item)), **options}


def _labelled(grader: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """Return choices for labels, of which those that pass are required; empty: it has none."""
    labels, passing = grader.get("labels"), grader.get("passing_labels")
    said = _said(grader, item)
    if not said or not _are_texts(labels) or not _are_texts(passing) or len({*labels}) < 2:
        return {}
    return {
        **said,
        "choices": {label: int(label in passing) for label in labels},
        "required_choices": [label for label in labels if label in passing],
    }


def _scored(grader: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """Return a score from 0 to 10 for one of another range; empty: its range is not known."""
    low, high = grader.get("range") or (0, 1)
    least = grader.get("pass_threshold")
    said = _said(grader, item)
    known = isinstance(low, int | float) and isinstance(high, int | float) and low < high
    if not said or not known:
        return {}
    ends = {"0": f"{low:g}, the lowest score", "10": f"{high:g}, the highest score"}
    made = {**said, "score_ranges": ends}
    if isinstance(least, int | float) and low <= least <= high:
        made["required_min_score"] = ceil(round((least - low) / (high - low) * 10, 6))
    return made


def _said(grader: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """Return the id and the text of a grader, without the answer; empty: it says nothing."""
    written = grader.get("input")
    listed = written if isinstance(written, list) else []
    texts = [text_or_json(each.get("content", "")) for each in listed if isinstance(each, dict)]
    kept = [text for text in texts if not _ANSWER.fullmatch(text.strip())]
    text = _ANSWER.sub("the answer", "\n".join(map(text_or_json, _rendered(kept, item))))
    if not text.strip():
        return {}
    named = {"id": grader["name"]} if isinstance(grader.get("name"), str) else {}
    return {**named, "expected_outcome": text}


def _are_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


_MAKERS: Final = {"label_model": _labelled, "score_model": _scored, "string_check": _compared}


def _criteria(found: Translation, graders: list[Any], item: dict[str, Any], ours: Path) -> None:
    """Add the comparisons of texts, and the labels and scores that a model gives."""
    criteria: list[Placed] = []
    for grader, place in placed(graders, ("testing_criteria",)):
        kind = grader.get("type") if isinstance(grader, dict) else None
        maker = _MAKERS.get(kind) if isinstance(kind, str) else None
        if maker and (made := maker(grader, item)):
            criteria.append((made, place))
        else:
            found.refuse(place, f"the grader `{kind}` has no counterpart in this form")
    if criteria:
        found.put_list((*ours, "rubrics"), criteria, ("testing_criteria",))


_OF_LINE: Final = frozenset(
    ("prompt", "prompt_id", "rubrics", "example_tags", "ideal_completions_data", "canary")
)
_OF_CRITERION: Final = frozenset(("criterion", "points", "tags"))


def _are_healthbench(data: Any) -> bool:
    lines = data.get("evalcases") if isinstance(data, dict) else data
    return isinstance(lines, list) and bool(lines) and all(map(_is_line, lines))


def _is_line(line: Any) -> bool:
    criteria = line.get("rubrics") if isinstance(line, dict) and "prompt" in line else None
    return isinstance(criteria, list) and any(
        isinstance(each, dict) and {"criterion", "points"} <= each.keys() for each in criteria
    )


def _healthbench(data: Any) -> Translation:
    found, prefix = Translation(), ("evalcases",) if isinstance(data, dict) else ()
    lines = data["evalcases"] if isinstance(data, dict) else data
    found.put(("evalcases",), [], prefix)
    for index, line in enumerate(lines):
        _line(found, line, index, (*prefix, index))
    found.keep_braces()
    return found


def _line(found: Translation, line: dict[str, Any], index: int, where: Path) -> None:
    ours: Path = ("evalcases", len(found.data["evalcases"]))
    messages = line["prompt"]
    if not isinstance(messages, list) or not all(map(is_message, messages)):
        found.refuse((*where, "prompt"), "a prompt that is no list of messages is not imported")
        return
    try:
        asked = [our_message(each, found.images) for each in messages]
    except NoPart as error:
        found.refuse((*where, "prompt"), f"a message of it: {error}")
        return
    found.put(ours, {"id": str(line.get("prompt_id", f"line-{index + 1}"))}, where)
    found.put((*ours, "input_messages"), asked, (*where, "prompt"))
    if tags := _texts(line.get("example_tags")):
        found.put((*ours, "tags"), tags, (*where, "example_tags"))
    ideal = line.get("ideal_completions_data")
    answer = ideal.get("ideal_completion") if isinstance(ideal, dict) else None
    if isinstance(answer, str) and answer.strip():
        found.put((*ours, "expected_output"), answer, (*where, "ideal_completions_data"))
    found.refuse_keys(line, _OF_LINE, where)
    found.put((*ours, "rubrics"), [], (*where, "rubrics"))
    for number, each in enumerate(line["rubrics"]):
        _criterion(found, each, (*ours, "rubrics", number), (*where, "rubrics", number))


def _criterion(found: Translation, each: Any, ours: Path, where: Path) -> None:
    if not isinstance(each, dict) or not isinstance(each.get("points"), int | float):
        found.refuse(where, "a criterion without `points` is not imported")
        return
    found.refuse_keys(each, _OF_CRITERION, where)
    text, tags = text_or_json(each.get("criterion", "")), _texts(each.get("tags"))
    made = {"expected_outcome": text, "weight": each["points"], "required": False}
    found.put(ours, made | ({"tags": tags} if tags else {}), where)


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
