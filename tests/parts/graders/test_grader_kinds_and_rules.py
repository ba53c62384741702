"""What `validate` finds in the weights of a composite."""

from typing import Any

import pytest

from rubric_ci.files.validation.evaluator_rules import evaluator_problems

PATH = ("evalcases", 0, "evaluators", 1)
WEIGHTS = (*PATH, "aggregator", "weights")
NONE = (WEIGHTS, "every member has weight 0, so nothing is graded")
MEMBERS = [{"name": "one"}, {"name": "two"}]


@pytest.mark.parametrize(
    ("members", "weights", "expected"),
    [
        (MEMBERS, {"one": 0, "two": 0}, [NONE]),
        (MEMBERS, {"one": 0}, []),
        (MEMBERS, {}, []),
        (MEMBERS, None, []),
        ([], {}, []),
        (None, {"one": 0}, []),
        ([*MEMBERS, "three"], {"one": 0, "two": 0}, [NONE]),
        ([{"name": "one", "weight": 0}], {}, [NONE]),
        ([{"name": "one", "weight": 0}, {"name": "two"}], {"two": 0}, [NONE]),
        ([{"name": "one", "weight": 0}], {"one": 2}, []),
        (MEMBERS, {"tow": 1}, [((*WEIGHTS, "tow"), "no member is called `tow`")]),
    ],
    ids=[
        *("all 0", "one is not given", "none is given", "no weights", "no members"),
        *("no list of members", "a member of a wrong type", "own weight 0", "own and by name 0"),
        *("by name only", "misspelt"),
    ],
)
def test_weights(members: Any, weights: Any, expected: list[tuple[Any, str]]) -> None:
    aggregator = {"type": "weighted_average", "weights": weights}
    composite = {"type": "composite", "evaluators": members, "aggregator": aggregator}
    found = list(evaluator_problems(composite, PATH))
    assert [(each.path, each.message) for each in found] == expected
