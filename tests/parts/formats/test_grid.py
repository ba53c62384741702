"""The grid of several targets: which words of an answer are marked, and how many rows it has."""

import pytest

from rubric_ci.parts.formats.grid import MOST_ROWS, UNFOLDED, target_grid
from tests.sample_reports import a_report, graded

SAID = "You can return it within 30 days of delivery."


@pytest.mark.parametrize(
    ("other", "pieces"),
    [
        (SAID, (("", SAID),)),
        (
            SAID.replace("30", "14"),
            (("", "You can return it within"), ("mark", "14"), ("", "days of delivery.")),
        ),
        ("Please ask <b>us</b>.", (("", "Please ask <b>us</b>."),)),
        ("", ()),
    ],
)
def test_words_that_differ(other: str, pieces: tuple[tuple[str, str], ...]) -> None:
    one = graded("c [a]", "pass", target="a", answer=SAID)
    grid = target_grid(a_report(one, graded("c [b]", "pass", target="b", answer=other)))
    assert grid
    assert [cell.answer for cell in grid.rows[0].cells] == [(("", SAID),), pieces]


def test_many_rows_are_folded_then_cut() -> None:
    cases = [
        graded(f"{n} [{name}]", "pass", target=name) for n in range(MOST_ROWS + 3) for name in "ab"
    ]
    grid = target_grid(a_report(*cases))
    assert grid
    assert (len(grid.rows), grid.folded_title) == (UNFOLDED, f"{MOST_ROWS - UNFOLDED} more cases")
    assert grid.cut == "3 further cases below."


def test_a_case_that_a_target_was_not_asked() -> None:
    cases = [graded("c [a]", "pass", target="a"), graded("d [b]", "fail", target="b")]
    grid = target_grid(a_report(*cases))
    assert grid
    shown = [[cell.verdict.word for cell in row.cells] for row in grid.rows]
    assert shown == [["pass 1.00", "not asked"], ["not asked", "fail 0.00"]]
    assert not any(row.differs for row in grid.rows)


def test_one_target_has_no_grid() -> None:
    assert target_grid(a_report(graded("c", "pass", target="a"))) is None
