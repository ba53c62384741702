"""Lines of HealthBench, for `import`: a case a line, points as weights and penalties.

The tool clips the mean of all cases at 0 and 1, not the score of a case, so a mean of cases with
many faults differs. No criterion of it is a gate.
"""

from typing import Any, Final

from rubric_ci.parts.bring.dialects.message_parts import NoPart, is_message, our_message
from rubric_ci.parts.bring.translation import Beside, Translation
from rubric_ci.values.problems import Path
from rubric_ci.values.walk import text_or_json

NAME: Final = "HealthBench"
_KNOWN: Final = frozenset(
    ("prompt", "prompt_id", "rubrics", "example_tags", "ideal_completions_data", "canary")
)
_OF_CRITERION: Final = frozenset(("criterion", "points", "tags"))


def matches(data: Any) -> bool:
    lines = data.get("evalcases") if isinstance(data, dict) else data
    return isinstance(lines, list) and bool(lines) and all(map(_is_line, lines))


def _is_line(line: Any) -> bool:
    criteria = line.get("rubrics") if isinstance(line, dict) and "prompt" in line else None
    return isinstance(criteria, list) and any(
        isinstance(each, dict) and {"criterion", "points"} <= each.keys() for each in criteria
    )


def translate(data: Any, beside: Beside, file: str) -> Translation:  # noqa: ARG001 - as all do
    found, prefix = Translation(), ("evalcases",) if isinstance(data, dict) else ()
    lines = data["evalcases"] if isinstance(data, dict) else data
    found.put(("evalcases",), [], prefix)
    for index, line in enumerate(lines):
        _case(found, line, index, (*prefix, index))
    found.keep_braces()
    return found


def _case(found: Translation, line: dict[str, Any], index: int, where: Path) -> None:
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
    found.refuse_keys(line, _KNOWN, where)
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
