"""promptfoo's assertions as criteria, limits and scripts that run its own code.

A test passes there if every assertion does: criteria are required. The code of a test runs in one
script per language, which gives 1 if all of it passes, and weighs so much that 0 fails the case.
With a `threshold` the mean of all assertions decides: a composite whose aggregator is the shim.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from posixpath import join
from typing import Any, Final

from rubric_ci.dialects.translation import Translation, filled
from rubric_ci.yaml_text.problems import Path

_CHECKS: Final = {
    "contains": "contains",
    "contains-any": "contains_any",
    "contains-all": "contains_all",
    "equals": "equals",
    "starts-with": "starts_with",
    "regex": "matches",
    "is-json": "is_json",
    "contains-json": "contains_json",
}
_LIMITS: Final = {"latency": "threshold", "cost": "budget"}
_CODE: Final = {"javascript": (".js", ".mjs", ".cjs"), "python": (".py",)}
SHIMS: Final = {"javascript": "promptfoo_shim.mjs", "python": "promptfoo_shim.py"}
COMMANDS: Final = {"javascript": "node", "python": "python3"}
_KNOWN: Final = ("type", "value", "metric", "weight", "description")

Placed = tuple[Any, Path]


def add_checks(
    found: Translation,
    report: Translation,
    written: list[Placed],
    variables: Mapping[str, Any],
    ours: Path,
    base: str,
    limit: Any = None,
) -> None:
    """Add the assertions of a test; `report` gets what has no counterpart."""
    criteria: list[Placed] = []
    limits: list[Placed] = []
    code: dict[str, list[dict[str, Any]]] = {}
    for assertion, place in _flattened(report, written):
        kind = str(assertion.get("type", "")) if isinstance(assertion, dict) else ""
        plain = kind.removeprefix("not-")
        if kind in _LIMITS and "threshold" in assertion:
            report.refuse_keys(assertion, (*_KNOWN, "threshold"), place)
            weight = {"weight": assertion["weight"]} if "weight" in assertion else {}
            measure = {"name": kind, "type": kind, _LIMITS[kind]: assertion["threshold"], **weight}
            limits.append((measure, place))
        elif plain in _CODE:
            check = _code(report, assertion, kind, place, base)
            code.setdefault(plain, []).extend([check] if check else [])
        else:
            found_criteria = _criteria(report, assertion, kind, place)
            criteria += [(_rendered(each, variables), place) for each in found_criteria]
    scripts = [_script(found, each, code[each], variables) for each in code if code[each]]
    if limit is not None or (limits and len(scripts) + len(limits) > 1):
        together = _composite(found, criteria, [*(each for each, _ in limits), *scripts], limit)
        _put(found, [], [(together, ())], ours)
        return
    others = sum(each.get("weight", 1) for each, _ in criteria) + len(limits)
    for script in scripts:
        script["weight"] = max(others, 1) * (3 if len(scripts) > 1 else 1)
    _put(found, criteria, [*limits, *((each, ()) for each in scripts)], ours)


def _script(
    found: Translation, language: str, checks: list[dict[str, Any]], variables: Mapping[str, Any]
) -> dict[str, Any]:
    found.shims.add(SHIMS[language])
    return {
        "name": language,
        "type": "code_judge",
        "script": [COMMANDS[language], SHIMS[language]],
        "weight": sum(each.get("weight", 1) for each in checks),
        "config": {"checks": checks, "vars": dict(variables)},
    }


def _composite(
    found: Translation, criteria: list[Placed], others: list[dict[str, Any]], limit: Any
) -> dict[str, Any]:
    """Return all assertions as one evaluator: 1 if their mean reaches the limit, or all pass."""
    used = next((each["name"] for each in others if each["name"] in SHIMS), "python")
    found.shims.add(SHIMS[used])
    optional = {} if limit is None else {"required": False}
    rubric = {
        "name": "checks",
        "type": "rubric",
        "weight": sum(each.get("weight", 1) for each, _ in criteria),
        "rubrics": [{**each, **optional} for each, _ in criteria],
    }
    for each in others:
        if limit is not None and "config" in each:
            each["config"]["mean"] = True
    words = [COMMANDS[used], SHIMS[used], *(["--all"] if limit is None else ["--mean", str(limit)])]
    aggregator = {"type": "code_judge", "path": " ".join(words)}
    members = [*([rubric] if criteria else []), *others]
    return {
        "name": "assertions",
        "type": "composite",
        "evaluators": members,
        "aggregator": aggregator,
    }


def _rendered(criterion: dict[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return a criterion with its variables; a text stays one, also where it is a number."""
    found: dict[str, Any] = filled(criterion, variables)
    numbers = {
        key: json.dumps(value)
        for key, value in found.items()
        if isinstance(value, int | float) and isinstance(criterion[key], str)
    }
    return {**found, **numbers}


def _put(found: Translation, criteria: list[Placed], evaluators: list[Placed], ours: Path) -> None:
    if criteria:
        found.put((*ours, "rubrics"), [], ())
    for number, (criterion, place) in enumerate(criteria):
        found.put((*ours, "rubrics", number), criterion, place)
    if evaluators:
        found.put((*ours, "evaluators"), [], ())
    names: Counter[str] = Counter()
    for number, (evaluator, place) in enumerate(evaluators):
        names[evaluator["name"]] += 1
        if names[evaluator["name"]] > 1:
            evaluator["name"] += f"-{names[evaluator['name']]}"
        found.put((*ours, "evaluators", number), evaluator, place)


def _flattened(report: Translation, written: list[Placed]) -> Iterator[Placed]:
    """Yield the assertions, those of sets included: a set passes if all of them do."""
    for assertion, place in written:
        if not isinstance(assertion, dict) or assertion.get("type") != "assert-set":
            yield assertion, place
            continue
        report.refuse_keys(assertion, ("type", "assert", "metric"), place)
        members = assertion.get("assert") or []
        inner = [(each, (*place, "assert", index)) for index, each in enumerate(members)]
        yield from _flattened(report, inner)


def _code(
    report: Translation, assertion: dict[str, Any], kind: str, place: Path, base: str
) -> dict[str, Any] | None:
    """Return a check by code for the shim; a file is named from the folder of the eval file."""
    plain = kind.removeprefix("not-")
    value = assertion.get("value")
    report.refuse_keys(assertion, (*_KNOWN, "threshold", "config"), place)
    if not isinstance(value, str):
        report.refuse((*place, "value"), f"`{kind}` has no text of code")
        return None
    text = " ".join(value.split())
    if value.startswith("file://"):
        text = value.removeprefix("file://")
        if not text.partition(":")[0].endswith(_CODE[plain]):
            why = ": node runs TypeScript from 22.18 on" if ".ts" in text else ""
            message = f"`{text}` is no file that {COMMANDS[plain]} runs{why}"
            report.refuse((*place, "value"), message)
            return None
        value = f"file://{join(base, text)}"
    options: dict[str, Any] = {
        key: assertion[key] for key in ("threshold", "config", "weight") if key in assertion
    }
    name = str(assertion.get("metric") or text[:80])
    return {"name": name, "value": value, **options, **({"not": True} if kind != plain else {})}


def _criteria(report: Translation, assertion: Any, kind: str, place: Path) -> list[dict[str, Any]]:
    """Return an assertion as criteria; none, and a report, without a counterpart."""
    if not isinstance(assertion, dict):
        report.refuse(place, "an assertion is a mapping")
        return []
    keys = _keys(assertion, kind)
    if not keys:
        report.refuse((*place, "type"), f"the assertion `{kind}` has no counterpart")
        return []
    report.refuse_keys(assertion, _KNOWN, place)
    weight = assertion.get("weight", 1)
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        report.refuse((*place, "weight"), "a weight is a number")
        weight = 1
    weight = weight / len(keys) if len(keys) > 1 else weight
    extra: dict[str, Any] = {"weight": weight} if weight != 1 else {}
    inverted = {"not": True} if kind.startswith("not-") else {}
    return [{**each, **inverted, **extra} for each in keys]


def _keys(assertion: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return an assertion as keys of criteria."""
    plain = kind.removeprefix("not-")
    ignores = plain.startswith("icontains")
    key = _CHECKS.get(plain.removeprefix("i") if ignores else plain)
    value = assertion.get("value")
    if isinstance(value, str) and value.startswith("file://"):
        return []
    if kind in {"llm-rubric", "model-graded-closedqa"}:
        return [{"expected_outcome": value}] if value and "threshold" not in assertion else []
    if kind == "word-count":
        limits = value if isinstance(value, dict) else {"min": value, "max": value}
        return [{f"{end}_words": limits[end]} for end in ("min", "max") if end in limits]
    if key in {"is_json", "contains_json"}:
        return _json(key, value)
    if key in {"contains_any", "contains_all"} and isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    extra = {"ignore_case": True} if ignores else {}
    return [{key: value, **extra}] if key and value is not None else []


def _json(key: str, value: Any) -> list[dict[str, Any]]:
    if value is None:
        return [{key: True}]
    return [{"json_schema": value}] if key == "is_json" and isinstance(value, dict) else []


_COLUMN: Final = re.compile(r"(not-)?([a-z][a-z-]*)(?:\(([\d.]+)\))?(?::(.*))?", re.DOTALL)
_SHORT: Final = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}
_TYPES: Final = frozenset(
    (
        *(*_CHECKS, *(f"i{name}" for name in _CHECKS), *_LIMITS, *_CODE),
        *("llm-rubric", "model-graded-closedqa", "word-count", "similar", "factuality", "g-eval"),
        *("levenshtein", "rouge-n", "webhook", "perplexity", "is-refusal", "moderation"),
    )
)


def test_of_row(report: Translation, row: Mapping[str, str], place: Path) -> dict[str, Any]:
    """Return a row of a table as a test: columns that start with `__` have a meaning."""
    test: dict[str, Any] = {"vars": {}, "assert": []}
    for column, text in row.items():
        if not column.startswith("__"):
            test["vars"][column] = text
        elif re.fullmatch(r"__expected\d*", column):
            test["assert"] += [_expected(text.strip())] if text.strip() else []
        elif column == "__description":
            test["description"] = text
        elif text.strip() and not column.startswith("__metadata"):
            report.refuse(place, f"the column `{column}` has no counterpart")
    return test


def _expected(text: str) -> dict[str, Any]:
    """Return the assertion that a cell writes as `type(0.8):value`; equality without a type."""
    if text.startswith("file://"):
        return {"type": "python" if ".py" in text else "javascript", "value": text}
    written = _COLUMN.fullmatch(text)
    plain = _SHORT.get(written[2], written[2]) if written else ""
    if written is None or plain not in _TYPES:
        return {"type": "equals", "value": text}
    limit = {"threshold": float(written[3])} if written[3] else {}
    value = {} if written[4] is None else {"value": written[4].strip()}
    return {"type": f"{written[1] or ''}{plain}", **value, **limit}
