"""The names of the keys of assertions; the table says what each means."""

from collections.abc import Mapping
from typing import Any, Final

KEYS: Final = (
    *("contains", "contains_any", "contains_all", "equals", "starts_with", "ends_with", "matches"),
    *("is_json", "contains_json", "json_schema", "max_words", "min_words"),
    *("called", "never_called", "skill_used", "called_with", "calls_in_order", "calls_exactly"),
    *("no_other_calls", "max_calls"),
    *("exists", "file_contains", "unchanged", "command"),
)
_KEYS: Final = frozenset(KEYS)
SCHEMA_KEY: Final = "json_schema"  # its value may be the path of a file


def keys_of(criterion: Mapping[str, Any]) -> list[str]:
    """Return the keys of assertions that a criterion has, in the order of the table."""
    return [] if _KEYS.isdisjoint(criterion) else [key for key in KEYS if key in criterion]
