"""AgentV's graders as criteria and evaluators.

A case's score is the weighted mean of its graders there, and a missed criterion fails its grader
only: criteria are not required here. Texts are one grader that weighs as many as they are, so that
texts, checks and rubrics are one list of criteria with the same mean.
"""

from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.dialects.translation import Translation
from rubric_ci.yaml_text.problems import Path

GRADERS: Final = ("assertions", "assert", "assertion")
"""The keys of a list of graders, of which a test or a suite has one."""

_CHECKS: Final = {
    "contains": "contains",
    "contains-any": "contains_any",
    "contains-all": "contains_all",
    "icontains": "contains",
    "icontains-any": "contains_any",
    "icontains-all": "contains_all",
    "equals": "equals",
    "starts-with": "starts_with",
    "ends-with": "ends_with",
    "regex": "matches",
    "is-json": "is_json",
}
_RUBRICS: Final = frozenset(("llm-rubric", "rubrics", "llm-grader", "llm-judge"))
_LIMITS: Final = {
    "latency": ("latency", {"threshold": "threshold"}),
    "cost": ("cost", {"budget": "budget"}),
    "token-usage": (
        "token_usage",
        {"max_total": "max_total", "max_input": "max_input", "max_output": "max_output"},
    ),
}
_SCRIPTS: Final = frozenset(("script", "code-grader", "code-judge"))
_OPTIONS: Final = ("type", "name", "metric", "weight", "required", "description")


def add_graders(
    found: Translation, suite: dict[str, Any], test: dict[str, Any], ours: Path, theirs: Path
) -> None:
    """Add the criteria as one evaluator, and each measurement as one of its own."""
    written = [*_listed(test, theirs), *_listed(suite, ())]
    if "rubrics" in test and isinstance(test["rubrics"], list):
        path = (*theirs, "rubrics")
        written += [(each, (*path, at)) for at, each in enumerate(test["rubrics"])]
    criteria: list[tuple[Any, Path]] = []
    limits: list[tuple[dict[str, Any], Path]] = []
    weight = 0.0
    for grader, place in written:
        parts, limit = _grader(found, grader, place)
        criteria += parts
        limits += [(limit, place)] if limit else []
        weight += _weight(grader) if parts else 0.0
    if not written and isinstance(test.get("criteria"), str):
        criteria = [(test["criteria"], (*theirs, "criteria"))]
    owner = (*ours, "rubrics")
    if limits:
        found.put((*ours, "execution"), {"evaluators": []}, theirs)
        evaluators = (*ours, "execution", "evaluators")
        if criteria:
            rubric = {"name": "rubric", "type": "rubric", "weight": weight, "rubrics": []}
            found.put((*evaluators, 0), rubric, theirs)
            owner = (*evaluators, 0, "rubrics")
        for number, (limit, place) in enumerate(limits, 1 if criteria else 0):
            found.put((*evaluators, number), limit, place)
    elif criteria:
        found.put(owner, [], theirs)
    for number, (criterion, place) in enumerate(criteria):
        found.put((*owner, number), criterion, place)


def _listed(owner: dict[str, Any], path: Path) -> list[tuple[Any, Path]]:
    """Return the graders of a test or of the suite with their paths."""
    key = next((key for key in GRADERS if isinstance(owner.get(key), list)), "")
    return [(each, (*path, key, index)) for index, each in enumerate(owner.get(key) or [])]


def _weight(grader: Any) -> float:
    weight = grader.get("weight", 1.0) if isinstance(grader, dict) else 1.0
    known = isinstance(weight, int | float) and not isinstance(weight, bool)
    return float(weight) if known else 1.0


def _grader(
    found: Translation, grader: Any, place: Path
) -> tuple[list[tuple[Any, Path]], dict[str, Any] | None]:
    """Return the criteria of a grader, or the evaluator that it is."""
    if not isinstance(grader, dict):
        return [({"expected_outcome": grader, "required": False}, place)], None
    kind = str(grader.get("type", "")).replace("_", "-")
    evaluator = {**_EVALUATORS, **dict.fromkeys(_RUBRICS, _prompt)}.get(kind)
    if evaluator and (kind not in _RUBRICS or "prompt" in grader):
        return [], evaluator(found, grader, place)
    return _criteria(found, grader, kind, place), None


def _criteria(
    found: Translation, grader: dict[str, Any], kind: str, place: Path
) -> list[tuple[Any, Path]]:
    """Return the criteria of a check or of a rubric."""
    if kind.removeprefix("not-") in _CHECKS:
        return [(_check(found, grader, kind, place), place)]
    if kind in _RUBRICS or (not kind and "criteria" in grader):
        return list(_rubric(found, grader, place))
    if not kind and ("outcome" in grader or "expected_outcome" in grader):
        return [(_criterion(found, grader, 1.0, place), place)]
    found.refuse((*place, "type") if kind else place, f"the grader `{kind}` has no counterpart")
    return []


def _check(found: Translation, grader: dict[str, Any], kind: str, place: Path) -> dict[str, Any]:
    """Return a check without a judge as a criterion."""
    found.refuse_keys(grader, (*_OPTIONS, "value", "negate", "flags"), place)
    plain = kind.removeprefix("not-")
    key = _CHECKS[plain]
    value = True if key == "is_json" else grader.get("value")
    criterion: dict[str, Any] = {key: value, "required": grader.get("required") is True}
    flags = str(grader.get("flags", ""))
    if set(flags) - {"i", "g", "u"}:
        found.refuse((*place, "flags"), f"the flags `{flags}` have no counterpart")
    if plain.startswith("icontains") or "i" in flags:
        criterion["ignore_case"] = True
    if (grader.get("negate") is True) is not kind.startswith("not-"):
        criterion["not"] = True
    _gate(found, grader, place)
    if _weight(grader) != 1.0:
        criterion["weight"] = grader["weight"]
    found_names = grader.get("description")
    if isinstance(found_names, str):
        criterion["expected_outcome"] = found_names
    return criterion


def _gate(found: Translation, grader: dict[str, Any], place: Path) -> None:
    if "required" in grader and not isinstance(grader["required"], bool):
        found.refuse((*place, "required"), "a minimum score of a grader has no counterpart")


def _rubric(found: Translation, grader: dict[str, Any], place: Path) -> Iterator[tuple[Any, Path]]:
    """Yield the criteria of a rubric, which share the weight of their grader."""
    found.refuse_keys(grader, (*_OPTIONS, "criteria", "value", "rubrics"), place)
    key = next((key for key in ("criteria", "value", "rubrics") if key in grader), "")
    written = grader.get(key)
    items = written if isinstance(written, list) else [written]
    if not key or (isinstance(written, str) and written.startswith("file://")):
        found.refuse(place, "a grader without criteria of its own has no counterpart")
        return
    if grader.get("required") not in {None, False} and len(items) > 1:
        found.refuse((*place, "required"), "a required grader of several criteria has no gate here")
    weights = [_weight(item) for item in items]
    share = _weight(grader) / (sum(weights) or 1.0)
    for index, item in enumerate(items):
        where = (*place, key, index) if isinstance(written, list) else (*place, key)
        criterion = _criterion(found, item, share, where)
        if grader.get("required") is True and len(items) == 1:
            criterion["required"] = True
        yield criterion, where


def _criterion(found: Translation, item: Any, share: float, place: Path) -> dict[str, Any]:
    """Return a criterion with its share of the grader's weight."""
    if not isinstance(item, dict):
        return {"expected_outcome": item, "weight": round(share, 6), "required": False}
    known = ("id", "outcome", "expected_outcome", "description", "weight", "required", "min_score")
    found.refuse_keys(item, (*known, "score_ranges", "operator"), place)
    if item.get("operator", "correctness") != "correctness":
        found.refuse((*place, "operator"), f"`operator: {item['operator']}` has no counterpart")
    text = next((item[key] for key in ("outcome", "expected_outcome") if key in item), None)
    criterion: dict[str, Any] = {"weight": round(_weight(item) * share, 6)}
    if text is not None:
        criterion["expected_outcome"] = text
    if "score_ranges" in item:
        criterion["score_ranges"] = item["score_ranges"]
    else:
        criterion["required"] = False
    return criterion


def _script(found: Translation, grader: dict[str, Any], place: Path) -> dict[str, Any]:
    """Return a script as a `code_judge`; keys of its own are its configuration."""
    command = next((grader[key] for key in ("command", "script") if key in grader), None)
    if not isinstance(command, str | list) or str(command).startswith("file://"):
        found.refuse(place, "a script without a `command` has no counterpart")
    for key in ("provider", "target", "negate", "min_score", "timeout"):
        if grader.get(key):
            found.refuse((*place, key), f"`{key}` of a script has no counterpart")
    if grader.get("required") not in {None, False}:
        found.refuse((*place, "required"), "a required script has no gate here")
    known = (*_OPTIONS, "command", "script", "cwd", "config")
    given = grader.get("config")
    config = {**(given if isinstance(given, dict) else {})}
    config |= {key: value for key, value in grader.items() if key not in known}
    kept: dict[str, Any] = {key: grader[key] for key in ("weight", "cwd") if key in grader}
    name = str(grader.get("name") or grader.get("metric") or f"script-{place[-1]}")
    options = {"config": config} if config else {}
    return {"name": name, "type": "code_judge", "script": command, **options, **kept}


def _limit(found: Translation, grader: dict[str, Any], place: Path) -> dict[str, Any]:
    """Return a measurement as an evaluator of its own."""
    name, keys = _LIMITS[str(grader["type"]).replace("_", "-")]
    found.refuse_keys(grader, (*_OPTIONS, *keys), place)
    options = {ours: grader[key] for key, ours in keys.items() if key in grader}
    if grader.get("required") not in {None, False}:
        found.refuse((*place, "required"), "a required measurement has no gate here")
    weight = {"weight": grader["weight"]} if "weight" in grader else {}
    return {"name": f"{name}-{place[-1]}", "type": name, **options, **weight}


def _prompt(found: Translation, grader: dict[str, Any], place: Path) -> dict[str, Any]:
    """Return a grader with a prompt of its own as an `llm_judge`, which gives a score."""
    found.refuse_keys(grader, (*_OPTIONS, "prompt"), place)
    prompt = grader["prompt"]
    if not isinstance(prompt, str):
        found.refuse((*place, "prompt"), "a prompt that is no text has no counterpart")
    if grader.get("required") not in {None, False}:
        found.refuse((*place, "required"), "a required judge has no gate here")
    name = str(grader.get("name") or grader.get("metric") or f"judge-{place[-1]}")
    weight = {"weight": grader["weight"]} if "weight" in grader else {}
    text = prompt.removeprefix("file://") if isinstance(prompt, str) else prompt
    return {"name": name, "type": "llm_judge", "prompt": text, **weight}


_EVALUATORS: Final = {**dict.fromkeys(_LIMITS, _limit), **dict.fromkeys(_SCRIPTS, _script)}
