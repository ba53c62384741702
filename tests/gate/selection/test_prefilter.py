"""What is found in an unparsed file agrees with the parsed one, or is unknown."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.gate.selection.prefilter import MANY, count_cases, may_mention

BLOCK = """\
# A suite
description: How it greets
evalcases:  # two of them

  # The first
  - id: one
    input: |
      - id: not a case
        id: nor this
      evalcases:
  - "id": two
    rubrics:
      - id: a
        expected_outcome: b
rubrics:
  - id: c
    expected_outcome: d
"""


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (BLOCK, 2),
        (BLOCK.replace("\n", "\r\n"), 2),
        ("evalcases:\n- id: one\n- input: hi\n  id: two\n", 2),
        ("evalcases:\n  -   input: hi\n      id: one\n  -   id: two\n", 2),
        ("evalcases:\n  -   input: hi\n      id: one\n  -   input: ho\n      id: two\n", 2),
        ("evalcases: [{id: one}]\n", None),
        ("evalcases:\n  - {id: one}\n", None),
        ("evalcases:\n  -\n    id: one\n", None),
        ("evalcases:\n  - &a\n    id: one\n  - *a\n", None),
        ('evalcases:\n  - id: one\n    input: "a\n  - b"\n', None),
        ("evalcases:\n\t- id: one\n", None),
        ("evalcases:\n", None),
        ("a: 1\n", None),
        ("", None),
        ("evalcases:\n  - id: one\nevalcases:\n  - id: two\n", None),
    ],
)
def test_count_cases(text: str, count: int | None) -> None:
    assert count_cases("a.yaml", text) == count


def test_count_cases_of_json_lines() -> None:
    assert count_cases("a.jsonl", '{"id": "a"}\n\n  \n{"id": "b"}') == 2
    assert count_cases("a.jsonl", '{"id": "a\u2028b"}\r\n\r\n{"id": "c"}\r\n') == 2


WORDS = st.text("abid:- #\"'\n|", max_size=12)
CASES = st.fixed_dictionaries(
    {"id": WORDS, "input": WORDS},
    optional={"rubrics": st.lists(st.fixed_dictionaries({"id": WORDS, "evalcases": WORDS}))},
)
SUITES = st.fixed_dictionaries(
    {"evalcases": st.lists(CASES, min_size=1, max_size=4)},
    optional={"description": WORDS, "rubrics": st.lists(WORDS, max_size=2)},
)


@given(
    SUITES, st.sampled_from([2, 4]), st.sampled_from([30, 1000]), st.sampled_from(["", '"', "|"])
)
def test_a_count_is_never_wrong(
    suite: dict[str, list[object]], indent: int, width: int, style: str
) -> None:
    text = yaml.dump(suite, indent=indent, width=width, default_style=style or None)
    assert count_cases("a.yaml", text) in {None, len(suite["evalcases"])}


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("value: prompts/a.md", ["a.md"], True),
        ("value: prompts/A.md", ["a.md"], True),
        ("value: prompts/b.md", ["a.md"], False),
        ("value: prompts/b.md", [], False),
        ("value: prompts/b.md", ["naïve.md"], True),
        ("value: prompts/b.md", ["a b.md"], True),
        ("value: prompts/b.md", [f"{n}.md" for n in range(MANY + 1)], True),
        ('value: "prompts/\\x61.md"', ["a.md"], True),
        ('value: "prompts/\\u0061.md"', ["a.md"], True),
        ('value: "prompts/a.\\\n  md"', ["a.md"], True),
        ('value: "one\\ntwo"', ["a.md"], False),
        ("script: pytest tests", ["a.md"], True),
        ("depends_on: [src]", ["a.md"], True),
        ("- include: safety", ["a.md"], True),
        ('[{"include" : "safety"}]', ["a.md"], True),
        ("- Must include a price", ["a.md"], False),
    ],
)
def test_may_mention(text: str, names: list[str], *, expected: bool) -> None:
    assert may_mention(names)(text) is expected


@given(st.text("abAß./-_", min_size=1), st.text("ab: \n"))
def test_a_name_that_is_written_out_is_seen(name: str, around: str) -> None:
    for text in (f"{around}{name}{around}", json.dumps(name), yaml.dump(name)):
        assert may_mention([name.rsplit("/", 1)[-1]])(text)
