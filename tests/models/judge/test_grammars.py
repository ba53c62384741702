"""The reply schema of every kind and size of group, in what compiles schemas to grammars."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from rubric_ci.models.judge.reply import keyed_schema
from rubric_ci.models.judge.voting import MOST_CRITERIA
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import Check, Judged, Level, Levelled, Scored, ScoreRange

SPAN = Span(1, 1, 1, 2)
RANGES = (ScoreRange(low=0, high=10, text="x"),)
LEVELS = tuple(Level(level=n, text="x") for n in (-2, 0, 5))
KINDS: Mapping[str, Judged] = {
    "checklist": Check(id="c", text="x", span=SPAN),
    "score": Scored(id="s", ranges=RANGES, span=SPAN),
    "levels": Levelled(id="l", levels=LEVELS, span=SPAN),
}
MARKS: Mapping[str, Mapping[str, Any]] = {
    "checklist": {"satisfied": False},
    "score": {"score": 10},
    "levels": {"level": -2},
}
WRONG: Mapping[str, tuple[object, ...]] = {
    "checklist": ("true", 1, None),
    "score": (11, 7.5, "7", -1),
    "levels": (1, "5", True),
}
SIZES = (1, 2, MOST_CRITERIA - 1, MOST_CRITERIA)


def schema(kind: str, size: int) -> str:
    return json.dumps(keyed_schema([KINDS[kind]] * size)[0])


def reply(kind: str, size: int, **changes: object) -> dict[str, Any]:
    entry = {"evidence": "a quote", "reasoning": "a reason", **MARKS[kind], **changes}
    return {f"c{n}": entry for n in range(1, size + 1)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_llguidance(kind: str, size: int) -> None:
    llguidance = pytest.importorskip("llguidance", reason="run `make` for the locked packages")
    grammar = llguidance.LLMatcher.grammar_from_json_schema(schema(kind, size))
    assert llguidance.LLMatcher.validate_grammar(grammar) == ""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_outlines_core(kind: str, size: int) -> None:
    outlines = pytest.importorskip("outlines_core", reason="run `make` for the locked packages")
    pattern = re.compile(outlines.json_schema.build_regex_from_schema(schema(kind, size)))
    assert pattern.fullmatch(json.dumps(reply(kind, size)))
    (mark,) = MARKS[kind]
    assert pattern.fullmatch(json.dumps(reply(kind, size, **{mark: "cannot_assess"})))
    for value in WRONG[kind]:
        assert not pattern.fullmatch(json.dumps(reply(kind, size, **{mark: value})))
    assert not pattern.fullmatch(json.dumps(reply(kind, size + 1)))
    assert not pattern.fullmatch(json.dumps(reply(kind, size - 1)))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_xgrammar(kind: str, size: int) -> None:
    reason = "xgrammar needs torch, which is too large to install for this test"
    xgrammar = pytest.importorskip("xgrammar", reason=reason)
    assert str(xgrammar.Grammar.from_json_schema(schema(kind, size)))


# platform.openai.com/docs/guides/structured-outputs, platform.claude.com/docs/en/build-with-claude/
# structured-outputs, ai.google.dev/gemini-api/docs/structured-output.
COMMON = frozenset({"type", "properties", "required", "additionalProperties", "anyOf", "enum"})
KEYWORDS = {
    "openai": COMMON | {"items", "$ref", "$defs", "const", "description", "pattern", "format"},
    "anthropic": COMMON | {"items", "$ref", "$defs", "const", "description", "allOf", "format"},
    "gemini": COMMON | {"items", "$ref", "$defs", "description", "format", "minimum", "maximum"},
}
MOST = {  # of one schema
    "openai": {"depth": 10, "properties": 5000, "enum values": 1000, "unions": 10**9},
    "anthropic": {"depth": 10**9, "properties": 10**9, "enum values": 10**9, "unions": 16},
    "gemini": {"depth": 10**9, "properties": 10**9, "enum values": 10**9, "unions": 10**9},
}


def nodes(node: Mapping[str, Any], depth: int = 1) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield every schema of a schema with its depth."""
    yield depth, node
    for child in node.get("properties", {}).values():
        yield from nodes(child, depth + 1)
    for child in node.get("anyOf", ()):
        yield from nodes(child, depth)


@pytest.mark.parametrize("provider", KEYWORDS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_subset_of_a_provider(kind: str, size: int, provider: str) -> None:
    root = json.loads(schema(kind, size))
    found = list(nodes(root))
    assert {key for _, node in found for key in node} <= KEYWORDS[provider]
    objects = [node for _, node in found if node.get("type") == "object"]
    assert all(node["additionalProperties"] is False for node in objects)
    assert all(node["required"] == list(node["properties"]) for node in objects)
    assert root["type"] == "object"  # not a union
    assert all(("anyOf" in node) is not ("type" in node) for _, node in found)
    counts = {
        "depth": max(depth for depth, _ in found),
        "properties": sum(len(node["properties"]) for node in objects),
        "enum values": sum(len(node.get("enum", ())) for _, node in found),
        "unions": sum("anyOf" in node for _, node in found),
    }
    assert all(count <= MOST[provider][name] for name, count in counts.items())
