"""Types that are not there, the script of an aggregator, and the variables of prompts."""

from typing import Any

import pytest

from rubric_ci.evaluators.llm_judge import VARIABLES
from rubric_ci.files.validation.evaluator_rules import (
    ANSWER_VARIABLES,
    PROMPT_VARIABLES,
    Script,
    evaluator_problems,
    scripts_of,
)
from rubric_ci.values import parts

PATH = ("evalcases", 0, "evaluators", 1)


def composite(members: Any, **aggregator: Any) -> dict[str, Any]:
    return {"type": "composite", "evaluators": members, "aggregator": aggregator}


MEMBERS = [{"name": "one"}, {"name": "two"}]


def test_a_type_of_a_removed_part_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"name": "quick", "type": "latency", "threshold": 1}
    assert list(evaluator_problems(given, PATH)) == []
    monkeypatch.setattr(parts, "PARTS", ())
    (found,) = evaluator_problems(given, PATH)
    assert (found.rule.id, found.path) == ("evaluator-type", (*PATH, "type"))
    assert found.message == "`latency` is a type of a part of rubric-ci that was removed"


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
