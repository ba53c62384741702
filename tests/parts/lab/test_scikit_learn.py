"""κ and the rates of checks against scikit-learn, on marks drawn at random.

It is imported by its tests alone, which takes 4 s: every worker imports this module.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.parts.lab.agreement import kappa, pair, recall
from rubric_ci.values.scoring import MarkValue
from tests.parts.lab.marks import CHECK, checks
from tests.parts.lab.test_agreement import MARKS, NO_GROUND, scores

pytestmark = pytest.mark.deep


@given(MARKS)
def test_kappa_of_scores(marks: list[tuple[int, int]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    found = kappa(scores(marks))
    if found is not None:
        first, second = zip(*marks, strict=True)
        theirs = cohen_kappa_score(first, second, labels=range(11), weights="quadratic")
        assert found == pytest.approx(theirs)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=15))
def test_kappa_of_checks(marks: list[tuple[int, int]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    found = kappa(checks(marks))
    if found is not None:
        first, second = zip(*marks, strict=True)
        assert found == pytest.approx(cohen_kappa_score(first, second))


@given(st.lists(st.tuples(*[st.sampled_from([True, False, NO_GROUND])] * 2), min_size=1))
def test_rates(marks: list[tuple[MarkValue, MarkValue]]) -> None:
    from sklearn.metrics import recall_score

    person, judge = ([str(mark) for mark in column] for column in zip(*marks, strict=True))
    pairs = [pair(CHECK, str(n), *each) for n, each in enumerate(marks)]
    for mark in (True, False):
        if (mine := recall(pairs, mark=mark)) is not None:
            theirs = recall_score(person, judge, labels=[str(mark)], average="macro")
            assert mine == pytest.approx(theirs)
