"""Rubrics of rubric-kit 0.2, for `import`: criteria, each of a dimension, which becomes its tag.

No criterion of it is a gate. The points of a score are those of its dimension, of the highest one.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.files.yaml_text.translation import Translation
from rubric_ci.parts.bring.dialects.rubric_file import add, named, plain
from rubric_ci.values.problems import Path

NAME: Final = "rubric-kit"
_FROM_SCORES: Final = "from_scores"
_OF_CRITERION: Final = ("category", "weight", "dimension", "criterion", "tool_calls")
_OF_DIMENSION: Final = ("description", "grading_type", "scores", "pass_above")
_OF_CALLS: Final = ("respect_order", "required", "optional", "prohibited", "params_strict_mode")
Entry = tuple[str, dict[str, Any], Path]


def matches(data: Any) -> bool:
    """Return True for dimensions and criteria that name one."""
    if not isinstance(data, dict) or not {"dimensions", "criteria"} <= data.keys():
        return False
    return any("dimension" in each for _, each, _ in _entries(data["criteria"], ("criteria",)))


def translate_rubric(data: dict[str, Any], stem: str) -> Translation:  # noqa: ARG001
    """Return the criteria as a rubric file has them."""
    found = Translation(data={"criteria": []})
    found.refuse_keys(data, ("dimensions", "criteria", "variables"), ())
    variables = data.get("variables")
    if isinstance(variables, dict):
        named_values = {str(key): str(value) for key, value in variables.items()}
        found.put(("vars",), named_values, ("variables",))
    dimensions = {n: (each, p) for n, each, p in _entries(data["dimensions"], ("dimensions",))}
    taken = set[str]()
    for name, each, path in _entries(data["criteria"], ("criteria",)):
        dimension, place = dimensions.get(str(each.get("dimension")), (None, path))
        if dimension is None:
            found.refuse((*path, "dimension"), f"there is no dimension `{each.get('dimension')}`")
            continue
        found.refuse_keys(each, _OF_CRITERION, path)
        found.refuse_keys(dimension, _OF_DIMENSION, place)
        made = _criterion(found, each, dimension, (path, place), templates=bool(variables))
        if made:
            head = {"id": named(name, taken)}
            tags = {"tags": [str(each["dimension"])]}
            add(found, {**head, **made, **tags}, path)
    return found


def _entries(value: Any, path: Path) -> Iterator[Entry]:
    """Yield entries by their names: of a mapping, or of a list of mappings with one name each."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield (
                str(name),
                each if isinstance(each, dict) else {"description": each},
                (*path, name),
            )
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(item, dict):
            yield str(item), {}, (*path, index)
            continue
        (name, given), *more = item.items() or [("", None)]
        if isinstance(given, dict):
            yield str(name), given, (*path, index, name)
        elif name == "name":
            yield str(given), dict(more), (*path, index)
        else:
            yield str(name), {"description": given, **dict(more)}, (*path, index)


def _criterion(
    found: Translation,
    each: Mapping[str, Any],
    dimension: Mapping[str, Any],
    places: tuple[Path, Path],
    *,
    templates: bool,
) -> dict[str, Any]:
    """Return a criterion without its id; empty: it has no counterpart."""
    path, place = places
    if each.get("tool_calls"):
        return _calls(found, each, (*path, "tool_calls"))
    text = each.get("criterion")
    if text in (None, _FROM_SCORES):
        text = str(dimension.get("description", ""))
    shown = str(text) if templates else plain(str(text))
    if dimension.get("grading_type") != "score":
        return {"expected_outcome": shown, "weight": each.get("weight", 1), "required": False}
    if dimension.get("pass_above") is not None:
        found.skip((*place, "pass_above"), "`pass_above` is a word in the results, and no gate")
    scores = dimension.get("scores")
    if not isinstance(scores, dict) or not all(isinstance(n, int) and n >= 0 for n in scores):
        found.refuse((*place, "scores"), "scores that are not numbers from 0 are not imported")
        return {}
    highest = max(scores, default=0)
    means: dict[str, Any]
    choices = [
        {"choice": str(n), "score": round(n / (highest or 1), 6), "criteria": plain(str(means))}
        for n, means in scores.items()
    ]
    levels = {n: plain(str(text)) for n, text in sorted(scores.items())}
    means = {"levels": levels} if 0 in scores else {"choices": choices}
    return {"expected_outcome": shown, **means, "weight": highest}


def _calls(found: Translation, each: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return an assertion about the calls of tools."""
    calls = each["tool_calls"] if isinstance(each["tool_calls"], dict) else {}
    found.refuse_keys(calls, _OF_CALLS, path)
    lists = {
        key: list(_entries(calls.get(key) or [], (*path, key)))
        for key in ("required", "optional", "prohibited")
    }
    given = [key for key, entries in lists.items() if entries]
    options = {
        str(option)
        for entries in lists.values()
        for _, tool, _ in entries
        for option in tool.keys() - {"description"}
    }
    names = [name for key in given for name, _, _ in lists[key]]
    weight, ordered = each.get("weight", 1), calls.get("respect_order", True)
    if options or len(given) != 1 or given == ["optional"]:
        what = f" with {', '.join(sorted(options))}" if options else ""
        found.refuse(path, f"these calls{what} have no counterpart; write assertions about calls")
        return {}
    if given == ["prohibited"] and len(names) == 1:
        return {"called": names[0], "penalty": weight}
    if given == ["required"] and (ordered or len(names) == 1):
        calls_of = {"called": names[0]} if len(names) == 1 else {"calls_in_order": names}
        return {**calls_of, "weight": weight, "required": False}
    found.refuse(path, "several calls in any order, or forbidden, need an assertion each")
    return {}
