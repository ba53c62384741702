"""Validate data with a packaged JSON Schema: jsonschema-rs is fast, `schema_errors` explains."""

from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from rubric_ci.files.yaml_text.source import Values
from rubric_ci.system import installation
from rubric_ci.values.problems import Problem


def problems(name: str, source: Values) -> list[Problem]:
    """Return the problems of data according to `schemas/<name>.schema.json`."""
    if fits(name, source.data):
        return []
    from rubric_ci.files.validation.schema_errors import explain

    return explain(read_schema(name), source.data, source.written)


def fits(name: str, data: Any) -> bool:
    return _validator(name).is_valid(data)


@cache
def read_schema(name: str) -> Any:
    import json  # only to explain

    return json.loads(installation.read_schema(name))


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(installation.read_schema(name))  # faster from a text than from data
