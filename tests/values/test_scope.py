"""Which part of the suite a run covers: its words, and that narrowing only adds up."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.values.scope import NARROWINGS, Narrowing, Scope, merged

NAMES = st.lists(st.sampled_from(NARROWINGS))


@pytest.mark.parametrize(
    ("scope", "cases", "shown"),
    [
        (Scope(suite=4), 4, ""),
        (Scope(), 4, ""),
        (Scope(suite=4).narrowed("case"), 2, "2 of 4 cases: case filter"),
        (Scope(suite=1).narrowed("changed-since"), 0, "0 of 1 case: --changed-since"),
        (Scope(suite=4).narrowed("tag", "case"), 1, "1 of 4 cases: case filter, --tag"),
        (Scope(suite=1200).narrowed("last-failed"), 3, "3 of 1,200 cases: --last-failed"),
        (Scope().narrowed("paths"), 1, "1 case: given paths"),
        (
            Scope().narrowed("invalid", "shard"),
            2,
            "2 cases: eval files with problems left out, --shard",
        ),
        (Scope(suite=4).narrowed("interrupted"), 4, "4 of 4 cases: interrupted"),
        (Scope(suite=4).narrowed("max-failures"), 4, "4 of 4 cases: --max-failures"),
        (Scope(suite=4).narrowed("offline", "replay"), 4, "4 of 4 cases: --offline"),
        (Scope(suite=4).narrowed("replay"), 4, ""),
    ],
)
def test_describe(scope: Scope, cases: int, shown: str) -> None:
    assert scope.describe(cases) == shown
    assert scope.complete == (not shown)


@given(NAMES, NAMES)
def test_narrowing_adds_up_in_any_order(one: list[Narrowing], other: list[Narrowing]) -> None:
    at_once = Scope(suite=4).narrowed(*one, *other)
    assert Scope(suite=4).narrowed(*other).narrowed(*one) == at_once
    assert at_once.narrowed_by == tuple(n for n in NARROWINGS if n in {*one, *other})
    assert at_once.without(*one, *other) == Scope(suite=4)


@pytest.mark.parametrize("name", NARROWINGS)
def test_one_narrowing(name: Narrowing) -> None:
    scope = Scope(suite=4).narrowed(name)
    assert scope.complete == (name == "replay")
    assert scope.replayed == (name == "replay")
    assert scope.unread == (name == "invalid")
    assert scope.unfinished == (name in {"max-failures", "interrupted"})


def test_all_shards_of_a_whole_run_are_whole_again() -> None:
    shards = [Scope(suite=4).narrowed("shard"), Scope(suite=4)]
    assert [merged(order) for order in permutations(shards)] == [Scope(suite=4)] * 2


def test_a_merged_run_keeps_what_narrowed_any_shard() -> None:
    one = Scope(suite=4).narrowed("case", "shard")
    found = merged([one, one.narrowed("interrupted")])
    assert found == Scope(suite=4).narrowed("case", "interrupted")
