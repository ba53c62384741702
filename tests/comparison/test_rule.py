"""The source of a comparison and the trials of its report choose the rule."""

import pytest

from rubric_ci.comparison.rule import Rule, rule_of
from rubric_ci.model.comparison import Source
from rubric_ci.model.regression_config import RegressionConfig
from tests.nights import case


@pytest.mark.parametrize(
    ("source", "trials", "rule"),
    [
        ("commit", 15, "exact"),
        ("commit", 2, "exact"),
        ("reference", 2, "budget"),
        ("reference", 15, "budget"),
        ("report", 14, "separation"),
        ("report", 15, "budget"),
    ],
)
def test_the_rule(source: Source, trials: int, rule: Rule) -> None:
    assert rule_of(source, [case("a", trials)], RegressionConfig()) == rule
