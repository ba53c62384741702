"""Rubrics of AutoRubric 1.6, for `import`: criteria with weights, also negative ones, and options.

No criterion of it is a gate, a criterion without a weight has 10, and one that the judge cannot
assess is in no sum.
"""

from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.files.yaml_text.translation import Translation
from rubric_ci.parts.bring.dialects.rubric_file import ASSESSABLE, add, named, plain
from rubric_ci.values.problems import Path
from rubric_ci.values.walk import text_or_json

NAME: Final = "AutoRubric"
WEIGHT: Final = 10
_KNOWN: Final = frozenset(("rubric", "sections", "criteria", "guidelines", "name", "description"))
_OF_CRITERION: Final = frozenset(
    ("name", "weight", "requirement", "options", "scale_type", "aggregation")
)
_LABELLED: Final = (
    "submissions are not imported: an answer with its marks is a test of a rubric file, or a label "
    "of `judge calibrate`"
)


def matches(data: Any) -> bool:
    """Return True for criteria with a requirement, in sections or not."""
    return any("requirement" in each for _, each, _ in _criteria(*_list_of(data)))


def translate_rubric(data: Any, stem: str) -> Translation:  # noqa: ARG001
    """Return the criteria as a rubric file has them."""
    found = Translation(data={"criteria": []})
    for owner, path in _owners(data):
        if isinstance(owner.get("guidelines"), str):
            found.put(("guidelines",), owner["guidelines"], (*path, "guidelines"))
        for key in ("items", "prompt", "reference_submission"):
            if owner.get(key):
                found.refuse((*path, key), _LABELLED)
        found.refuse_keys(owner, {*_KNOWN, "items", "prompt", "reference_submission"}, path)
    if isinstance(data, dict) and isinstance(data.get("description"), str):
        found.put(("description",), data["description"], ("description",))
    taken = set[str]()
    for path, each, section in _criteria(*_list_of(data)):
        _criterion(found, each, section, path, taken)
    return found


def _owners(data: Any) -> Iterator[tuple[dict[str, Any], Path]]:
    if isinstance(data, dict):
        yield data, ()
        if isinstance(inner := data.get("rubric"), dict):
            yield inner, ("rubric",)


def _list_of(data: Any) -> tuple[list[Any], Path]:
    """Return the list of criteria and sections; the tool takes the first of these keys."""
    path: Path = ()
    while isinstance(data, dict):
        key = next((k for k in ("rubric", "sections", "criteria", "evalcases") if k in data), "")
        data, path = data.get(key), (*path, key)
    return (data if isinstance(data, list) else []), path


def _criteria(
    items: list[Any], path: Path, section: str = ""
) -> Iterator[tuple[Path, dict[str, Any], str]]:
    for index, each in enumerate(items):
        if isinstance(each, dict) and isinstance(each.get("criteria"), list):
            name = each.get("name")
            title = name if isinstance(name, str) else section
            yield from _criteria(each["criteria"], (*path, index, "criteria"), title)
        else:
            yield (*path, index), each if isinstance(each, dict) else {}, section


def _criterion(
    found: Translation, each: dict[str, Any], section: str, path: Path, taken: set[str]
) -> None:
    weight = each.get("weight", WEIGHT)
    if not isinstance(each.get("requirement"), str) or not isinstance(weight, int | float):
        found.refuse(
            path, "a criterion without a `requirement`, or with such a weight, is not read"
        )
        return
    found.refuse_keys(each, _OF_CRITERION, path)
    if each.get("aggregation"):
        found.skip((*path, "aggregation"), "`aggregation` is of several judges: see `judge.panel`")
    made: dict[str, Any] = {"id": named(each["name"], taken)} if each.get("name") else {}
    made["expected_outcome"] = plain(each["requirement"])
    options = each.get("options") or []
    if not isinstance(options, list) or not all(isinstance(one, dict) for one in options):
        found.refuse((*path, "options"), "options that are no list of labels are not imported")
        return
    rated = [one for one in options if one.get("na") is not True]
    if rated:
        made["choices"] = [
            {"choice": text_or_json(one.get("label")), "score": one.get("value")} for one in rated
        ]
    if not options or len(rated) < len(options):
        made["applies_if"] = ASSESSABLE
    made |= {"weight": weight, "required": False}
    if section:
        made["tags"] = [section]
    add(found, made, path)
