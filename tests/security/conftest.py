"""Fixtures of the tests that run workflows under act, for the attacks on them."""

from tests.hooks.conftest import published, shared
from tests.hooks.test_act_grading import github, judge, topic

__all__ = ["github", "judge", "published", "shared", "topic"]
