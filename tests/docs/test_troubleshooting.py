"""Every message of `docs/troubleshooting.md` is one that the code has."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.code_blocks import ROOT

TEXT = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
MESSAGES = re.findall(r"^### (.*)$", TEXT, re.MULTILINE)
ENTRY = re.compile(r"^### `[^`\n]+`\n\*\*Cause:\*\* .+\n\*\*Fix:\*\* .+$", re.MULTILINE)


def literals(path: Path) -> Iterator[str]:
    """Yield the constant texts of a module, quotes of code left out; of f-strings each part."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.replace("`", "")


@cache
def source() -> list[str]:
    """Return the texts of the code."""
    paths = [path for folder in ("rubric_ci", "hooks") for path in (ROOT / folder).rglob("*.py")]
    return [text for path in paths for text in literals(path)]


@pytest.mark.parametrize("message", MESSAGES)
def test_the_message_is_in_the_code(message: str) -> None:
    parts = [part.strip() for part in message.strip("`").split("…") if part.strip(" ;:")]
    assert parts
    assert [part for part in parts if not any(part in text for text in source())] == []


def test_every_entry_has_a_cause_and_a_fix() -> None:
    assert len(ENTRY.findall(TEXT)) == len(MESSAGES) > 20
