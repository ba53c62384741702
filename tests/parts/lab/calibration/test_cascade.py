"""The margin of a cascade, fitted to labels."""

from dataclasses import replace
from math import inf, sqrt

import pytest

from rubric_ci.parts.lab.calibration.cascade import CascadeAnswer, fit, most_more_wrong, render


def answer(case: int, moves: float, *, first: bool = False, last: bool = False) -> CascadeAnswer:
    return CascadeAnswer(case=str(case), moves=moves, first_wrong=first, last_wrong=last)


NOT_FITTED = (
    "no margin: 40 labelled answers do not show that at most 5 % more of the verdicts are wrong "
    "than by the second judge alone (95 % interval); where the judges never differ, 73 do. Label "
    "more answers, raise `--tolerance`, or use the second judge alone"
)

NEAR = [answer(n, 1, first=n < 5) for n in range(10)]
FAR = [answer(n, 2) for n in range(10, 30)]
NEVER = [answer(n, inf) for n in range(30, 40)]

FITTED = (
    "set `margin: 1`: the second judge is asked for 25 % of the answers, and 0 % of the verdicts "
    "are not the person's (95 % interval 0 to 9 %, each case left out of the fit)"
)


def test_the_smallest_margin_that_is_shown_to_be_as_good_as_the_second_judge() -> None:
    found = fit([*NEAR, *FAR, *NEVER], 0.1)
    assert (found.margin, found.left_out) == (1, 0.0)


@pytest.mark.parametrize(
    ("answers", "tolerance", "margin"),
    [(72, 0.05, None), (73, 0.05, 0), (34, 0.1, None), (35, 0.1, 0)],
)
def test_few_answers_show_nothing(answers: int, tolerance: float, margin: int | None) -> None:
    """A first judge that is always right needs no second, if there are labels enough to say so."""
    assert fit([answer(n, 1) for n in range(answers)], tolerance).margin == margin


def test_errors_far_from_another_verdict_need_the_largest_margin() -> None:
    far = [answer(n, 3, first=True) for n in range(10, 14)]
    assert fit([*NEAR, *FAR, *NEVER, *far], 0.1).margin == 3


def test_without_a_margin_the_second_judge_decides() -> None:
    wrong = [answer(n, inf, first=True, last=n == 0) for n in range(10)]
    found = fit(wrong, 0.1)
    assert (found.margin, found.left_out) == (None, 0.1)


@pytest.mark.parametrize(
    ("lost", "won", "most"),
    [
        pytest.param(0, 0, 3.841459 / 103.841459, id="no difference: Wilson's interval"),
        pytest.param(5, 0, 0.05 + 0.061752, id="lost"),
        pytest.param(0, 5, -0.05 + sqrt(0.036994**2 + 0.028457**2), id="won"),
        pytest.param(5, 5, sqrt(0.061752**2 + 0.028457**2), id="both"),
    ],
)
def test_the_upper_end_of_a_paired_difference(lost: int, won: int, most: float) -> None:
    answers = [answer(n, 1, first=n < lost, last=lost <= n < lost + won) for n in range(100)]
    assert most_more_wrong(answers, 0) == pytest.approx(most, abs=1e-3)
    assert most_more_wrong(answers, 1) == pytest.approx(3.841459 / 103.841459, abs=1e-4)


def test_answers_of_one_case_are_one_observation() -> None:
    one = [replace(answer(n, 1, first=n % 20 == 0), case=str(n // 4)) for n in range(100)]
    apart = [answer(n, 1, first=n % 20 == 0) for n in range(100)]
    together = [replace(answer(n, 1, first=n < 5), case=str(n // 5)) for n in range(100)]
    assert most_more_wrong(one, 0) == pytest.approx(most_more_wrong(apart, 0), abs=0.01)
    assert most_more_wrong(together, 0) > 0.2


def test_the_error_is_of_cases_that_were_not_fitted() -> None:
    # Without the one error of the first judge, no margin is needed, and the case is wrong.
    found = fit([answer(0, 1, first=True), *[answer(n, 1) for n in range(1, 40)]], 0.1)
    assert (found.margin, found.left_out) == (1, 0.025)


DRAWN = [  # 20 of 200 passes and 20 of 20 fails of the first judge
    *[replace(answer(n, 1, first=n < 2), weight=10.0) for n in range(20)],
    *[answer(n, 1, last=n < 24) for n in range(20, 40)],
]


def test_an_answer_that_was_drawn_stands_for_others() -> None:
    # Four answers of the last judge are wrong and two of the first, which stand for twenty.
    found = fit(DRAWN, 0.15)
    assert (found.margin, round(found.left_out, 4)) == (1, 0.0182)
    assert fit([replace(each, weight=1.0) for each in DRAWN], 0.15).margin == 0
    lines = render(found, ["openai/a", "openai/b"], 0).splitlines()
    assert lines[2:7] == [
        "margin  second judge asked  wrong verdicts  more than second, at most",
        "     0                 0 %             9 %                       26 %",
        "     1               100 %             2 %                       14 %",
        " first                 0 %             9 %",
        "second               100 %             2 %",
    ]
    assert found.interval == (0.0017, 0.1678)  # as of 24 answers


def test_the_text() -> None:
    answers = [*NEAR, *FAR, *NEVER]
    table = [
        "openai/a then openai/b: 40 labelled answers",
        "2 more are not counted: the person or a judge gave not every mark",
        "",
        "margin  second judge asked  wrong verdicts  more than second, at most",
        "     0                 0 %            12 %                       26 %",
        "     1                25 %             0 %                        9 %",
        "     2                75 %             0 %                        9 %",
        " first                 0 %            12 %",
        "second               100 %             0 %",
        "",
    ]
    models = ["openai/a", "openai/b"]
    assert render(fit(answers, 0.1), models, 2).splitlines() == [*table, FITTED]
    assert render(fit(answers, 0.05), models, 2).splitlines() == [*table, NOT_FITTED]
    assert "never differ, inf do" not in render(fit(answers, 0), models, 2)
