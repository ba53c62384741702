"""Tables of cases: what a cell means, where it is, and what cannot be read."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.files.yaml_text.csv_cases import USUAL, CsvCases, spelt

TABLE = (
    "id,product,rubrics,tags,expected_outcome\r\n"
    'a,"Kettle, 2 l","Says ""hello""\n\nSays bye","smoke, slow",Greets\n'
    "\n"
    "b,,,,\n"
)


def test_a_row_is_a_case() -> None:
    table = CsvCases("c.csv", TABLE)
    assert (table.text_problems, table.cases) == (
        [],
        [
            {
                "id": "a",
                "expected_outcome": "Greets",
                "rubrics": ['Says "hello"', "Says bye"],
                "tags": ["smoke", "slow"],
                "vars": {"product": "Kettle, 2 l"},
            },
            {"id": "b", "vars": {"product": ""}},
        ],
    )


@pytest.mark.parametrize(
    ("path", "at_key", "place"),
    [
        ((0, "id"), False, (2, 1, 2, 2)),
        ((0, "vars", "product"), False, (2, 3, 2, 16)),
        ((0, "vars", "product"), True, (1, 4, 1, 11)),
        ((0, "rubrics", 0), False, (2, 17, 4, 10)),
        ((0, "rubrics", 1), False, (4, 1, 4, 9)),
        ((0, "tags"), False, (4, 11, 4, 24)),
        ((0, "expected_outcome"), False, (4, 25, 4, 31)),
        ((1, "rubrics"), False, (6, 4, 6, 4)),
        ((1,), False, (6, 1, 6, 2)),
        ((1, "nothing"), False, (6, 1, 6, 2)),
    ],
)
def test_places(path: Any, at_key: bool, place: tuple[int, ...]) -> None:
    found = CsvCases("c.csv", TABLE).location(path, at_key=at_key)
    assert (found.file, found.place) == ("c.csv", place)


@pytest.mark.parametrize(
    "text",
    [
        "ID;Question;Ideal;City\na;Hi, you;Yo;Bern\n",
        "\ufeffid\tPrompt\tExpected Output\tCity\na\tHi, you\tYo\tBern\n",
        'Name,QUERY,answer,City\na,"Hi, you",Yo,Bern\n',
    ],
)
def test_tables_as_other_programs_write_them(text: str) -> None:
    table = CsvCases("c.csv", text)
    case = {"id": "a", "input": "Hi, you", "expected_output": "Yo", "vars": {"City": "Bern"}}
    assert (table.text_problems, table.cases) == ([], [case])


@pytest.mark.parametrize(
    "name", ["ground_truth", "Ground truth", "groundTruth", "GROUND-TRUTH", " Ground_Truth "]
)
def test_a_name_in_any_spelling(name: str) -> None:
    assert spelt(name) == "ground_truth"
    assert spelt("__expected") == "__expected"


def test_an_answer_next_to_a_reference_is_no_reference() -> None:
    (case,) = CsvCases("c.csv", "id,question,answer,ground_truth\na,Hi,Yo,Hello\n").cases
    assert case == {"id": "a", "input": "Hi", "expected_output": "Hello", "vars": {"answer": "Yo"}}


def test_the_usual_names_are_those_of_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs/evals.md").read_text(encoding="utf-8")
    rows = [
        f"| `{ours}` | {', '.join(f'`{name}`' for name in usual)} |"
        for ours, usual in USUAL.items()
    ]
    assert "\n".join(rows) in page


def test_a_column_with_our_name_comes_before_a_usual_one() -> None:
    table = CsvCases("c.csv", "name,question,input,id\nAda,Why?,Hi,a\n")
    assert table.cases == [{"id": "a", "input": "Hi", "vars": {"name": "Ada", "question": "Why?"}}]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", [(1, 1, "the table is empty")]),
        ("id,product\n", [(1, 1, "the table has no rows")]),
        ("title\nx\n", [(1, 1, "the table has no column `id`")]),
        ("id,id\na,b\n", [(1, 4, "the column `id` occurs twice")]),
        (
            "id,my product\na,b\n",
            [(1, 4, ("the column `my product` is not the name of a variable: letters, digits and "
              "`_`, no digit first"))],
        ),
        ("id,x\na,b\nb\n", [(3, 1, "the row has 1 cells, and the header 2")]),
        ('id,x\na,"b\nb,c\n', [(2, 3, "the quotation mark is not closed")]),
        ('id,x\na,"b" c\n', [(2, 6, "there is text after the closing quotation mark")]),
    ],
)  # fmt: skip
def test_what_cannot_be_read(text: str, problems: list[tuple[int, int, str]]) -> None:
    found = CsvCases("c.csv", text).text_problems
    assert [(each.line, each.column, each.message) for _, each in found] == problems


@given(
    st.lists(
        st.tuples(st.text('abc," x\n', min_size=1).filter(str.strip), st.text('abc," x\n')),
        min_size=1,
    )
)
def test_what_python_writes_is_read(rows: list[tuple[str, str]]) -> None:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([("id", "x"), *rows])
    table = CsvCases("c.csv", written.getvalue())
    assert table.text_problems == []
    assert [(case["id"], case["vars"]["x"]) for case in table.cases] == rows
