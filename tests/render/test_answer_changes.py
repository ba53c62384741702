"""The words and the marks of a case that differ from before."""

from dataclasses import replace

from rubric_ci.model.results import BaseResult
from rubric_ci.render.answer_changes import is_cut, lower_marks, word_runs
from tests.sample_reports import a_criterion, a_rubric, graded


def test_words_that_differ() -> None:
    assert list(word_runs("You get a refund today", "You get nothing today")) == [
        ("same", "You get"),
        ("removed", "a refund"),
        ("added", "nothing"),
        ("same", "today"),
    ]


def test_only_the_first_words_are_compared() -> None:
    assert [is_cut("a " * n, "b") for n in (200, 201)] == [False, True]
    assert [kind for kind, _ in word_runs("a " * 201, "a " * 200)] == ["same"]


def test_only_marks_that_fell_are_named() -> None:
    met = a_criterion("c", normalised=1.0, mark=True, gated=False)
    other = replace(met, id="d")
    then = BaseResult(outcome="graded", evaluators=(a_rubric(met, other),))
    case = graded("a", "fail", a_criterion("c"), other, before=then)
    assert list(lower_marks(case)) == [("c", "1.00 → 0.00", "said")]
    assert list(lower_marks(graded("a", "fail", a_criterion("c")))) == []
