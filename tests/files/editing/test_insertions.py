"""Edits compared as bytes: `X.yaml` becomes `X.after.yaml`; `X.refused.txt` has rejections."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from rubric_ci.files.editing.insertions import Edited, insert_rubrics, is_same, largest_valid_subset

CORPUS = Path(__file__).parents[2] / "edits"
BEFORE = sorted(p for p in CORPUS.glob("*.yaml") if not p.name.endswith(".after.yaml"))
RUBRICS = [
    {"id": "names-it", "expected_outcome": "Names the root cause", "weight": 2.0},
    {"id": "cites", "expected_outcome": "Cites a source: a title, or #1", "required": False},
]


def edit(text: str) -> tuple[str, str]:
    """Ask for rubrics in every case; return the new text and the reasons for what stays."""
    cases = len(yaml.load(text, yaml.CSafeLoader)["evalcases"])
    edited = insert_rubrics(text, dict.fromkeys(range(cases), RUBRICS))
    return edited.text, "".join(f"{n}: {r.reason}\n" for n, r in edited.refused.items())


@pytest.mark.parametrize("before", BEFORE, ids=lambda path: path.stem)
def test_corpus(before: Path) -> None:
    new, refused = edit(before.read_bytes().decode())
    reasons = before.with_suffix(".refused.txt")
    assert new.encode() == before.with_suffix(".after.yaml").read_bytes()
    assert refused == (reasons.read_text() if reasons.exists() else "")


@pytest.mark.parametrize("before", BEFORE, ids=lambda path: path.stem)
def test_a_second_edit_changes_nothing(before: Path) -> None:
    once, _ = edit(before.read_bytes().decode())
    twice, refused = edit(once)
    assert twice == once
    assert len(refused.splitlines()) == len(yaml.load(once, yaml.CSafeLoader)["evalcases"])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": [True]}, {"b": [True], "a": 1}, True),
        ([1], [True], False),
        ([1], [1.0], False),
        ([0.0], [False], False),
        (["1"], [1], False),
        ([None], [""], False),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": 1}, {"a": 1, "b": 1}, False),
    ],
)
def test_data_is_compared_type_for_type(one: object, other: object, same: bool) -> None:
    assert is_same(one, other) is same


@pytest.mark.parametrize("value", ["the issue #12", "A\n   - B"])
def test_a_file_with_a_text_to_check_is_edited(value: str) -> None:
    text = f"evalcases:\n- id: a\n  input:\n  - {value}\n"
    edited = insert_rubrics(text, {0: ["Greets"]})
    assert edited == Edited(text=f"{text}  rubrics:\n  - Greets\n", refused={})


def test_rubrics_that_no_file_may_hold() -> None:
    deep: object = "x"
    for _ in range(101):
        deep = [deep]
    edited = insert_rubrics("evalcases:\n- id: a\n", {0: deep})
    assert edited.text == "evalcases:\n- id: a\n"
    assert edited.refused[0].reason == (
        "with the rubrics inserted, the file would no longer be valid YAML"
    )


VARIANTS: dict[str, Callable[[str], str]] = {
    "crlf": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "no-final-newline": lambda text: text.rstrip("\r\n"),
    "byte-order-mark": lambda text: "\ufeff" + text.removeprefix("\ufeff"),
    "trailing-blanks": lambda text: text.rstrip("\r\n") + "\n \n\n",
    "end-marker": lambda text: text.rstrip("\r\n") + "\n...\n",
    "keys-below": lambda text: text.rstrip("\r\n") + "\nx-more: 1\n",
}


def is_yaml(text: str) -> bool:
    try:
        yaml.load(text, yaml.CSafeLoader)
    except yaml.YAMLError:
        return False
    return True


VARIED = [
    pytest.param(text, id=f"{before.stem}-{name}")
    for before in BEFORE
    for name, vary in VARIANTS.items()
    if is_yaml(text := vary(before.read_bytes().decode()))
]


@pytest.mark.parametrize("text", VARIED)
def test_variants(text: str) -> None:
    """Whatever a file's end and its line ends: old data plus rubrics, and every old line."""
    old = yaml.load(text, yaml.CSafeLoader)
    positions = range(len(old["evalcases"]))
    edited = insert_rubrics(text, dict.fromkeys(positions, RUBRICS))
    for position in positions:
        if position not in edited.refused:
            old["evalcases"][position]["rubrics"] = RUBRICS
    assert yaml.load(edited.text, yaml.CSafeLoader) == old
    kept = iter(edited.text)
    assert all(character in kept for character in text)


@pytest.mark.parametrize(
    ("edits", "attempts", "valid", "tried"),
    [
        ("", 9, "", []),
        ("abc", 9, "abc", ["abc"]),
        ("x", 9, "", ["x"]),
        ("abcdx", 9, "abcd", ["abcdx", "ab", "abcdx", "abc", "abcdx", "abcd", "abcdx"]),
        ("axb", 9, "ab", ["axb", "a", "axb", "ax", "ab"]),
        ("aBx", 9, "aB", ["aBx", "a", "aBx", "aB", "aBx"]),
        ("axb", 3, "a", ["axb", "a", "axb"]),
        ("axb", 0, "", []),
    ],
)
def test_the_edits_that_hold(edits: str, attempts: int, valid: str, tried: list[str]) -> None:
    """`x` never holds, and a capital letter only after the small one that it follows."""
    seen = []

    def holds(some: list[str]) -> bool:
        seen.append("".join(some))
        return "x" not in some and ("B" not in some or "a" in some)

    assert largest_valid_subset([*edits], holds, attempts) == [*valid]
    assert seen == tried
