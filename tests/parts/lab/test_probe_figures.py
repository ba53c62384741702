"""The word for the marks of variants."""

import pytest

from rubric_ci.parts.lab.probe_figures import (
    Mutation,
    Share,
    Word,
    families,
    figures,
    share_interval,
)


def noticed(*right: bool, family: str = "replaced", case: str = "a") -> list[Mutation]:
    return [
        Mutation(case=case, family=family, change="", must_notice=True, right=each)
        for each in right
    ]


def unmoved(*right: bool) -> list[Mutation]:
    return [
        Mutation(case="a", family="greeting", change="", must_notice=False, right=each)
        for each in right
    ]


YES, NO = [True] * 4, [False] * 4


@pytest.mark.parametrize(
    ("mutations", "word"),
    [
        ([], "untested"),
        (noticed(True, True), "untested"),
        (noticed(*YES), "sound"),
        (noticed(*YES) + unmoved(False), "sound"),
        (noticed(*YES) + unmoved(False, False, *YES), "jumpy"),
        (noticed(*YES) + unmoved(False, False, *YES * 3), "sound"),
        (noticed(*NO), "never-fails"),
        (noticed(*NO) + unmoved(False, False), "jumpy"),
        (noticed(*YES, *NO), "misses-some"),
        (noticed(*YES * 3, False), "sound"),
        (noticed(*NO * 3, True), "never-fails"),
    ],
)  # fmt: skip
def test_words(mutations: list[Mutation], word: Word) -> None:
    assert figures(mutations)[2] == word


def test_shares_of_one_answer_are_over_its_variants() -> None:
    share, other, _ = figures(noticed(True, True, True, False) + unmoved(True))
    assert share == Share(hit=3, of=4, low=0.3006, high=0.9544)
    assert other == Share(hit=1, of=1, low=0.2065, high=1.0)
    assert figures([])[0] == Share(hit=0, of=0, low=0.0, high=1.0)


def test_shares_of_several_answers_are_over_the_answers() -> None:
    both = noticed(*YES, case="a") + noticed(*YES, case="b")
    assert figures(both)[0] == Share(hit=8, of=8, low=0.0122, high=1.0)


def test_families_in_order() -> None:
    mutations = noticed(True, family="blank") + noticed(False) + noticed(True)
    assert [(name, share.hit, share.of) for name, _, share in families(mutations)] == [
        ("blank", 1, 1),
        ("replaced", 1, 2),
    ]


SHARES = {
    "independent cases": ([[1.0]] * 10 + [[0.0]] * 10, (0.2993, 0.7007)),
    "clusters of equal cases count as their number less one": (
        [[1.0] * 5] * 2 + [[0.0] * 5] * 2,
        (0.0608, 0.9392),
    ),
    "many clusters": ([[1.0] * 2, [0.0] * 2] * 600, (0.4717, 0.5283)),
    "one cluster": ([[1.0, 0.0]], (0.0015, 0.9985)),
    "all pass in two clusters": ([[1.0] * 10] * 2, (0.0122, 1.0)),
}


@pytest.mark.parametrize(("clusters", "ends"), SHARES.values(), ids=SHARES)
def test_clusters_widen_a_share(clusters: list[list[float]], ends: tuple[float, float]) -> None:
    assert share_interval(clusters) == ends
