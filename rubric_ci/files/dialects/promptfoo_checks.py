"""promptfoo's assertions as criteria, limits and scripts that run its own code.

A test passes there if every assertion does: criteria are required. The code of a test runs in one
script per language, which gives 1 if all of it passes, and weighs so much that 0 fails the case.
With a `threshold` the mean of all assertions decides: a composite whose aggregator is the shim.
What a `transform` returns is known to the shims only, so that they check texts then, too.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from rubric_ci.files.dialects.promptfoo_code import (
    COMMANDS,
    KEYS,
    LANGUAGES,
    SHIMS,
    Setting,
    check_of,
    refuses_template,
    rendered,
    script_of,
    transforms_of,
)
from rubric_ci.files.dialects.translation import Translation
from rubric_ci.files.yaml_text.problems import Path
from rubric_ci.model.dataclass import dataclass

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
_OF_SHIM: Final = frozenset(
    (
        *("contains", "contains_any", "contains_all", "equals", "starts_with", "matches"),
        *("is_json", "word_count"),
    )
)
_LIMITS: Final = {"latency": "threshold", "cost": "budget"}
KINDS: Final = frozenset(
    (
        *(*_CHECKS, *(f"i{name}" for name in _CHECKS), *_LIMITS, *LANGUAGES),
        *("llm-rubric", "model-graded-closedqa", "word-count", "similar", "factuality", "g-eval"),
        *("levenshtein", "rouge-n", "webhook", "perplexity", "is-refusal", "moderation"),
    )
)
"""The types of assertions that a cell of a table is known to name."""

Placed = tuple[Any, Path]


@dataclass(slots=True)
class _Group:
    """Assertions that are decided together."""

    criteria: list[Placed] = field(default_factory=list)
    limits: list[Placed] = field(default_factory=list)
    sets: list[Placed] = field(default_factory=list)
    code: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def add_checks(found: Translation, written: list[Placed], ours: Path, setting: Setting) -> None:
    """Add the assertions of a test, and report what has no counterpart."""
    group = _grouped(found, written, setting)
    scripts = [script_of(found, name, group.code[name], setting) for name in group.code]
    together = group.sets or (group.limits and len(scripts) + len(group.limits) > 1)
    if setting.limit is not None or together:
        _put(found, [], [(_composite(found, group, setting), ())], ours)
        return
    others = sum(each.get("weight", 1) for each, _ in group.criteria) + len(group.limits)
    for script in scripts:
        script["weight"] = max(others, 1) * (3 if len(scripts) > 1 else 1)
    _put(found, group.criteria, [*group.limits, *((each, ()) for each in scripts)], ours)


def _grouped(found: Translation, written: list[Placed], setting: Setting) -> _Group:
    group = _Group()
    for assertion, place in _flattened(found, written, setting.limit):
        kind = str(assertion.get("type", "")) if isinstance(assertion, dict) else ""
        plain = kind.removeprefix("not-")
        if kind == "assert-set":
            inner = setting._replace(limit=assertion["threshold"])
            members = _grouped(found, _members(assertion, place), inner)
            name = str(assertion.get("metric") or "set")
            group.sets.append(({**_composite(found, members, inner), "name": name}, place))
        elif kind in _LIMITS and "threshold" in assertion:
            found.refuse_keys(assertion, (*KEYS, "threshold"), place)
            weight = {"weight": assertion["weight"]} if "weight" in assertion else {}
            limit = {"name": kind, "type": kind, _LIMITS[kind]: assertion["threshold"], **weight}
            group.limits.append((limit, place))
        elif plain in LANGUAGES:
            if check := check_of(found, assertion, kind, place, setting):
                group.code.setdefault(plain, []).append(check)
        else:
            _add_criteria(found, group, assertion, kind, place, setting)
    return group


def _add_criteria(
    found: Translation, group: _Group, assertion: Any, kind: str, place: Path, setting: Setting
) -> None:
    """Add an assertion as criteria, or as a check of the shim where only that decides alike."""
    transforms = transforms_of(found, assertion, place, setting)
    range_ = kind == "not-word-count" or setting.limit is not None
    criteria = _criteria(found, assertion, kind, place, whole=bool(transforms) or range_)
    filled = [rendered(each, setting.variables) for each in criteria]
    values = [value for each in filled for value in each.values()]
    if any(refuses_template(found, value, (*place, "value")) for value in values):
        return
    if not transforms and not any("word_count" in each for each in filled):
        group.criteria += [(each, place) for each in filled]
        return
    for each in filled:
        checked = each.keys() & _OF_SHIM and not isinstance(each.get("equals"), dict | list)
        if checked:
            name = str(assertion.get("metric") or kind)
            extra = {"transform": transforms} if transforms else {}
            group.code.setdefault("javascript", []).append({"name": name, **each, **extra})
        else:
            message = f"`{kind}` about the result of a `transform` has no counterpart"
            found.refuse((*place, "type"), message)


def _composite(found: Translation, group: _Group, setting: Setting) -> dict[str, Any]:
    """Return all assertions as one evaluator: 1 if their mean reaches the limit, or all pass."""
    scripts = [script_of(found, name, group.code[name], setting) for name in group.code]
    used = next(iter(group.code), "python")
    found.shims.add(SHIMS[used])
    limit = setting.limit
    optional = {} if limit is None else {"required": False}
    rubric = {
        "name": "checks",
        "type": "rubric",
        "weight": sum(each.get("weight", 1) for each, _ in group.criteria),
        "rubrics": [{**each, **optional} for each, _ in group.criteria],
    }
    for each in scripts if limit is not None else ():
        each["config"]["mean"] = True
    others = [*(each for each, _ in (*group.limits, *group.sets)), *scripts]
    words = [COMMANDS[used], SHIMS[used], *(["--all"] if limit is None else ["--mean", str(limit)])]
    return {
        "name": "assertions",
        "type": "composite",
        "evaluators": _named([*([rubric] if group.criteria else []), *others]),
        "aggregator": {"type": "code_judge", "path": " ".join(words)},
    }


def _put(found: Translation, criteria: list[Placed], evaluators: list[Placed], ours: Path) -> None:
    if criteria:
        found.put((*ours, "rubrics"), [], ())
    for number, (criterion, place) in enumerate(criteria):
        found.put((*ours, "rubrics", number), criterion, place)
    if evaluators:
        found.put((*ours, "evaluators"), [], ())
    named = _named([each for each, _ in evaluators])
    for number, (evaluator, (_, place)) in enumerate(zip(named, evaluators, strict=True)):
        found.put((*ours, "evaluators", number), evaluator, place)


def _named(evaluators: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return evaluators with names of their own."""
    names: Counter[str] = Counter()
    named = []
    for each in evaluators:
        names[each["name"]] += 1
        count = names[each["name"]]
        named.append({**each, "name": f"{each['name']}-{count}"} if count > 1 else each)
    return named


def _flattened(found: Translation, written: list[Placed], limit: float | None) -> Iterator[Placed]:
    """Yield the assertions, and of each set its members or, if its own threshold decides, itself.

    Where the mean of a test decides, the members have the weight of their set, and its threshold
    decides nothing.
    """
    for assertion, place in written:
        if not isinstance(assertion, dict) or assertion.get("type") != "assert-set":
            yield assertion, place
            continue
        found.refuse_keys(assertion, ("type", "assert", "metric", "threshold", "weight"), place)
        members = _members(assertion, place)
        total = sum(_weight(each) for each, _ in members)
        if limit is not None and total:
            share = _weight(assertion) / total
            members = [
                ({**each, "weight": share * _weight(each)} if isinstance(each, dict) else each, at)
                for each, at in members
            ]
        if limit is None and _is_number(assertion.get("threshold")):
            yield assertion, place
        else:
            yield from _flattened(found, members, limit)


def _members(assertion: Mapping[str, Any], place: Path) -> list[Placed]:
    written = assertion.get("assert")
    items = written if isinstance(written, list) else []
    return [(each, (*place, "assert", index)) for index, each in enumerate(items)]


def _weight(assertion: Any) -> float:
    weight = assertion.get("weight", 1) if isinstance(assertion, dict) else 1
    return weight if _is_number(weight) else 1


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _criteria(
    found: Translation, assertion: Any, kind: str, place: Path, *, whole: bool
) -> list[dict[str, Any]]:
    """Return an assertion as criteria; none, and a report, without a counterpart."""
    if not isinstance(assertion, dict):
        found.refuse(place, "an assertion is a mapping")
        return []
    keys = _keys(assertion, kind, whole=whole)
    if not keys:
        found.refuse((*place, "type"), f"the assertion `{kind}` has no counterpart")
        return []
    found.refuse_keys(assertion, KEYS, place)
    if not _is_number(assertion.get("weight", 1)):
        found.refuse((*place, "weight"), "a weight is a number")
    weight = _weight(assertion) if len(keys) == 1 else _weight(assertion) / len(keys)
    extra: dict[str, Any] = {"weight": weight} if weight != 1 else {}
    inverted = {"not": True} if kind.startswith("not-") else {}
    return [{**each, **inverted, **extra} for each in keys]


def _keys(assertion: dict[str, Any], kind: str, *, whole: bool) -> list[dict[str, Any]]:
    """Return an assertion as keys of criteria, or as a whole for the shim."""
    plain = kind.removeprefix("not-")
    ignores = plain.startswith("icontains")
    key = _CHECKS.get(plain.removeprefix("i") if ignores else plain)
    value = assertion.get("value")
    if isinstance(value, str) and value.startswith("file://"):
        return []
    if kind in {"llm-rubric", "model-graded-closedqa"}:
        return [{"expected_outcome": value}] if value and "threshold" not in assertion else []
    if kind.endswith("word-count"):
        limits = value if isinstance(value, dict) else {"min": value, "max": value}
        ends = [end for end in ("min", "max") if limits.get(end) is not None]
        if whole:
            return [{"word_count": limits}] if ends else []
        return [{f"{end}_words": limits[end]} for end in ends]
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
