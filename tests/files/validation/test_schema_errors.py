"""Keys that exclude each other: each pair of the schemas is explained."""

from collections.abc import Iterator
from typing import Any

import pytest

from rubric_ci.files.validation.schema import read_schema
from rubric_ci.files.validation.schema_errors import EXCLUDED_KEYS


def exclusions(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield each key with one that the schema refuses next to it."""
    for value in schema.values() if isinstance(schema, dict) else ():
        yield from exclusions(value)
    for value in schema if isinstance(schema, list) else ():
        yield from exclusions(value)
    given = schema.get("dependentSchemas", {}) if isinstance(schema, dict) else {}
    for key, then in given.items():
        parts = (then, *then.get("allOf", ()), then.get("then", {}))
        refused = (part.get("properties", {}).items() for part in parts)
        yield from ((key, other) for each in refused for other, rule in each if rule is False)


@pytest.mark.parametrize("name", ["eval", "config"])
def test_each_exclusion_is_explained(name: str) -> None:
    found = set(exclusions(read_schema(name)))
    assert found
    assert not [(key, other) for key, other in found if other not in EXCLUDED_KEYS.get(key, ())]
