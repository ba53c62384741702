"""The interval of κ for drawn labels and several answers of a case."""

import pytest

from benchmarks.agreement.drawn_labels import CLUSTERS, SUITES, Clusters, Suite, of_cases, of_drawn

pytestmark = pytest.mark.deep


@pytest.mark.parametrize("suite", SUITES, ids=str)
def test_drawn_labels_show_the_kappa_of_the_suite(suite: Suite) -> None:
    found = of_drawn(suite, repeats=120, draws=100)
    assert found.covered >= 0.9
    assert found.shown == pytest.approx(found.truth, abs=0.05)
    assert found.accepted <= 0.1 or found.truth >= 0.6


@pytest.mark.parametrize("clusters", CLUSTERS[:4], ids=str)
def test_answers_of_a_case_are_a_cluster(clusters: Clusters) -> None:
    assert of_cases(clusters, repeats=200, draws=100).covered >= 0.9
