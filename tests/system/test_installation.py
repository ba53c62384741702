"""The command that installs an extra is that of the tool that installed rubric-ci."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from rubric_ci.files.validation.schema import read_schema
from rubric_ci.system.installation import install_command

HOOK = (
    "add `additional_dependencies: ['google-auth>=2.40', "
    "'litellm!=1.82.7,!=1.82.8,>=1.80']` to the hook"
)


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("/home/ada/shop/.venv", "pip install 'rubric-ci[judge]'"),
        ("/home/ada/.local/share/uv/tools/rubric-ci", "uv tool install 'rubric-ci[judge]'"),
        ("C:\\Users\\Ada\\AppData\\uv\\tools\\rubric-ci", "uv tool install 'rubric-ci[judge]'"),
        ("/home/ada/.local/pipx/venvs/rubric-ci", "pipx install --force 'rubric-ci[judge]'"),
        ("/home/ada/.cache/pre-commit/repo1a/py_env-python3.12", HOOK),
        ("/home/ada/.cache/prek/hooks/python-1a", HOOK),
    ],
)
def test_the_command(prefix: str, expected: str) -> None:
    assert install_command("judge", prefix) == expected


def fields(schema: Any, root: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each field by its place, with what it refers to put into it."""
    if isinstance(schema, list):
        for entry in schema:
            yield from fields(entry, root, path)
    if not isinstance(schema, dict):
        return
    for name, field in schema.get("properties", {}).items():
        if isinstance(field, dict):
            merged = field
            while "$ref" in merged:
                target = root
                for step in merged["$ref"].removeprefix("#/").split("/"):
                    target = target[step]
                merged = {**target, **{k: v for k, v in merged.items() if k != "$ref"}}
            yield f"{path}.{name}", merged
    for key, inner in schema.items():
        if key != "if":  # conditions describe nothing
            yield from fields(inner, root, f"{path}/{key}")


FIELDS = [
    pytest.param(field, id=f"{name}{place}")
    for name in ("eval", "config")
    for place, field in fields(read_schema(name), read_schema(name))
]


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_has_words_and_examples(field: Any) -> None:
    assert field.get("title")
    assert field.get("description", "").endswith((".", "`"))
    assert field.get("examples") or field.get("type") == "object" or "default" in field


@pytest.mark.parametrize("name", ["eval", "config", "report"])
def test_the_schemas_are_schemas(name: str) -> None:
    meta_schema = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    assert not list(meta_schema.iter_errors(read_schema(name)))


@pytest.mark.parametrize("name", ["eval", "config"])
def test_no_field_is_a_choice_of_shapes(name: str) -> None:
    text = str(read_schema(name))
    assert "oneOf" not in text
    assert "anyOf" not in text
