"""What `validate` finds in a composite, and the script of its aggregator."""

from typing import Any

import pytest

from rubric_ci.files.validation.evaluator_rules import (
    ANSWER_VARIABLES,
    PROMPT_VARIABLES,
    Script,
    evaluator_problems,
    scripts_of,
)
from rubric_ci.models.judge.freeform import VARIABLES

PATH = ("evalcases", 0, "evaluators", 1)
WEIGHTS = (*PATH, "aggregator", "weights")
NONE = (WEIGHTS, "every member has weight 0, so nothing is graded")


def composite(members: Any, **aggregator: Any) -> dict[str, Any]:
    return {"type": "composite", "evaluators": members, "aggregator": aggregator}


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
    found = list(
        evaluator_problems(composite(members, type="weighted_average", weights=weights), PATH)
    )
    assert [(each.path, each.message) for each in found] == expected


def test_the_script_of_the_aggregator() -> None:
    settings = {"type": "code_judge", "path": "./combine.py"}
    assert list(scripts_of(composite(MEMBERS, **settings), PATH)) == [
        Script(settings, (*PATH, "aggregator"), "path")
    ]
    assert list(scripts_of(composite(MEMBERS, type="llm_judge_aggregator"), PATH)) == []
    assert list(scripts_of({"type": "composite", "aggregator": "mean"}, PATH)) == []


def test_the_variables_of_prompts_are_those_that_a_judge_fills_in() -> None:
    assert set(PROMPT_VARIABLES) == {*VARIABLES}
    assert set(ANSWER_VARIABLES) < {*VARIABLES}
