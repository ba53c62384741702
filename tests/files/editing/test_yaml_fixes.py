"""Fixes of the YAML: values that need quotes, and list items that became text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.files.editing.fixes import FixResult, fix
from rubric_ci.files.editing.yaml_fixes import largest_valid_subset, quote, quote_values
from rubric_ci.files.yaml_text.document import Document

CASE = "evalcases:\n- id: a\n  rubrics:\n"

QUOTED = {
    "a handle": ("  - @handle is named\n", '  - "@handle is named"\n'),
    "a backquote": ("  - `code` is shown\n", '  - "`code` is shown"\n'),
    "a percent sign": ("  - %s is replaced\n", '  - "%s is replaced"\n'),
    "text after quotes": ('  - "Yes" and more\n', "  - '\"Yes\" and more'\n"),
    "text after single quotes": ("  - 'Yes' and more\n", "  - \"'Yes' and more\"\n"),
    "both marks": ('  - "Yes" isn\'t enough\n', '  - "\\"Yes\\" isn\'t enough"\n'),
    "both marks and others": ('  - "Yes" isn\'t é\n', '  - "\\"Yes\\" isn\'t é"\n'),
    "after brackets": ("  - [b]\n  - {c: d}\n  - @a\n", '  - [b]\n  - {c: d}\n  - "@a"\n'),
    "after braces": ("  - {c: d}\n  - @a\n", '  - {c: d}\n  - "@a"\n'),
    "as many as are tried": ("  - @a\n" * 20, '  - "@a"\n' * 20),
    "a value of a key": ("  - note: @a is named\n", '  - note: "@a is named"\n'),
    "blanks after it": ("  - @a  \n  - b\n", '  - "@a"  \n  - b\n'),
    "windows line ends": ("  - @a\r\n  - `b`\r\n", '  - "@a"\r\n  - "`b`"\r\n'),
    "no line end": ("  - @a", '  - "@a"'),
    "a list of numbers": ("  - @a, b\n", '  - "@a, b"\n'),
    "with other fixes": ("  - @a\n  - description: x\n", '  - "@a"\n  - expected_outcome: x\n'),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), QUOTED.values(), ids=QUOTED)
def test_quoted(before: str, after: str) -> None:
    assert fix(CASE + before).text == CASE + after
    assert fix(CASE + after) == FixResult(CASE + after, 0)


KEPT = {
    "a comment or a text": "  - @a is named #1\n",
    "a mapping or a text": "  - @a: b\n",
    "a colon at the end": "  - @a is:\n",
    "quotes inside of quotes": '  - "Says "hello" twice"\n',
    "two pairs of quotes": '  - "Yes" or "no"\n',
    "an escape": '  - "a\\tb" and more\n',
    "a list in brackets": "  - [@a, b]\n",
    "a mapping in brackets": "  - {\n    id: @a\n    }\n",
    "a pair in brackets": "  - [\n    id: @a\n    ]\n",
    "a text of two lines": "  - @a is\n    named\n",
    "another syntax error": "  - @a\n  - [\n",
    "an alias or a text": "  - *bold* text\n",
    "a key twice": "  - @a\n  id: b\n  id: c\n",
    "more than are tried": "  - @a\n" * 21,
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_several_meanings_are_kept(text: str) -> None:
    document = Document("", CASE + text)
    assert document.text_problems
    after, places = quote_values(document)
    assert (places > 0) is (after is not document)
    assert fix(CASE + text) == FixResult(CASE + text, 0)


@pytest.mark.parametrize(("before", "after", "places"), [("- @a\n", '- "@a"\n', 1), ("", "", 0)])
def test_a_text_without_cases(before: str, after: str, places: int) -> None:
    assert fix(before) == FixResult(after, places)


INNER = st.text(st.sampled_from("aé ,-[]{}&*!|>%@`\"'\\?.1"), max_size=12).map(str.strip)
ENDS = st.sampled_from(["and", "x, y", "é"])
BROKEN = st.one_of(
    st.builds("{}{}".format, st.sampled_from("@`%"), INNER),
    st.builds('"{}" {}'.format, st.sampled_from(["Yes", "a 'b'"]), ENDS),
    st.builds("'{}' {}".format, st.sampled_from(["Yes", 'a "b"']), ENDS),
).map(lambda text: (text, quote(text)))
PLAIN = st.sampled_from(["Greets", "Names 3 causes", "it's short"]).map(lambda text: (text, text))
KEYS = st.sampled_from(["- ", "- note: "])


@given(st.lists(st.tuples(KEYS, st.one_of(PLAIN, BROKEN)), max_size=8))
def test_the_fixed_file_has_the_written_texts(items: list[tuple[str, tuple[str, str]]]) -> None:
    before = CASE + "".join(f"  {key}{written}\n" for key, (written, _) in items)
    after = CASE + "".join(f"  {key}{quoted}\n" for key, (_, quoted) in items)
    assert fix(before).text == after
    meant = [text if key == "- " else {"note": text} for key, (text, _) in items]
    assert Document("", after).data["evalcases"][0]["rubrics"] == (meant or None)


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
    "a comment about another rule": (
        "  - A\n   - B # rubric-ci: ignore[unknown-key]\n",
        "  - A\n  - B # rubric-ci: ignore[unknown-key]\n",
    ),
    "a list with an alias": (
        "  - X\n- &c\n  rubrics:\n  - A\n   - B\n- *c\n",
        "  - X\n- &c\n  rubrics:\n  - A\n  - B\n- *c\n",
    ),
    "an id as well": ("  - A\n   - B\n- id: 5\n", '  - A\n  - B\n- id: "5"\n'),
}


@pytest.mark.parametrize(("before", "after"), SEPARATED.values(), ids=SEPARATED)
def test_separated(before: str, after: str) -> None:
    places = sum(map(str.__ne__, before.splitlines(), after.splitlines()))
    assert fix(CASE + before) == FixResult(CASE + after, places)
    assert fix(CASE + after) == FixResult(CASE + after, 0)


KEPT_ITEMS = {
    "a list inside of the text": "  - A\n    - B\n",
    "columns that differ": "  - A\n   - B\n    - C\n",
    "an item of a key's value": "  - note: A\n     - B\n",
    "an item that is a number": "  - A\n   - 5\n",
    "an item that is a list": "  - A\n   - - B\n",
    "text in quotes": '  - "A\n   - B"\n',
    "a block of text": "  - |\n   A\n   - B\n",
    "an item in brackets": "  - [A\n   - B]\n",
    "an ignored item": "  - A\n   - B # rubric-ci: ignore[yaml-item-in-text]\n",
    "an item that needs quotes": "  - A\n   - @b\n",
    "a list in a merge key": "  - A\n- <<:\n    rubrics:\n    - A\n     - B\n",
    "an anchor": "  - &x A\n   - B\n- rubrics: [*x]\n",
}


@pytest.mark.parametrize("text", KEPT_ITEMS.values(), ids=KEPT_ITEMS)
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
def test_fixed_files_keep_items(items: list[tuple[str, bool]], indent: int, line_end: str) -> None:
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
