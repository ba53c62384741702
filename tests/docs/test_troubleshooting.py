"""Every message of `docs/troubleshooting.md` is one that the code has."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.code_blocks import ROOT

TEXT = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
MESSAGES = re.findall(r"^### (.*)$", TEXT, re.MULTILINE)
ENTRY = re.compile(r"^### `[^`\n]+`\n\*\*Cause:\*\* .+\n\*\*Fix:\*\* .+$", re.MULTILINE)


@cache
def literals(path: Path) -> str:
    """Return the constant texts of a module, quotes of code left out; of f-strings each part."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return "\n".join(each.replace("`", "") for each in constants if isinstance(each, str))


@cache
def source() -> list[tuple[Path, str]]:
    """Return the modules and their texts."""
    paths = [path for folder in ("rubric_ci", "hooks") for path in (ROOT / folder).rglob("*.py")]
    return [(path, path.read_text(encoding="utf-8")) for path in paths]


def in_the_code(part: str) -> bool:
    """Return True if a text of the code has this part; only modules with its words are parsed."""
    words = re.findall(r"[a-z]{3,}", part)
    paths = (path for path, text in source() if all(word in text for word in words))
    return any(part in literals(path) for path in paths)


@pytest.mark.parametrize("message", MESSAGES)
def test_the_message_is_in_the_code(message: str) -> None:
    parts = [part.strip() for part in message.strip("`").split("…") if part.strip(" ;:")]
    assert parts
    assert [part for part in parts if not in_the_code(part)] == []


def test_every_entry_has_a_cause_and_a_fix() -> None:
    assert len(ENTRY.findall(TEXT)) == len(MESSAGES) > 20


def test_every_symptom_has_a_command() -> None:
    symptoms = re.split(r"^## ", TEXT.partition("## Messages")[0], flags=re.MULTILINE)[1:]
    assert [each for each in symptoms if not re.search(r"`(?:rubric-ci|gh) [^`]+`", each)] == []
    assert len(symptoms) == 8
