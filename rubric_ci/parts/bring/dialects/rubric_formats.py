"""Rubrics of other tools, for `import`: autoevals, AutoRubric and rubric-kit.

autoevals 0.4: a prompt that a judge answers with a choice. AutoRubric 1.6: criteria with weights,
also negative ones, and options; a criterion without a weight has 10, and one that the judge cannot
assess is in no sum. rubric-kit 0.2: criteria, each of a dimension, which becomes its tag; the
points of a score are the highest of its dimension. No criterion of the last two is a gate.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.parts.bring.translation import Translation
from rubric_ci.text.numbers import numbered
from rubric_ci.values.problems import Path
from rubric_ci.values.walk import text_or_json

ASSESSABLE: Final = "The question and the answer show whether it is so"
"""The condition of a criterion that the judge of the tool may leave unmarked."""


def rubric_of(data: Any, stem: str) -> Translation | None:
    """Return the rubric file of a file with the name `stem`; None: it has no such rubric."""
    if any("requirement" in each for _, each, _ in _requirements(*_list_of(data))):
        return _translate_autorubric(data)
    if _is_rubric_kit(data):
        return _translate_rubric_kit(data)
    is_autoevals = isinstance(data, dict) and {*_OF_PROMPT} <= data.keys()
    return _translate_autoevals(data, stem) if is_autoevals else None


def _named(text: str, taken: set[str]) -> str:
    """Return an id for a name, unlike those that are taken."""
    name = re.sub(r"[^\w-]+", "-", text).strip("-") or "criterion"
    found = next(numbered([name], taken))
    taken.add(found)
    return found


def _plain(text: str) -> str:
    """Return a text in which braces are text."""
    braces = "{{" in text or "{%" in text
    return f"{{% raw %}}{text}{{% endraw %}}" if braces else text


def _add(found: Translation, criterion: dict[str, Any], theirs: Path) -> None:
    found.put(("criteria", len(found.data["criteria"])), criterion, theirs)


_OF_PROMPT: Final = ("prompt", "choice_scores")
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


def _translate_autoevals(data: dict[str, Any], stem: str) -> Translation:
    """Return the prompt as guidelines of one criterion with choices."""
    found = Translation(data={})
    prompt, scores = data["prompt"], data["choice_scores"]
    for key in data.keys() & {*_OF_JUDGE}:
        found.skip((key,), f"`{key}` is a setting of the judge in rubric-ci.yaml")
    found.refuse_keys(data, (*_OF_PROMPT, *_OF_JUDGE), ())
    if not isinstance(prompt, str) or not isinstance(scores, dict):
        found.refuse(("prompt",), "a prompt that is no text, or without choices, is not imported")
        return found
    for name in dict.fromkeys(map(str.strip, _VARIABLE.findall(prompt))):
        if name not in _PLACES:
            found.refuse(("prompt",), f"`{{{{{name}}}}}` of the prompt has no counterpart")
    places = _VARIABLE.sub(lambda m: f"({_PLACES.get(m[1].strip(), m[1].strip())})", prompt)
    found.put(("guidelines",), places, ("prompt",))
    where: Path = ("choice_scores",)
    criterion = {
        "id": _named(stem, set()),
        "expected_outcome": "The choice that the guidelines ask for",
        "choices": [{"choice": str(name), "score": score} for name, score in scores.items()],
    }
    found.put_list(("criteria",), [(criterion, where)], where)
    return found


_WEIGHT: Final = 10
_OF_RUBRIC: Final = frozenset(
    ("rubric", "sections", "criteria", "guidelines", "name", "description")
)
_OF_REQUIREMENT: Final = frozenset(
    ("name", "weight", "requirement", "options", "scale_type", "aggregation")
)
_LABELLED: Final = (
    "submissions are not imported: an answer with its marks is a test of a rubric file, or a label "
    "of `judge calibrate`"
)


def _translate_autorubric(data: Any) -> Translation:
    found = Translation(data={"criteria": []})
    for owner, path in _owners(data):
        if isinstance(owner.get("guidelines"), str):
            found.put(("guidelines",), owner["guidelines"], (*path, "guidelines"))
        for key in ("items", "prompt", "reference_submission"):
            if owner.get(key):
                found.refuse((*path, key), _LABELLED)
        found.refuse_keys(owner, {*_OF_RUBRIC, "items", "prompt", "reference_submission"}, path)
    if isinstance(data, dict) and isinstance(data.get("description"), str):
        found.put(("description",), data["description"], ("description",))
    taken = set[str]()
    for path, each, section in _requirements(*_list_of(data)):
        _requirement(found, each, section, path, taken)
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


def _requirements(
    items: list[Any], path: Path, section: str = ""
) -> Iterator[tuple[Path, dict[str, Any], str]]:
    for index, each in enumerate(items):
        if isinstance(each, dict) and isinstance(each.get("criteria"), list):
            name = each.get("name")
            title = name if isinstance(name, str) else section
            yield from _requirements(each["criteria"], (*path, index, "criteria"), title)
        else:
            yield (*path, index), each if isinstance(each, dict) else {}, section


def _requirement(
    found: Translation, each: dict[str, Any], section: str, path: Path, taken: set[str]
) -> None:
    weight = each.get("weight", _WEIGHT)
    if not isinstance(each.get("requirement"), str) or not isinstance(weight, int | float):
        found.refuse(
            path, "a criterion without a `requirement`, or with such a weight, is not read"
        )
        return
    found.refuse_keys(each, _OF_REQUIREMENT, path)
    if each.get("aggregation"):
        found.skip((*path, "aggregation"), "`aggregation` is of several judges: see `judge.panel`")
    made: dict[str, Any] = {"id": _named(each["name"], taken)} if each.get("name") else {}
    made["expected_outcome"] = _plain(each["requirement"])
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
    _add(found, made, path)


_FROM_SCORES: Final = "from_scores"
_OF_KIT: Final = ("category", "weight", "dimension", "criterion", "tool_calls")
_OF_DIMENSION: Final = ("description", "grading_type", "scores", "pass_above")
_OF_CALLS: Final = ("respect_order", "required", "optional", "prohibited", "params_strict_mode")
_Entry = tuple[str, dict[str, Any], Path]


def _is_rubric_kit(data: Any) -> bool:
    if not isinstance(data, dict) or not {"dimensions", "criteria"} <= data.keys():
        return False
    return any("dimension" in each for _, each, _ in _entries(data["criteria"], ("criteria",)))


def _translate_rubric_kit(data: dict[str, Any]) -> Translation:
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
        found.refuse_keys(each, _OF_KIT, path)
        found.refuse_keys(dimension, _OF_DIMENSION, place)
        made = _translate_dimension(
            found, each, dimension, (path, place), templates=bool(variables)
        )
        if made:
            head = {"id": _named(name, taken)}
            tags = {"tags": [str(each["dimension"])]}
            _add(found, {**head, **made, **tags}, path)
    return found


def _entries(value: Any, path: Path) -> Iterator[_Entry]:
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


def _translate_dimension(
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
    shown = str(text) if templates else _plain(str(text))
    if dimension.get("grading_type") != "score":
        return {"expected_outcome": shown, "weight": each.get("weight", 1), "required": False}
    if dimension.get("pass_above") is not None:
        found.skip((*place, "pass_above"), "`pass_above` is a word in the results, and no gate")
    scores = dimension.get("scores")
    if not isinstance(scores, dict) or not all(isinstance(n, int) and n >= 0 for n in scores):
        found.refuse((*place, "scores"), "scores that are not numbers from 0 are not imported")
        return {}
    highest = max(scores, default=0)
    levels: Any = {n: _plain(str(text)) for n, text in sorted(scores.items())}
    choices = [
        {"choice": str(n), "score": round(n / (highest or 1), 6), "criteria": levels[n]}
        for n in scores
    ]
    means = {"levels": levels} if 0 in scores else {"choices": choices}
    return {"expected_outcome": shown, **means, "weight": highest}


def _calls(found: Translation, each: Mapping[str, Any], path: Path) -> dict[str, Any]:
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
