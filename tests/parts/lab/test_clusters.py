"""The interval of κ for several answers of a case."""

import pytest

from benchmarks.agreement.clusters import CLUSTERS, Clusters, covered

pytestmark = pytest.mark.deep


@pytest.mark.parametrize("clusters", CLUSTERS[:4], ids=str)
def test_answers_of_a_case_are_a_cluster(clusters: Clusters) -> None:
    assert covered(clusters, repeats=200, draws=100)[0] >= 0.9
