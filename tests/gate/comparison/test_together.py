"""All cases together, from 100 clusters on."""

from rubric_ci.gate.comparison import together
from rubric_ci.values.results import Graded
from tests.sample_reports import graded


def pairs(count: int, worse: int, better: int = 0, **facts: str) -> list[tuple[Graded, Graded]]:
    """Return pairs, of which the first are worse and the next ones better."""
    good = [graded(f"c{n}", "pass", **facts) for n in range(count)]
    bad = [graded(f"c{n}", "fail", **facts) for n in range(count)]
    here = [bad[n] if n < worse else good[n] for n in range(count)]
    before = [bad[n] if worse <= n < worse + better else good[n] for n in range(count)]
    return list(zip(here, before, strict=True))


def test_fewer_than_100_clusters_are_not_tested() -> None:
    assert together.find(pairs(99, 99)) is None
    assert together.find(pairs(120, 60, cluster="one")) is None


def test_a_drop_that_is_spread() -> None:
    found = together.find(pairs(100, 12, 2))
    assert found is not None
    assert (found.cases, found.clusters, found.fewer_pass, found.more_fail) == (100, 100, 10, 10)
    assert found.worse
    assert 0.003 < found.p_value < 0.01  # 106 of 2 ** 14 sign choices are as low


def test_as_many_better_as_worse() -> None:
    found = together.find(pairs(200, 9, 8))
    assert found is not None
    assert not found.worse
    assert together.find(pairs(200, 8, 8)) == together.find(pairs(200, 8, 8))
    assert together.is_worse(pairs(200, 0, 8)) == (False, 1.0)


def test_targets_of_a_case_are_one_cluster() -> None:
    both = [
        (graded(f"c{n} [{target}]", "fail", target=target), graded(f"c{n} [{target}]", "pass"))
        for n in range(60)
        for target in ("a", "b")
    ]
    assert together.find(both) is None
