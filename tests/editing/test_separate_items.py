"""Dedent list items that are one column too deep: which ones, and what they mean afterwards."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.editing.fixes import FixResult, fix
from rubric_ci.yaml_text.document import Document

CASE = "evalcases:\n- id: a\n  rubrics:\n"

SEPARATED = {
    "one item": ("  - A\n   - B\n", "  - A\n  - B\n"),
    "several items": ("  - A\n   - B\n   - C\n  - D\n", "  - A\n  - B\n  - C\n  - D\n"),
    "an item of two lines": ("  - A\n   - B\n     goes on\n", "  - A\n  - B\n     goes on\n"),
    "an item with quotes": ('  - A\n   - "B c"\n', '  - A\n  - "B c"\n'),
    "a blank line": ("  - A\n\n   - B\n", "  - A\n\n  - B\n"),
    "windows line ends": ("  - A\r\n   - B\r\n", "  - A\r\n  - B\r\n"),
    "a comment after it": ("  - A\n   - B # why\n", "  - A\n  - B # why\n"),
    "two lists": (
        "  - A\n   - B\n- id: b\n  rubrics:\n  - C\n   - D\n",
        "  - A\n  - B\n- id: b\n  rubrics:\n  - C\n  - D\n",
    ),
    "an id as well": ("  - A\n   - B\n- id: 5\n", '  - A\n  - B\n- id: "5"\n'),
}


@pytest.mark.parametrize(("before", "after"), SEPARATED.values(), ids=SEPARATED.keys())
def test_separated(before: str, after: str) -> None:
    assert fix(CASE + before).text == CASE + after
    assert fix(CASE + after) == FixResult(CASE + after, 0)


KEPT = {
    "a list inside of the text": "  - A\n    - B\n",
    "columns that differ": "  - A\n   - B\n    - C\n",
    "an item of a key's value": "  - note: A\n     - B\n",
    "an item that is a number": "  - A\n   - 5\n",
    "an item that is a list": "  - A\n   - - B\n",
    "text in quotes": '  - "A\n   - B"\n',
    "a block of text": "  - |\n   A\n   - B\n",
    "an item in brackets": "  - [A\n   - B]\n",
    "an ignored item": "  - A\n   - B # rubric-ci: ignore[yaml-item-in-text]\n",
    "an anchor": "  - &x A\n   - B\n- rubrics: [*x]\n",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT.keys())
def test_other_texts_are_kept(text: str) -> None:
    assert fix(CASE + text) == FixResult(CASE + text, 0)


def test_kept_where_the_rule_is_off() -> None:
    text = f"{CASE}  - A\n   - B\n"
    assert fix(text, switched_off={"yaml-item-in-text"}) == FixResult(text, 0)


WORDS = st.lists(
    st.sampled_from(["Names", "it's", "1st", "é", "a-b", "-5,"]), min_size=1, max_size=3
)
ITEMS = st.lists(
    st.tuples(WORDS.map(" ".join).filter(lambda text: text != "-5,"), st.booleans()),
    min_size=1,
    max_size=8,
)


@given(ITEMS, st.integers(0, 4), st.sampled_from(["\n", "\r\n"]))
def test_the_fixed_file_has_the_written_items(
    items: list[tuple[str, bool]], indent: int, line_end: str
) -> None:
    first, *others = [text for text, _ in items]
    deeper = [deep for _, deep in items[1:]]
    lines = ["rubrics:", f"{' ' * indent}- {first}"]
    lines += [f"{' ' * (indent + deep)}- {text}" for text, deep in zip(others, deeper, strict=True)]
    text = "".join(f"{line}{line_end}" for line in lines)
    fixed = fix(text)
    assert Document("", fixed.text).data == {"rubrics": [first, *others]}
    assert fixed.places == sum(deeper)
    assert fixed.text.split(line_end)[1:-1] == [
        f"{' ' * indent}- {each}" for each in [first, *others]
    ]
