"""All cases together, from 100 clusters on."""

from dataclasses import replace

from rubric_ci.gate.comparison import rule
from rubric_ci.values.results import Graded, Trial
from rubric_ci.values.scoring import Verdict
from tests.sample_reports import graded


def pairs(count: int, worse: int, better: int = 0, **facts: str) -> list[tuple[Graded, Graded]]:
    """Return pairs, of which the first are worse and the next ones better."""
    good = [graded(f"c{n}", "pass", **facts) for n in range(count)]
    bad = [graded(f"c{n}", "fail", **facts) for n in range(count)]
    here = [bad[n] if n < worse else good[n] for n in range(count)]
    before = [bad[n] if worse <= n < worse + better else good[n] for n in range(count)]
    return list(zip(here, before, strict=True))


def test_fewer_than_100_clusters_are_not_tested() -> None:
    assert rule.find_together(pairs(99, 99)) is None
    assert rule.find_together(pairs(120, 60, cluster="one")) is None


def test_a_drop_that_is_spread() -> None:
    found = rule.find_together(pairs(100, 12, 2))
    assert found is not None
    assert (found.cases, found.clusters, found.fewer_pass, found.more_fail) == (100, 100, 10, 10)
    assert found.worse
    assert found.p_value == 57 / 10_001  # on every machine; 106 of 2 ** 14 choices are as low
    assert rule.is_worse_together(pairs(150, 70, 48)) == (False, 261 / 10_001)


def test_as_many_better_as_worse() -> None:
    found = rule.find_together(pairs(200, 9, 8))
    assert found is not None
    assert not found.worse
    assert rule.find_together(pairs(200, 8, 8)) == rule.find_together(pairs(200, 8, 8))
    for better in (8, 9):
        assert rule.is_worse_together(pairs(200, 8, better)) == (False, 1.0)


def trials(*verdicts: Verdict) -> Graded:
    tried = tuple(Trial(verdict=each, score=float(each == "pass")) for each in verdicts)
    return graded("a", "pass", trials=tried)


def test_trials_are_weighed_by_their_mean() -> None:
    """A third of a verdict better, in one cluster: nothing is worse."""
    here, before = trials("pass", "pass", "pass"), trials("pass", "borderline", "pass")
    assert rule.is_worse_together([(here, before)]) == (False, 1.0)
    assert rule.is_worse_together([(before, here)]) == (False, 4856 / 10_001)  # one of two choices
    thirds = [(trials("pass", "pass", "fail"), here)] * 12  # one cluster, of one difference
    assert rule.is_worse_together(thirds) == rule.is_worse_together([(before, here)])


def test_cases_of_two_files_with_one_id_are_two_clusters() -> None:
    other = [
        (replace(here, file="b.yaml"), replace(before, file="b.yaml"))
        for here, before in pairs(50, 5)
    ]
    found = rule.find_together([*pairs(50, 5), *other])
    assert found is not None
    assert (found.clusters, found.more_fail) == (100, 10)


def test_targets_of_a_case_are_one_cluster() -> None:
    both = [
        (graded(f"c{n} [{target}]", "fail", target=target), graded(f"c{n} [{target}]", "pass"))
        for n in range(60)
        for target in ("a", "b")
    ]
    assert rule.find_together(both) is None
