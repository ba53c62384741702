"""Recognise a golden set: records with a question and its reference answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rubric_ci.files.yaml_text.column_names import USUAL, spelt
from rubric_ci.values.problems import Path

_CASES: Final = "evalcases"
_LISTS: Final = (
    _CASES,
    *("examples", "data", "cases", "test_cases", "items", "samples", "records", "rows"),
    *("goldens", "golden_set", "dataset", "questions"),
)
_TESTS: Final = "tests"
_PAIR: Final = ("input", "expected_output")
_OF_CASE: Final = frozenset(("rubrics", "expected_outcome", "outcome", "evaluators", "execution"))
_OF_TEST: Final = frozenset(
    ("vars", "threshold", "thresholds", "criteria", "graders", "assert", "assertion", "assertions")
)
"""Keys by which `tests` of promptfoo, AgentV and EvalView grade answers."""

ABOUT: Final = ("name", "description", "version", "metadata", "$schema", "created_at", "id")
"""Keys next to the records of a golden set."""


def outcome(*, has_reference: bool) -> str:
    """Return the expected outcome of a record, from which its rubrics are drafted."""
    if has_reference:
        return "Answers the request as the reference answer does"
    return "Answers the request correctly and completely"


def list_of(data: Any) -> Path | None:
    """Return the path of the records of a JSON text; None: it is not a golden set."""
    if isinstance(data, list):
        return () if _are_records(data) else None
    owner = data if isinstance(data, dict) else {}
    names = [key for key in owner if key in _LISTS and isinstance(owner[key], list)]
    if not names and _are_plain_tests(owner):
        return (_TESTS,)
    if len(names) != 1 or not _are_records(owner[names[0]]):
        return None
    if names == [_CASES] and len(owner) > 1:  # alone, it holds the lines of JSON Lines
        ours = not _OF_CASE.isdisjoint(owner) or not record_names(owner[_CASES])
        return None if ours else (_CASES,)
    return (names[0],)


def is_ours(data: Mapping[str, Any]) -> bool:
    """Return True for `evalcases` whose questions and reference answers have our names."""
    return _CASES in data and record_names(data[_CASES]).keys() <= set(_PAIR)


def record_names(records: Sequence[Any]) -> dict[str, str]:
    """Return the names of question and reference answer in all records; none if one lacks them.

    Each name has the spelling of the last record. A case of an eval file is not a record: it has
    rubrics, evaluators, or an id with our names.
    """
    found: dict[str, str] = {}
    for each in records:
        keys = {spelt(str(key)): str(key) for key in each} if isinstance(each, dict) else {}
        named = [next((k for k in USUAL[of] if k in keys), "") for of in _PAIR]
        ours = not _OF_CASE.isdisjoint(keys) or ("id" in keys and tuple(named) == _PAIR)
        if ours or not all(named):
            return {}
        found |= {name: keys[name] for name in named}
    return found


def has_question(columns: Iterable[str]) -> bool:
    """Return True if a column has a usual name of the question."""
    return any(spelt(each) in USUAL["input"] for each in columns)


def _are_records(items: Any) -> bool:
    mappings = isinstance(items, list) and all(isinstance(each, dict) for each in items)
    keys = [key for each in items for key in each] if mappings else []
    texts = all(isinstance(key, str) for key in keys)
    return texts and any(spelt(key) in USUAL["input"] for key in keys)


def _are_plain_tests(owner: Mapping[str, Any]) -> bool:
    """Return True for `tests` with questions and reference answers, which no other tool grades."""
    tests = owner.get(_TESTS, [])
    if not owner.keys() <= {_TESTS, *ABOUT} or not _are_records(tests) or not record_names(tests):
        return False
    asks = any(isinstance(each.get("input"), dict) for each in tests)  # as EvalView does
    return not asks and all(_OF_TEST.isdisjoint(each) for each in tests)
