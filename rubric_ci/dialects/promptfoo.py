"""promptfoo's configurations, for `import`: a case per test and prompt, assertions as criteria.

They are not read in place: real ones run code. A test passes there if every assertion does, so that
criteria are required.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.dialects.translation import Translation
from rubric_ci.yaml_text.problems import Path

NAME: Final = "promptfoo"

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
_ABOUT: Final = frozenset(("description", "$schema", "tags", "metadata", "outputPath", "sharing"))
_SUITE: Final = frozenset(("prompts", "providers", "targets", "tests", "defaultTest"))
_TEST: Final = frozenset(("description", "vars", "assert", "metadata"))
_VARIABLE: Final = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)\s*-?\}\}")


def matches(data: Any) -> bool:
    """Return True for a configuration with tests in it."""
    known = isinstance(data, dict) and ("prompts" in data or "providers" in data)
    return known and "tests" in data


def translate(data: dict[str, Any]) -> Translation:
    """Return the file as ours."""
    found = Translation()
    if isinstance(data.get("description"), str):
        found.put(("description",), data["description"], ("description",))
    found.refuse_keys(data, _SUITE | _ABOUT, ())
    prompts = list(_prompts(found, data.get("prompts") or ["{{input}}"]))
    tests = data["tests"]
    found.put(("evalcases",), [], ("tests",))
    if not isinstance(tests, list):
        found.refuse(("tests",), "tests in another file are not imported")
        return found
    taken: Counter[str] = Counter()
    for index, test in enumerate(tests):
        place: Path = ("tests", index)
        if not isinstance(test, dict):
            found.refuse(place, "a test in another file is not imported")
            continue
        for number, (prompt, where) in enumerate(prompts):
            suffix = f"-{number + 1}" if len(prompts) > 1 else ""
            name = _name(test, index) + suffix
            taken[name] += 1
            unique = name if taken[name] == 1 else f"{name}-{taken[name]}"
            _case(found, data, (test, place), (prompt, where), unique, once=number == 0)
    return found


def _prompts(found: Translation, written: Any) -> Iterator[tuple[str, Path]]:
    """Yield the prompts that are texts; a file or a function has no counterpart."""
    items = written if isinstance(written, list) else [written]
    for index, item in enumerate(items):
        place: Path = ("prompts", index) if isinstance(written, list) else ("prompts",)
        text = item.get("raw") if isinstance(item, dict) else item
        if isinstance(text, str) and not text.startswith("file://") and "{%" not in text:
            yield text, place
        else:
            found.refuse(place, "a prompt that is no text is not imported, nor are its cases")


def _name(test: Mapping[str, Any], index: int) -> str:
    """Return an id from the description, else from the position."""
    described = test.get("description")
    words = re.findall(r"\w+", described.lower()) if isinstance(described, str) else []
    return "-".join(words)[:60] or f"test-{index + 1}"


def _case(
    found: Translation,
    data: Mapping[str, Any],
    test: tuple[dict[str, Any], Path],
    prompt: tuple[str, Path],
    name: str,
    *,
    once: bool,
) -> None:
    """Add a case; what it lacks is reported `once` per test."""
    given, place = test
    report = found if once else Translation()
    default = data.get("defaultTest")
    default = default if isinstance(default, dict) else {}
    report.refuse_keys(given, _TEST, place)
    variables = {**_vars(report, default, ("defaultTest",)), **_vars(report, given, place)}
    ours: Path = ("evalcases", len(found.data["evalcases"]))
    found.put(ours, {}, place)
    found.put((*ours, "id"), name, (*place, "description"))
    found.put((*ours, "input"), prompt[0], prompt[1])
    used = set(_VARIABLE.findall(prompt[0]))
    if used:
        values = {key: variables.get(key, "") for key in sorted(used)}
        found.put((*ours, "vars"), values, (*place, "vars"))
    written = [
        *((each, ("defaultTest", "assert", at)) for at, each in enumerate(_asserts(default))),
        *((each, (*place, "assert", at)) for at, each in enumerate(_asserts(given))),
    ]
    _graders(found, report, written, variables, ours)


def _asserts(test: Mapping[str, Any]) -> list[Any]:
    written = test.get("assert")
    return written if isinstance(written, list) else []


def _vars(report: Translation, test: Mapping[str, Any], place: Path) -> dict[str, str]:
    written = test.get("vars") or {}
    if not isinstance(written, dict):
        report.refuse((*place, "vars"), "variables in another file are not imported")
        return {}
    for key, value in written.items():
        if isinstance(value, list) or (isinstance(value, str) and value.startswith("file://")):
            report.refuse((*place, "vars", key), f"`{key}` is a list or a file, as it is written")
    texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in written.items()}
    return {str(key): value for key, value in texts.items()}


def _graders(
    found: Translation,
    report: Translation,
    written: list[tuple[Any, Path]],
    variables: Mapping[str, str],
    ours: Path,
) -> None:
    criteria: list[tuple[dict[str, Any], Path]] = []
    limits: list[tuple[dict[str, Any], Path]] = []
    for assertion, place in written:
        kind = str(assertion.get("type", "")) if isinstance(assertion, dict) else ""
        if kind in _LIMITS and "threshold" in assertion:
            limit = {"name": f"{kind}-{place[-1]}", "type": kind}
            limits.append(({**limit, _LIMITS[kind]: assertion["threshold"]}, place))
        elif criterion := _criterion(report, assertion, kind, place):
            criteria.append((_filled(criterion, variables), place))
    if criteria:
        found.put((*ours, "rubrics"), [], ())
        for number, (criterion, place) in enumerate(criteria):
            found.put((*ours, "rubrics", number), criterion, place)
    if limits:
        found.put((*ours, "evaluators"), [], ())
        for number, (limit, place) in enumerate(limits):
            found.put((*ours, "evaluators", number), limit, place)


def _criterion(
    report: Translation, assertion: Any, kind: str, place: Path
) -> dict[str, Any] | None:
    """Return an assertion as a criterion; None, and a report, without a counterpart."""
    if not isinstance(assertion, dict):
        report.refuse(place, "an assertion is a mapping")
        return None
    plain = kind.removeprefix("not-")
    ignores = plain.startswith("icontains")
    key = _CHECKS.get(plain.removeprefix("i") if ignores else plain)
    value = assertion.get("value")
    extra: dict[str, Any] = {}
    if plain == "llm-rubric" and isinstance(value, str) and "threshold" not in assertion:
        extra = {"expected_outcome": value}
    elif plain == "word-count" and kind == plain:
        extra = _words(value)
    elif plain == "is-json" and isinstance(value, dict):
        extra = {"json_schema": value}
    elif key and not (isinstance(value, str) and value.startswith("file://")):
        extra = {key: _value(key, value), **({"ignore_case": True} if ignores else {})}
    if not extra or (kind != plain and plain == "llm-rubric"):
        report.refuse((*place, "type"), f"the assertion `{kind}` has no counterpart")
        return None
    known = ("type", "value", "metric", "weight", "description")
    report.refuse_keys(assertion, known, place)
    if kind != plain:
        extra["not"] = True
    weight = assertion.get("weight", 1)
    return {**extra, **({"weight": weight} if weight != 1 else {})}


def _value(key: str, value: Any) -> Any:
    if key in {"is_json", "contains_json"}:
        return True
    if key in {"contains_any", "contains_all"} and isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return value


def _words(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {f"{end}_words": value[end] for end in ("min", "max") if end in value}
    return {}


def _filled(criterion: dict[str, Any], variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the criterion with the variables of its texts, as promptfoo renders them."""

    def fill(value: Any) -> Any:
        if isinstance(value, str):
            return _VARIABLE.sub(lambda name: variables.get(name[1], ""), value)
        return [fill(each) for each in value] if isinstance(value, list) else value

    return {key: fill(value) for key, value in criterion.items()}
