"""The margin of a cascade, fitted to labels."""

from dataclasses import replace
from math import inf

from rubric_ci.services.calibration.cascade import CascadeAnswer, fit, render


def answer(case: int, moves: float, *, first: bool = False, last: bool = False) -> CascadeAnswer:
    return CascadeAnswer(case=str(case), moves=moves, first_wrong=first, last_wrong=last)


NEAR = [answer(n, 1, first=n < 5) for n in range(10)]
FAR = [answer(n, 2) for n in range(10, 30)]
NEVER = [answer(n, inf) for n in range(30, 40)]

FITTED = (
    "set `margin: 1`: the second judge is asked for 25 % of the answers, and 0 % of the verdicts "
    "are not the person's (95 % interval 0 to 9 %, each case left out of the fit)"
)


def test_the_smallest_margin_that_is_as_good_as_the_second_judge() -> None:
    found = fit([*NEAR, *FAR, *NEVER])
    assert (found.margin, found.left_out) == (1, 0.0)


def test_a_first_judge_that_is_as_good_needs_no_margin() -> None:
    assert fit([answer(n, 1) for n in range(10)]).margin == 0


def test_errors_far_from_another_verdict_need_the_largest_margin() -> None:
    assert fit([*NEAR, *[answer(n, 3, first=True) for n in range(10, 12)]]).margin == 3


def test_the_error_is_of_cases_that_were_not_fitted() -> None:
    # Without the one error of the first judge, no margin is needed, and the case is wrong.
    found = fit([answer(0, 1, first=True), *[answer(n, 1) for n in range(1, 10)]])
    assert (found.margin, found.left_out) == (1, 0.1)


DRAWN = [  # 20 of 200 passes and 20 of 20 fails of the first judge
    *[replace(answer(n, 1, first=n < 2), weight=10.0) for n in range(20)],
    *[answer(n, 1, last=n < 24) for n in range(20, 40)],
]


def test_an_answer_that_was_drawn_stands_for_others() -> None:
    # Four answers of the last judge are wrong and two of the first, which stand for twenty.
    found = fit(DRAWN)
    assert (found.margin, round(found.left_out, 4)) == (1, 0.0182)
    assert fit([replace(each, weight=1.0) for each in DRAWN]).margin == 0
    lines = render(found, ["openai/a", "openai/b"], 0).splitlines()
    assert lines[2:7] == [
        "margin  second judge asked  wrong verdicts",
        "     0                 0 %             9 %",
        "     1               100 %             2 %",
        " first                 0 %             9 %",
        "second               100 %             2 %",
    ]
    assert found.interval == (0.0017, 0.1678)  # as of 24 answers


def test_the_text() -> None:
    assert render(fit([*NEAR, *FAR, *NEVER]), ["openai/a", "openai/b"], 2).splitlines() == [
        "openai/a then openai/b: 40 labelled answers",
        "2 more are not counted: the person or a judge gave not every mark",
        "",
        "margin  second judge asked  wrong verdicts",
        "     0                 0 %            12 %",
        "     1                25 %             0 %",
        "     2                75 %             0 %",
        " first                 0 %            12 %",
        "second               100 %             0 %",
        "",
        FITTED,
    ]
