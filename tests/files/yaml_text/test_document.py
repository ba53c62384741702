"""The path of a node in the data: through aliases and merges, past what is left out."""

from typing import Any

import pytest

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.values.problems import Path

FOUND: dict[str, tuple[str, list[Path]]] = {
    "a list in a mapping": ("a: [0, {b: 1_0}]", [("a", 1, "b")]),
    "where it is used": ("free: &x {b: 1_0}\nused: [*x]", [("used", 0, "b")]),
    "what is merged": ("a: {<<: {b: 1_0}}", [("a", "b")]),
    "what is merged from a list": ("a: {<<: [{b: 1_0}, {c: 2_0}]}", [("a", "b"), ("a", "c")]),
    "what is merged and hidden": ("free: &x {b: 1_0}\na: {<<: *x, b: 1}", []),
    "hidden here, seen there": ("free: &x {b: 1_0}\na: {<<: *x, b: 1}\nc: {<<: *x}", [("c", "b")]),
    "merged through another": ("free: [&x {b: 1_0}, &y {<<: *x}]\na: {<<: *y}", [("a", "b")]),
    "a cycle": ("a: &x [*x, 1_0]", [("a", 1)]),
    "a merge that is none": ("a: {<<: [text, {b: 1_0}]}", [("a", "b")]),
}


@pytest.mark.parametrize(("text", "paths"), FOUND.values(), ids=FOUND)
def test_paths(text: str, paths: list[Path]) -> None:
    document = Document("a.yaml", text)
    odd = [scalar.node for scalar in document.ambiguous]
    assert odd
    assert [*document.paths_of(odd, is_free).values()] == paths


def is_free(key: str, _: Any) -> bool:
    return key == "free"


MANY = "".join(f"k{n}: {n}\n" for n in range(40))
NODES: dict[str, tuple[str, Path, str | None]] = {
    "of many keys": (MANY, ("k39",), "39"),
    "the first of equal keys": (f"{MANY}k1: again\n", ("k1",), "1"),
    "merged into many keys": (f"{MANY}<<: {{free: x}}\n", ("free",), "x"),
    "many keys that hide a merged one": (f"<<: {{k1: x}}\n{MANY}", ("k1",), "1"),
    "a key that is a list": (f"{MANY}? [a]\n: x\n", ("k2",), "2"),
    "no key of many": (MANY, ("free",), None),
}


@pytest.mark.parametrize(("text", "path", "written"), NODES.values(), ids=NODES)
def test_the_node_of_a_key(text: str, path: Path, written: str | None) -> None:
    assert Document("a.yaml", text).written(path) == written
