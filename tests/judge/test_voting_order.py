"""Orders and groups of criteria: everything once, the same every time."""

from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.judge.voting import grouped, shuffled
from rubric_ci.model.diagnostics import Span
from rubric_ci.model.rubric import Check

SPAN = Span(1, 1, 1, 2)


def criteria(count: int) -> tuple[Check, ...]:
    return tuple(Check(id=f"{n}", text="x", span=SPAN) for n in range(count))


def test_the_first_vote_keeps_the_order_of_the_file() -> None:
    assert shuffled(criteria(9), 1) == criteria(9)


def test_each_vote_has_an_order_of_its_own_that_repeats() -> None:
    orders = [shuffled(criteria(9), vote) for vote in range(1, 6)]
    assert len(set(orders)) == 5
    assert orders == [shuffled(criteria(9), vote) for vote in range(1, 6)]
    assert {tuple(sorted(c.id for c in order)) for order in orders} == {
        tuple(c.id for c in criteria(9))
    }


def test_twenty_are_one_group_and_one_more_makes_two_alike() -> None:
    assert [len(group) for group in grouped(criteria(20))] == [20]
    assert [len(group) for group in grouped(criteria(21))] == [11, 10]


@given(st.integers(1, 130), st.integers(1, 25))
def test_groups_hold_everything_once_in_order(count: int, most: int) -> None:
    groups = grouped(criteria(count), most)
    sizes = [len(group) for group in groups]
    assert tuple(c for group in groups for c in group) == criteria(count)
    assert len(groups) == -(-count // most)
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 1
