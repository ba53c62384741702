"""JSON as Python's `json.dump` writes it: a pair of escapes is one character."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.files.editing.yaml_layout import layout
from rubric_ci.files.yaml_text.document import Document
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

VALUES = st.recursive(
    st.text(alphabet='aé😀🦊\\"\ud800\uf8f0\n/&', max_size=12).filter(
        lambda text: not any("\ud800" <= each <= "\udfff" for each in text)
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("😀 k"), inner, max_size=1),
)


@given(VALUES, st.sampled_from([None, 2]))
def test_json_is_read_as_json(value: object, indent: int | None) -> None:
    text = json.dumps({"x": value}, indent=indent)
    found = Document("a.json", text)
    assert (found.data, found.text_problems) == ({"x": value}, [])
    assert layout(text) is not None


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('"hi \\ud83d\\ude00!"', "hi 😀!"),
        ('"\\uD83D\\uDE00"', "😀"),
        ('"a \\\\ud83d\\\\ude00"', "a \\ud83d\\ude00"),
        ("'\\ud83d\\ude00'", "\\ud83d\\ude00"),
        ('[\\uD83D\\uDE00 x, "\\ud83d\\ude00"]', ["\\uD83D\\uDE00 x", "😀"]),
        ("|\n  \\ud83d\\uDE00\n", "\\ud83d\\uDE00\n"),
        ('{a: &a "\\ud83d\\ude00 R&D", b: *a}', {"a": "😀 R&D", "b": "😀 R&D"}),
    ],
)
def test_a_pair_is_one_character_between_double_quotes_only(text: str, data: object) -> None:
    found = Document("a.yaml", text)
    assert (found.data, found.text_problems) == (data, [])


def test_places_are_the_ones_of_the_text() -> None:
    text = '[{"id": "\\ud83d\\ude00", "input": 1}]'
    found = Document("a.json", text)
    assert found.locate((0, "input")) == (1, text.index("1") + 1, 1, text.index("1") + 2)


@pytest.mark.parametrize(
    "text", ['"\\ud83d"', '"\\ude00\\ud83d"', '"\\uf8f0\\uf8f1 \\ud83d\\ude00"']
)
def test_what_is_no_pair_is_an_error(text: str) -> None:
    ((_, problem),) = Document("a.json", text).text_problems
    assert problem.rule.id == "yaml-syntax"


@pytest.mark.parametrize("name", ["evals/a.eval.yaml", "skills/s/evals/evals.json"])
def test_a_file_of_json_is_run(checkout: Checkout, name: str) -> None:
    case = {"id": "a", "input": "hi 😀", "rubrics": [{"contains": "😀"}]}
    skill = {"skill_name": "s", "evals": [{"id": 1, "prompt": "hi 😀", "expectations": ["Is 😀"]}]}
    data = skill if name.endswith("json") else {"evalcases": "cases.json"}
    checkout.write({name: json.dumps(data), "evals/cases.json": json.dumps([case])})
    checkout.write({"skills/s/SKILL.md": "---\nname: s\ndescription: x\n---\n"})
    done = invoke(checkout.root, ENVIRONMENT, "validate", name)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
