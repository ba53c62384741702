"""Rules of cases: each suite with its problems, a line each: place, rule, message."""

from typing import Any

import pytest

from rubric_ci.files.validation.config_summary import WrittenTarget
from rubric_ci.files.validation.eval_rules import eval_problems, target_problems, ungraded_cases
from tests.files.shown import dotted, placed

EMPTY = "the case has neither rubrics nor evaluators nor an `expected_outcome`"
ZERO = [{"id": "a", "weight": 0}]
SCRIPT = {"name": "s", "type": "code_judge", "script": "x"}
TWICE = [SCRIPT, SCRIPT]
EXECUTED = {"execution": {"evaluators": [SCRIPT]}}


def rules(data: Any) -> str:
    return "\n".join(f"{dotted(each.path)}: {each.rule.id}" for each in eval_problems(data))


def suite(*cases: Any, **facts: Any) -> dict[str, Any]:
    return {**facts, "evalcases": list(cases)}


NOTHING = f"evalcases.0: case-empty: {EMPTY}"
IDS: dict[str, tuple[Any, str]] = {
    "no suite": (["a"], ""),
    "no cases": ({"evalcases": None}, ""),
    "cases that are no list": ({"evalcases": {"id": "a"}}, ""),
    "cases that are texts": (suite("a", "a", rubrics=["x"]), ""),
    "two ids": (suite({"id": "a"}, {"id": "b"}, rubrics=["x"]), ""),
    "the same id": (
        suite({"id": "a"}, {"id": "b"}, {"id": "a"}, rubrics=["x"]),
        "evalcases.2.id: case-id-duplicate: the id `a` is taken by an earlier case",
    ),
    "ids that are no text": (suite({"id": 1}, {"id": 1}, rubrics=["x"]), ""),
    "a duplicate after an id that is no text": (
        suite({"id": 1}, {"id": "a"}, {"id": "a"}, rubrics=["x"]),
        "evalcases.2.id: case-id-duplicate: the id `a` is taken by an earlier case",
    ),
}
GRADING: dict[str, tuple[Any, str]] = {
    "nothing to grade by": (suite({"id": "a"}), NOTHING),
    "the second case": (
        suite({"id": "a", "outcome": "x"}, {"id": "b"}),
        f"evalcases.1: case-empty: {EMPTY}",
    ),
    "an outcome": (suite({"id": "a", "expected_outcome": "x"}), ""),
    "an outcome by its short name": (suite({"id": "a", "outcome": "x"}), ""),
    "a misspelt outcome is reported as such": (suite({"id": "a", "expected_outcom": "x"}), ""),
    "a reference is no outcome": (suite({"id": "a", "expected_output": "x"}), NOTHING),
    "nor are its messages": (suite({"id": "a", "expected_messages": []}), NOTHING),
    "and so is the short name": (suite({"id": "a", "outcom": "x"}), ""),
    "rubrics": (suite({"id": "a", "rubrics": ["x"]}), ""),
    "rubrics of a turn": (suite({"id": "a", "turns": ["q", {"rubrics": ["x"]}]}), ""),
    "turns without rubrics": (suite({"id": "a", "turns": ["q", {"input": "q"}]}), NOTHING),
    "rubrics of the suite": (suite({"id": "a"}, rubrics=["x"]), ""),
    "an evaluator by its older name": (suite({"id": "a"}, evaluator="llm_judge"), ""),
    "evaluators": (suite({"id": "a", "evaluators": [SCRIPT]}), ""),
    "evaluators of its execution": (suite({"id": "a", **EXECUTED}), ""),
    "evaluators of the suite": (suite({"id": "a"}, **EXECUTED), ""),
    "no evaluators of the suite": (suite({"id": "a"}, execution={"evaluators": []}), NOTHING),
}
DOUBLE = "evaluators.1.name: evaluator-name-duplicate"
PLACES: dict[str, tuple[Any, str]] = {
    "rubrics of the suite": (suite({"id": "a"}, rubrics=ZERO), "rubrics: weight-total"),
    "rubrics of a case": (
        suite({"id": "b", "outcome": "x"}, {"id": "a", "rubrics": ZERO}),
        "evalcases.1.rubrics: weight-total",
    ),
    "rubrics of a turn": (
        suite({"id": "a", "turns": ["q", {"input": "q"}, {"rubrics": ZERO}]}),
        "evalcases.0.turns.2.rubrics: weight-total",
    ),
    "evaluators of the suite": (
        suite({"id": "a"}, execution={"evaluators": TWICE}),
        f"execution.{DOUBLE}",
    ),
    "evaluators of a case": (suite({"id": "a", "evaluators": TWICE}), f"evalcases.0.{DOUBLE}"),
    "evaluators of the execution of a case": (
        suite({"id": "a", "execution": {"evaluators": TWICE}}),
        "evalcases.0.execution.evaluators.1.name: evaluator-name-duplicate",
    ),
}


def talking(most: Any, turns: Any = ("q", "q")) -> dict[str, Any]:
    turns = list(turns) if isinstance(turns, tuple) else turns
    return suite({"turns": turns, "simulated_user": {"max_turns": most}}, rubrics=["x"])


def no_turn_left(turns: int) -> str:
    message = f"`max_turns` must be more than {turns}, the number of `turns`"
    return f"evalcases.0.simulated_user.max_turns: out-of-range: {message}"


MOST_TURNS: dict[str, tuple[Any, str]] = {
    "one more than are written": (talking(3), ""),
    "as many": (talking(2), no_turn_left(2)),
    "fewer": (talking(1), no_turn_left(2)),
    "out of range, which another rule reports": (talking(0), ""),
    "no number": (talking("2"), ""),
    "one turn": (talking(1, ("q",)), no_turn_left(1)),
    "no turns": (talking(1, ()), ""),
    "turns that are no list": (talking(1, "qq"), ""),
    "no simulated user": (suite({"turns": ["q"], "max_turns": 1}, rubrics=["x"]), ""),
}


UNWEIGHTED = {**SCRIPT, "weight": 0}
FREE = {"execution": {"evaluators": [UNWEIGHTED]}}
NAMED = {**SCRIPT, "name": "rubric"}
UNCOUNTED = "execution.evaluators: weight-total"
OWN = {"id": "a", "rubrics": ["x"]}
BARE = {"id": "b", "outcome": "x"}
INLINE: dict[str, tuple[Any, str]] = {
    "the suite's do not count": (suite(BARE, **FREE), UNCOUNTED),
    "without a list of cases": (FREE, UNCOUNTED),
    "next to rubrics of the suite": (suite(BARE, rubrics=["x"], **FREE), ""),
    "next to rubrics of every case": (suite(OWN, OWN | {"id": "c"}, **FREE), ""),
    "next to rubrics of a turn": (suite({**BARE, "turns": [{"rubrics": ["x"]}]}, **FREE), ""),
    "next to rubrics of one case of two": (suite(OWN, BARE, **FREE), UNCOUNTED),
    "every case has evaluators": (suite({**BARE, "evaluators": [SCRIPT]}, **FREE), ""),
    "every case has evaluators of its execution": (suite({**BARE, **EXECUTED}, **FREE), ""),
    "a case that is none": (suite("a", **FREE), ""),
    "a case's": (
        suite({**BARE, "evaluators": [UNWEIGHTED]}),
        "evalcases.0.evaluators: weight-total",
    ),
    "its execution's": (suite({**BARE, **FREE}), "evalcases.0.execution.evaluators: weight-total"),
    "a case's next to its rubrics": (suite({**OWN, "evaluators": [UNWEIGHTED]}), ""),
    "next to the suite's": (suite({**BARE, "evaluators": [UNWEIGHTED]}, rubrics=["x"]), ""),
    "a case's execution's next to its rubrics": (suite({**OWN, **FREE}), ""),
    "the name of inline rubrics": (
        suite({**OWN, "evaluators": [NAMED]}),
        "evalcases.0.evaluators.0.name: evaluator-name-duplicate",
    ),
    "the name of inline rubrics is free without them": (suite({**BARE, "evaluators": [NAMED]}), ""),
}


def graded(*evaluators: Any, **case: Any) -> dict[str, Any]:
    return suite({"id": "a", **case, "execution": {"evaluators": list(evaluators)}})


LIST = "evalcases.0.execution.evaluators"
TAKEN = "the name `s` is taken by an earlier evaluator"
RUBRIC = {"name": "r", "type": "rubric", "rubrics": ZERO}
NO_WEIGHT = "every criterion has weight 0, so nothing is graded"
EVALUATORS: dict[str, tuple[Any, str]] = {
    "the second": (graded(SCRIPT, RUBRIC), f"{LIST}.1.rubrics: weight-total: {NO_WEIGHT}"),
    "criteria that the type does not have": (graded({**SCRIPT, "rubrics": ZERO}), ""),
    "the same name after one that is no evaluator": (
        graded("x", *TWICE),
        f"{LIST}.2.name: evaluator-name-duplicate: {TAKEN}",
    ),
    "members": (
        graded({"name": "c", "type": "composite", "evaluators": TWICE}),
        f"{LIST}.0.evaluators.1.name: evaluator-name-duplicate: {TAKEN}",
    ),
    "a member with the name of inline rubrics": (
        graded({"name": "c", "type": "composite", "evaluators": [{**SCRIPT, "name": "rubric"}]}),
        "",
    ),
    "members of a type without": (graded({**SCRIPT, "evaluators": TWICE}), ""),
    "a whole number with a fraction": (
        graded({"name": "t", "type": "tool_trajectory", "minimums": {"a": 1.0, "b": 1.5, "c": 1}}),
        f"{LIST}.0.minimums.a: wrong-type: `a` must be an integer, not 1.0",
    ),
    "minimums of a list": (graded({"name": "t", "type": "tool_trajectory", "minimums": [1.0]}), ""),
}


def rows(**tables: dict[str, tuple[Any, str]]) -> list[Any]:
    return [
        pytest.param(*row, id=f"{table}: {name}")
        for table, of in tables.items()
        for name, row in of.items()
    ]


@pytest.mark.parametrize(
    ("data", "expected"), rows(ids=IDS, grading=GRADING, turns=MOST_TURNS, evaluators=EVALUATORS)
)
def test_cases(data: Any, expected: str) -> None:
    assert placed(eval_problems(data)) == expected


@pytest.mark.parametrize(("data", "expected"), rows(places=PLACES, inline=INLINE))
def test_criteria_and_evaluators_are_checked_where_they_stand(data: Any, expected: str) -> None:
    assert rules(data) == expected


TARGETS: dict[str, tuple[Any, str]] = {
    "no suite": (["a"], ""),
    "no cases": ({"evalcases": 5}, ""),
    "no target": (suite({"id": "a"}, "b"), ""),
    "defined": (suite({"id": "a", "target": "default"}, target="default"), ""),
    "no text": (suite({"id": "a", "target": 5}), ""),
    "several that are no list": (suite(targets="x"), ""),
    "one of several is unknown": (
        suite(targets=["default", "x", 5]),
        "targets.1: unknown-target: no target is called `x`",
    ),
    "unknown": (
        suite({"id": "a"}, target="defualt"),
        "target: unknown-target: no target is called `defualt`",
    ),
    "unknown in an execution": (
        suite({"id": "a"}, execution={"target": "x"}),
        "execution.target: unknown-target: no target is called `x`",
    ),
    "unknown of a case": (
        suite({"id": "b"}, {"id": "a", "target": "x"}),
        "evalcases.1.target: unknown-target: no target is called `x`",
    ),
    "unknown in the execution of a case": (
        suite({"id": "a", "execution": {"target": "x"}}),
        "evalcases.0.execution.target: unknown-target: no target is called `x`",
    ),
    "an agent": (
        suite({"id": "a", "target": "codex"}),
        "evalcases.0.target: agent-target: `codex` is a target that rubric-ci does not start",
    ),
}


KNOWN = {name: WrittenTarget(".agentv/targets.yaml", name, {}) for name in ("default", "codex")}


@pytest.mark.parametrize(("data", "expected"), TARGETS.values(), ids=TARGETS)
def test_targets(data: Any, expected: str) -> None:
    assert placed(target_problems(data, KNOWN)) == expected


def test_a_similar_target_is_suggested() -> None:
    (problem,) = target_problems(suite(target="defualt"), KNOWN)
    assert problem.hint == "did you mean `default`?"


def test_a_duplicate_names_the_first_place() -> None:
    data = suite({"id": "b"}, {"id": "a"}, {"id": "a"}, {"id": "a"}, rubrics=["x"])
    firsts = [each.first for each in eval_problems(data)]
    assert firsts == [("evalcases", 1, "id"), ("evalcases", 1, "id")]


UNGRADED_HAVE = "an expected outcome and no evaluator, and will not be graded"
FIRST = f"evalcases.0.id: ungraded-cases: 1 case has {UNGRADED_HAVE}"
UNGRADED: dict[str, tuple[Any, str]] = {
    "no suite": (["a"], ""),
    "no cases": ({"evalcases": {"id": "a"}}, ""),
    "an outcome": (suite({"id": "a", "expected_outcome": "x"}), FIRST),
    "an outcome by its short name": (suite(BARE), FIRST),
    "no outcome": (suite({"id": "a"}), ""),
    "no case": (suite("a"), ""),
    "a case with rubrics": (suite({**BARE, "rubrics": []}), ""),
    "a case with rubrics of a turn": (suite({**BARE, "turns": [{"rubrics": []}]}), ""),
    "a case with evaluators": (suite({**BARE, "evaluators": [SCRIPT]}), ""),
    "a case whose execution has evaluators": (suite({**BARE, **EXECUTED}), ""),
    "evaluators of the suite": (suite(BARE, **EXECUTED), ""),
    "a case without those of the suite": (suite({**BARE, "evaluators": []}, **EXECUTED), FIRST),
    "a case whose execution leaves out its own": (
        suite({**BARE, "evaluators": [SCRIPT], "execution": {"evaluators": []}}),
        FIRST,
    ),
    "rubrics of the suite": (suite(BARE, rubrics=["x"]), ""),
    "an evaluator by its older name": (suite(BARE, evaluator="llm_judge"), ""),
    "some": (
        suite(OWN, BARE, BARE),
        f"evalcases.1.id: ungraded-cases: 2 of 3 cases have {UNGRADED_HAVE}",
    ),
    "thousands": (
        suite(*[BARE] * 1500),
        f"evalcases.0.id: ungraded-cases: 1,500 of 1,500 cases have {UNGRADED_HAVE}",
    ),
}


@pytest.mark.parametrize(("data", "expected"), UNGRADED.values(), ids=UNGRADED)
def test_ungraded_cases(data: Any, expected: str) -> None:
    assert placed(ungraded_cases(data, "a.yaml")) == expected


def test_ungraded_cases_can_be_drafted_or_judged_by_their_outcome() -> None:
    (problem,) = ungraded_cases(suite(BARE), "evals/a.yaml")
    assert problem.hint == (
        "run `rubric-ci generate rubrics evals/a.yaml`, "
        "or set `default_evaluator: llm_judge` in rubric-ci.yaml"
    )


def test_a_name_that_is_taken_leads_to_the_first() -> None:
    (problem,) = eval_problems(graded(*TWICE))
    assert problem.first == ("evalcases", 0, "execution", "evaluators", 0, "name")
