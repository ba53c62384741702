"""Validate data with a packaged JSON Schema: jsonschema-rs is fast, `schema_errors` explains."""

import json
from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from rubric_ci.system import resources
from rubric_ci.yaml_text.problems import Problem
from rubric_ci.yaml_text.source import Values


def problems(name: str, source: Values) -> list[Problem]:
    """Return the problems of data according to `schemas/<name>.schema.json`."""
    schema, validator = _load(name)
    if validator.is_valid(source.data):
        return []
    from rubric_ci.validation.schema_errors import explain

    return explain(schema, source.data, source.written)


def read_schema(name: str) -> Any:
    """Return `schemas/<name>.schema.json` as data."""
    return json.loads(resources.read_schema(name))


@cache
def _load(name: str) -> tuple[Any, Draft202012Validator]:
    schema = read_schema(name)
    return schema, Draft202012Validator(schema)
