"""Rules of cases: each suite with its problems, as rule, place, message and hint."""

from typing import Any, TypeAlias

import pytest

from rubric_ci.files.validation.eval_rules import eval_problems, target_problems, ungraded_cases
from rubric_ci.values.problems import Problem

Found: TypeAlias = tuple[str, str, str]
"""Rule, place, message."""

EMPTY = "the case has neither rubrics nor evaluators nor an `expected_outcome`"
ZERO = [{"id": "a", "weight": 0}]
SCRIPT = {"name": "s", "type": "code_judge", "script": "x"}
TWICE = [SCRIPT, SCRIPT]


def place(problem: Problem) -> str:
    return ".".join(str(step) for step in problem.path)


def found(data: Any) -> list[Found]:
    return [(each.rule.id, place(each), each.message) for each in eval_problems(data)]


def rules(data: Any) -> list[tuple[str, str]]:
    return [(rule, where) for rule, where, _ in found(data)]


def suite(*cases: Any, **facts: Any) -> dict[str, Any]:
    return {**facts, "evalcases": list(cases)}


NOTHING = ("case-empty", "evalcases.0", EMPTY)
IDS: dict[str, tuple[Any, list[Found]]] = {
    "no suite": (["a"], []),
    "no cases": ({"evalcases": None}, []),
    "cases that are no list": ({"evalcases": {"id": "a"}}, []),
    "cases that are texts": (suite("a", "a", rubrics=["Greets"]), []),
    "two ids": (suite({"id": "a"}, {"id": "b"}, rubrics=["Greets"]), []),
    "the same id": (
        suite({"id": "a"}, {"id": "b"}, {"id": "a"}, rubrics=["Greets"]),
        [("case-id-duplicate", "evalcases.2.id", "the id `a` is taken by an earlier case")],
    ),
    "ids that are no text": (suite({"id": 1}, {"id": 1}, rubrics=["Greets"]), []),
    "a duplicate after an id that is no text": (
        suite({"id": 1}, {"id": "a"}, {"id": "a"}, rubrics=["Greets"]),
        [("case-id-duplicate", "evalcases.2.id", "the id `a` is taken by an earlier case")],
    ),
}
GRADING: dict[str, tuple[Any, list[Found]]] = {
    "nothing to grade by": (suite({"id": "a"}), [NOTHING]),
    "the second case": (
        suite({"id": "a", "outcome": "x"}, {"id": "b"}),
        [("case-empty", "evalcases.1", EMPTY)],
    ),
    "an outcome": (suite({"id": "a", "expected_outcome": "x"}), []),
    "an outcome by its short name": (suite({"id": "a", "outcome": "x"}), []),
    "a misspelt outcome is reported as such": (suite({"id": "a", "expected_outcom": "x"}), []),
    "a reference is no outcome": (suite({"id": "a", "expected_output": "x"}), [NOTHING]),
    "nor are its messages": (suite({"id": "a", "expected_messages": []}), [NOTHING]),
    "and so is the short name": (suite({"id": "a", "outcom": "x"}), []),
    "rubrics": (suite({"id": "a", "rubrics": ["Greets"]}), []),
    "rubrics of a turn": (suite({"id": "a", "turns": ["q", {"rubrics": ["Greets"]}]}), []),
    "turns without rubrics": (suite({"id": "a", "turns": ["q", {"input": "q"}]}), [NOTHING]),
    "rubrics of the suite": (suite({"id": "a"}, rubrics=["Greets"]), []),
    "an evaluator by its older name": (suite({"id": "a"}, evaluator="llm_judge"), []),
    "evaluators": (suite({"id": "a", "evaluators": [SCRIPT]}), []),
    "evaluators of its execution": (suite({"id": "a", "execution": {"evaluators": [SCRIPT]}}), []),
    "evaluators of the suite": (suite({"id": "a"}, execution={"evaluators": [SCRIPT]}), []),
    "no evaluators of the suite": (suite({"id": "a"}, execution={"evaluators": []}), [NOTHING]),
}
PLACES: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "rubrics of the suite": (suite({"id": "a"}, rubrics=ZERO), [("weight-total", "rubrics")]),
    "rubrics of a case": (
        suite({"id": "b", "outcome": "x"}, {"id": "a", "rubrics": ZERO}),
        [("weight-total", "evalcases.1.rubrics")],
    ),
    "rubrics of a turn": (
        suite({"id": "a", "turns": ["q", {"input": "q"}, {"rubrics": ZERO}]}),
        [("weight-total", "evalcases.0.turns.2.rubrics")],
    ),
    "evaluators of the suite": (
        suite({"id": "a"}, execution={"evaluators": TWICE}),
        [("evaluator-name-duplicate", "execution.evaluators.1.name")],
    ),
    "evaluators of a case": (
        suite({"id": "a", "evaluators": TWICE}),
        [("evaluator-name-duplicate", "evalcases.0.evaluators.1.name")],
    ),
    "evaluators of the execution of a case": (
        suite({"id": "a", "execution": {"evaluators": TWICE}}),
        [("evaluator-name-duplicate", "evalcases.0.execution.evaluators.1.name")],
    ),
}


@pytest.mark.parametrize(
    ("data", "expected"), [*IDS.values(), *GRADING.values()], ids=[*IDS, *GRADING]
)
def test_cases(data: Any, expected: list[Found]) -> None:
    assert found(data) == expected


@pytest.mark.parametrize(("data", "expected"), PLACES.values(), ids=PLACES)
def test_criteria_and_evaluators_are_checked_where_they_stand(
    data: Any, expected: list[tuple[str, str]]
) -> None:
    assert rules(data) == expected


def talking(most: Any, turns: Any = ("q", "q")) -> dict[str, Any]:
    turns = list(turns) if isinstance(turns, tuple) else turns
    return suite({"turns": turns, "simulated_user": {"max_turns": most}}, rubrics=["Greets"])


def no_turn_left(turns: int) -> list[Found]:
    message = f"`max_turns` must be more than {turns}, the number of `turns`"
    return [("out-of-range", "evalcases.0.simulated_user.max_turns", message)]


MOST_TURNS: dict[str, tuple[Any, list[Found]]] = {
    "one more than are written": (talking(3), []),
    "as many": (talking(2), no_turn_left(2)),
    "fewer": (talking(1), no_turn_left(2)),
    "out of range, which another rule reports": (talking(0), []),
    "no number": (talking("2"), []),
    "one turn": (talking(1, ("q",)), no_turn_left(1)),
    "no turns": (talking(1, ()), []),
    "turns that are no list": (talking(1, "qq"), []),
    "no simulated user": (suite({"turns": ["q"], "max_turns": 1}, rubrics=["Greets"]), []),
}


@pytest.mark.parametrize(("data", "expected"), MOST_TURNS.values(), ids=MOST_TURNS)
def test_a_simulated_user_has_a_turn(data: Any, expected: list[Found]) -> None:
    assert found(data) == expected


FREE = {**SCRIPT, "weight": 0}
NAMED = {**SCRIPT, "name": "rubric"}
UNCOUNTED = [("weight-total", "execution.evaluators")]
OWN = {"id": "a", "rubrics": ["Greets"]}
BARE = {"id": "b", "outcome": "x"}
INLINE: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "the suite's do not count": (suite(BARE, execution={"evaluators": [FREE]}), UNCOUNTED),
    "without a list of cases": ({"execution": {"evaluators": [FREE]}}, UNCOUNTED),
    "next to rubrics of the suite": (
        suite(BARE, rubrics=["Greets"], execution={"evaluators": [FREE]}),
        [],
    ),
    "next to rubrics of every case": (
        suite(OWN, OWN | {"id": "c"}, execution={"evaluators": [FREE]}),
        [],
    ),
    "next to rubrics of a turn": (
        suite({**BARE, "turns": [{"rubrics": ["Greets"]}]}, execution={"evaluators": [FREE]}),
        [],
    ),
    "next to rubrics of one case of two": (
        suite(OWN, BARE, execution={"evaluators": [FREE]}),
        UNCOUNTED,
    ),
    "every case has evaluators": (
        suite({**BARE, "evaluators": [SCRIPT]}, execution={"evaluators": [FREE]}),
        [],
    ),
    "every case has evaluators of its execution": (
        suite({**BARE, "execution": {"evaluators": [SCRIPT]}}, execution={"evaluators": [FREE]}),
        [],
    ),
    "a case that is none": (suite("a", execution={"evaluators": [FREE]}), []),
    "a case's do not count": (
        suite({**BARE, "evaluators": [FREE]}),
        [("weight-total", "evalcases.0.evaluators")],
    ),
    "a case's execution's do not count": (
        suite({**BARE, "execution": {"evaluators": [FREE]}}),
        [("weight-total", "evalcases.0.execution.evaluators")],
    ),
    "a case's next to its rubrics": (suite({**OWN, "evaluators": [FREE]}), []),
    "a case's next to rubrics of the suite": (
        suite({**BARE, "evaluators": [FREE]}, rubrics=["Greets"]),
        [],
    ),
    "a case's execution's next to its rubrics": (
        suite({**OWN, "execution": {"evaluators": [FREE]}}),
        [],
    ),
    "the name of inline rubrics": (
        suite({**OWN, "evaluators": [NAMED]}),
        [("evaluator-name-duplicate", "evalcases.0.evaluators.0.name")],
    ),
    "the name of inline rubrics is free without them": (suite({**BARE, "evaluators": [NAMED]}), []),
}


@pytest.mark.parametrize(("data", "expected"), INLINE.values(), ids=INLINE)
def test_evaluators_next_to_inline_rubrics(data: Any, expected: list[tuple[str, str]]) -> None:
    assert rules(data) == expected


TARGETS: dict[str, tuple[Any, list[Found]]] = {
    "no suite": (["a"], []),
    "no cases": ({"evalcases": 5}, []),
    "no target": (suite({"id": "a"}, "b"), []),
    "defined": (suite({"id": "a", "target": "default"}, target="default"), []),
    "no text": (suite({"id": "a", "target": 5}), []),
    "several that are no list": (suite(targets="x"), []),
    "one of several is unknown": (
        suite(targets=["default", "x", 5]),
        [("unknown-target", "targets.1", "no target is called `x`")],
    ),
    "unknown": (
        suite({"id": "a"}, target="defualt"),
        [("unknown-target", "target", "no target is called `defualt`")],
    ),
    "unknown in an execution": (
        suite({"id": "a"}, execution={"target": "x"}),
        [("unknown-target", "execution.target", "no target is called `x`")],
    ),
    "unknown of a case": (
        suite({"id": "b"}, {"id": "a", "target": "x"}),
        [("unknown-target", "evalcases.1.target", "no target is called `x`")],
    ),
    "unknown in the execution of a case": (
        suite({"id": "a", "execution": {"target": "x"}}),
        [("unknown-target", "evalcases.0.execution.target", "no target is called `x`")],
    ),
    "an agent": (
        suite({"id": "a", "target": "codex"}),
        [
            (
                "agent-target",
                "evalcases.0.target",
                "`codex` is a target that rubric-ci does not start",
            )
        ],
    ),
}


@pytest.mark.parametrize(("data", "expected"), TARGETS.values(), ids=TARGETS)
def test_targets(data: Any, expected: list[Found]) -> None:
    problems = target_problems(data, frozenset({"default", "codex"}), frozenset({"codex"}))
    assert [(each.rule.id, place(each), each.message) for each in problems] == expected


def test_a_similar_target_is_suggested() -> None:
    (problem,) = target_problems(suite(target="defualt"), frozenset({"default"}), frozenset())
    assert problem.hint == "did you mean `default`?"


def test_a_duplicate_names_the_first_place() -> None:
    data = suite({"id": "b"}, {"id": "a"}, {"id": "a"}, {"id": "a"}, rubrics=["Greets"])
    firsts = [each.first for each in eval_problems(data)]
    assert firsts == [("evalcases", 1, "id"), ("evalcases", 1, "id")]


ONE = "1 case has an expected outcome and no evaluator, and will not be graded"
UNGRADED: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "no suite": (["a"], []),
    "no cases": ({"evalcases": {"id": "a"}}, []),
    "an outcome": (suite({"id": "a", "expected_outcome": "x"}), [("evalcases.0.id", ONE)]),
    "an outcome by its short name": (suite(BARE), [("evalcases.0.id", ONE)]),
    "no outcome": (suite({"id": "a"}), []),
    "no case": (suite("a"), []),
    "a case with rubrics": (suite({**BARE, "rubrics": []}), []),
    "a case with rubrics of a turn": (suite({**BARE, "turns": [{"rubrics": []}]}), []),
    "a case with evaluators": (suite({**BARE, "evaluators": [SCRIPT]}), []),
    "a case whose execution has evaluators": (
        suite({**BARE, "execution": {"evaluators": [SCRIPT]}}),
        [],
    ),
    "evaluators of the suite": (suite(BARE, execution={"evaluators": [SCRIPT]}), []),
    "a case without those of the suite": (
        suite({**BARE, "evaluators": []}, execution={"evaluators": [SCRIPT]}),
        [("evalcases.0.id", ONE)],
    ),
    "a case whose execution leaves out its own": (
        suite({**BARE, "evaluators": [SCRIPT], "execution": {"evaluators": []}}),
        [("evalcases.0.id", ONE)],
    ),
    "rubrics of the suite": (suite(BARE, rubrics=["Greets"]), []),
    "an evaluator by its older name": (suite(BARE, evaluator="llm_judge"), []),
    "some of many": (
        suite(OWN, BARE, BARE),
        [
            (
                "evalcases.1.id",
                "2 of 3 cases have an expected outcome and no evaluator, and will not be graded",
            )
        ],
    ),
    "thousands": (
        suite(*[BARE] * 1500),
        [
            (
                "evalcases.0.id",
                (
                    "1,500 of 1,500 cases have an expected outcome and no evaluator, and will not "
                    "be graded"
                ),
            )
        ],
    ),
}


@pytest.mark.parametrize(("data", "expected"), UNGRADED.values(), ids=UNGRADED)
def test_ungraded_cases(data: Any, expected: list[tuple[str, str]]) -> None:
    problems = list(ungraded_cases(data, "a.yaml"))
    assert [(place(each), each.message) for each in problems] == expected
    assert {each.rule.id for each in problems} <= {"ungraded-cases"}


def test_ungraded_cases_can_be_drafted_or_judged_by_their_outcome() -> None:
    (problem,) = ungraded_cases(suite(BARE), "evals/a.yaml")
    assert problem.hint == (
        "run `rubric-ci generate rubrics evals/a.yaml`, "
        "or set `default_evaluator: llm_judge` in rubric-ci.yaml"
    )


def graded(*evaluators: Any, **case: Any) -> dict[str, Any]:
    return suite({"id": "a", **case, "execution": {"evaluators": list(evaluators)}})


LIST = "evalcases.0.execution.evaluators"
TAKEN = "the name `s` is taken by an earlier evaluator"
RUBRIC = {"name": "r", "type": "rubric", "rubrics": ZERO}
NO_WEIGHT = "every criterion has weight 0, so nothing is graded"
EVALUATORS: dict[str, tuple[Any, list[Found]]] = {
    "a criterion of the second": (
        graded(SCRIPT, RUBRIC),
        [("weight-total", f"{LIST}.1.rubrics", NO_WEIGHT)],
    ),
    "criteria that the type does not have": (graded({**SCRIPT, "rubrics": ZERO}), []),
    "the same name after one that is no evaluator": (
        graded("x", *TWICE),
        [("evaluator-name-duplicate", f"{LIST}.2.name", TAKEN)],
    ),
    "the name of the inline rubrics": (
        graded({**SCRIPT, "name": "rubric"}, rubrics=["Greets"]),
        [
            (
                "evaluator-name-duplicate",
                f"{LIST}.0.name",
                "the name `rubric` is taken by the inline rubrics",
            )
        ],
    ),
    "members": (
        graded({"name": "c", "type": "composite", "evaluators": TWICE}),
        [("evaluator-name-duplicate", f"{LIST}.0.evaluators.1.name", TAKEN)],
    ),
    "a member with the name of inline rubrics": (
        graded({"name": "c", "type": "composite", "evaluators": [{**SCRIPT, "name": "rubric"}]}),
        [],
    ),
    "members of a type without": (graded({**SCRIPT, "evaluators": TWICE}), []),
    "a whole number with a fraction": (
        graded({"name": "t", "type": "tool_trajectory", "minimums": {"a": 1.0, "b": 1.5, "c": 1}}),
        [("wrong-type", f"{LIST}.0.minimums.a", "`a` must be an integer, not 1.0")],
    ),
    "minimums that are no mapping": (
        graded({"name": "t", "type": "tool_trajectory", "minimums": [1.0]}),
        [],
    ),
}


@pytest.mark.parametrize("name", EVALUATORS)
def test_evaluators(name: str) -> None:
    data, expected = EVALUATORS[name]
    assert found(data) == expected


def test_a_name_that_is_taken_leads_to_the_first() -> None:
    (problem,) = eval_problems(graded(*TWICE))
    assert problem.first == ("evalcases", 0, "execution", "evaluators", 0, "name")
