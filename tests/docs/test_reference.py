"""The reference pages are current and leave no key, variable or extra out."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from rubric_ci.files.validation.validator import check_config
from rubric_ci.files.yaml_text.document import Document
from tests.docs import reference
from tests.docs.reference import PAGES, ROOT, page, read_schema, sections

BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
VARIABLES = re.compile(r"[\"']((?:GITHUB|OPENAI|LITELLM|RUNNER|XDG|NO)_[A-Z_]+)[\"']")


def text_of(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "schema"), PAGES.items())
def test_the_page_is_current(name: str, schema: str) -> None:
    text = text_of(name)
    assert page(text, read_schema(schema)) == text, "run `make golden`"


def keys(schema: Any) -> Iterator[str]:
    """Yield every key that a schema gives a meaning to, however deep."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "properties":
                yield from (
                    name for name, about in value.items() if isinstance(about, dict) and about
                )
            yield from keys(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from keys(value)


@pytest.mark.parametrize(("name", "schema"), PAGES.items())
def test_every_key_is_on_the_page(name: str, schema: str) -> None:
    text = text_of(name)
    assert [key for key in keys(read_schema(schema)) if f"| `{key}` |" not in text] == []


@pytest.mark.parametrize("schema", PAGES.values())
def test_every_key_has_a_meaning_and_an_example(schema: str) -> None:
    root = read_schema(schema)
    bare = [
        f"{section.path}.{key}"
        for section in sections(root)
        for key, value in section.schema["properties"].items()
        if value is not True
        and not {"title", "description", "examples"} <= reference.resolved(value, root).keys()
    ]
    assert bare == []


def test_every_variable_is_on_the_page() -> None:
    text = text_of("configuration.md")
    sources = [*(ROOT / "rubric_ci").rglob("*.py"), *(ROOT / "hooks").rglob("*.py")]
    found = {v for path in sources for v in VARIABLES.findall(path.read_text(encoding="utf-8"))}
    assert len(found) > 10
    assert [name for name in sorted(found) if f"`{name}`" not in text] == []


def test_every_extra_is_on_the_page() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = text_of("configuration.md")
    assert [e for e in project["optional-dependencies"] if f"'rubric-ci[{e}]'" not in text] == []


def test_examples_are_valid() -> None:
    for block in re.findall(
        r"^```yaml\n(.*?)^```", text_of("configuration.md"), re.MULTILINE | re.DOTALL
    ):
        assert check_config(Document("rubric-ci.yaml", block)) == ()
