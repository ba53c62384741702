"""GitHub Models' `.prompt.yml`, for `import`: a case a row of `testData`, evaluators as criteria.

The target keeps the file as its prompt, with the model and the parameters that it names.
"""

from posixpath import basename, join
from typing import Any, Final

from rubric_ci.files.dialects.translation import Beside, Translation, filled
from rubric_ci.files.yaml_text.problems import Path

NAME: Final = "GitHub Models"

_STRINGS: Final = {
    "equals": "equals",
    "contains": "contains",
    "startsWith": "starts_with",
    "endsWith": "ends_with",
}


def matches(data: Any) -> bool:
    """Return True for a prompt file with data to test it."""
    return isinstance(data, dict) and isinstance(data.get("testData"), list) and "messages" in data


def translate(data: dict[str, Any], beside: Beside, file: str) -> Translation:
    """Return the rows as cases."""
    found = Translation()
    stem = basename(file).partition(".")[0]
    found.targets.append({"name": stem, "prompt": join(beside.base, basename(file))})
    found.put(("target",), stem, ())
    found.put(("evalcases",), [], ("testData",))
    evaluators = data.get("evaluators") or []
    if not isinstance(evaluators, list):
        found.refuse(("evaluators",), "`evaluators` is a list")
        evaluators = []
    for index, row in enumerate(data["testData"]):
        place: Path = ("testData", index)
        if not isinstance(row, dict):
            found.refuse(place, "a row that is no mapping is not imported")
            continue
        ours: Path = ("evalcases", len(found.data["evalcases"]))
        found.put(ours, {"id": str(row.get("id", f"{stem}-{index + 1}"))}, place)
        for key, theirs in (("input", "input"), ("expected_output", "expected")):
            if theirs in row:
                found.put((*ours, key), str(row[theirs]), (*place, theirs))
        if "input" not in row:
            found.put((*ours, "input"), "-", place)
        rest = {key: str(row[key]) for key in row if key not in {"id", "input", "expected"}}
        if rest:
            found.put((*ours, "vars"), rest, place)
        _criteria(found, evaluators, row, ours)
    return found


def _criteria(found: Translation, evaluators: list[Any], row: dict[str, Any], ours: Path) -> None:
    criteria: list[tuple[dict[str, Any], Path]] = []
    for index, evaluator in enumerate(evaluators):
        place: Path = ("evaluators", index)
        string = evaluator.get("string") if isinstance(evaluator, dict) else None
        if not isinstance(string, dict) or string.keys() - _STRINGS.keys():
            found.refuse(place, "only evaluators with `string` have a counterpart")
            continue
        for key, value in string.items():
            ignores = {} if key == "equals" else {"ignore_case": True}
            written = {_STRINGS[key]: filled(value, row), **ignores}
            criteria.append((written, (*place, "string", key)))
    if criteria:
        found.put((*ours, "rubrics"), [], ("evaluators",))
    for number, (criterion, place) in enumerate(criteria):
        found.put((*ours, "rubrics", number), criterion, place)
