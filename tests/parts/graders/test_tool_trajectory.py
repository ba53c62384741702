"""Tool calls, compared with the expected ones."""

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import CannotMeasure
from rubric_ci.parts.graders.tool_trajectory import (
    ExpectedCall,
    ToolTrajectorySpec,
    tool_trajectory,
)
from rubric_ci.text.redact import redactor
from rubric_ci.values.results import Answer, Assessment
from tests.cases import build_case, span, text_answer


def called(*calls: str | dict[str, Any]) -> Answer:
    given = [{"tool": call} if isinstance(call, str) else call for call in calls]
    first, rest = given[:1], given[1:]
    messages = (
        {"role": "assistant", "content": "", "tool_calls": first},
        {"role": "tool", "content": "found"},
        {"role": "assistant", "content": "done", "tool_calls": rest},
    )
    return Answer(text="done", messages=messages)


def compare(answer: Answer, mode: Any, **facts: Any) -> Assessment:
    spec = ToolTrajectorySpec(name="tools", mode=mode, span=span(), **facts)
    return tool_trajectory(build_case(), answer, spec, redactor(()))


def expected(*context: str | ExpectedCall) -> dict[str, Any]:
    calls = [ExpectedCall(tool=tool) if isinstance(tool, str) else tool for tool in context]
    return {"expected": tuple(calls)}


class Row(NamedTuple):
    mode: str
    answer: Answer
    expected: tuple[str | ExpectedCall, ...]
    score: float = 1.0
    misses: tuple[str, ...] = ()


def a(**facts: Any) -> ExpectedCall:
    return ExpectedCall(tool="a", **facts)


def asks(q: Any, **more: Any) -> dict[str, Any]:
    return {"tool": "a", "input": {"q": q, **more}}


def took(*times: float) -> list[dict[str, Any]]:
    return [{"tool": "a", "duration_ms": each} for each in times]


WITH_2 = 'a with {"q": 2}'
SLOW = "a within 40 ms: took 50 ms"
LIMITED = a(max_duration_ms=40)
ROWS = {
    "gaps": Row("in_order", called("x", "a", "y", "b"), ("a", "b")),
    "swapped": Row("in_order", called("b", "a"), ("a", "b"), 0.5, ("b",)),
    "nothing is left after the last call": Row(
        "in_order", called("b", "c", "a"), ("a", "b", "c"), 0.333333, ("b", "c")
    ),
    "only the next call of the tool is compared": Row(
        "in_order", called(asks(1), asks(2, n=3)), (a(args={"q": 2}),), 0.0, (WITH_2,)
    ),
    "no arguments": Row("in_order", called("a"), (a(args={"q": 2}),), 0.0, (WITH_2,)),
    "an argument too many": Row(
        "in_order",
        called(asks(2, n=3), {"tool": "b"}),
        (a(args={"q": 2}, exact_args=True), ExpectedCall(tool="b", exact_args=True)),
        0.5,
        (WITH_2,),
    ),
    "in order and too slow": Row("in_order", called("b", *took(50)), (LIMITED,), 0.5, (SLOW,)),
    "limit of a call that is missing": Row(
        "in_order",
        called(*took(40)),
        (LIMITED, ExpectedCall(tool="b", max_duration_ms=40)),
        0.5,
        ("b",),
    ),
    "exact": Row("exact", called("a", "b"), ("a", "b")),
    "one too many": Row(
        *("exact", called("a", "b", "b"), ("a", "b"), 0.666667),
        misses=("b is called beyond what is expected",),
    ),
    "one too few and another": Row(
        *("exact", called("b"), ("a", "c"), 0.0),
        misses=("a: b is called in its place", "c: is not called"),
    ),
    "true is not 1": Row(
        "exact", called(asks(True)), (a(args={"q": 1}),), 0.0, ('a with {"q": 1}: `q` is true',)
    ),
    "too slow": Row("exact", called(*took(30, 50)), (LIMITED, LIMITED), 0.75, (SLOW,)),
    "no call at all": Row(
        *("exact", Answer(text="x", messages=({"role": "assistant", "content": "x"},)), ("a",)),
        score=0.0,
        misses=("a: is not called",),
    ),
    "superset": Row("superset", called("x", "b", "a"), ("a", "b")),
    "a call counts once": Row("superset", called("a", "x"), ("a", "a"), 0.5, ("a",)),
    "the assignment that fits most": Row(
        "superset", called(asks(1), asks(2)), ("a", a(args={"q": 1}))
    ),
    "a call that failed counts": Row("superset", called({"tool": "a", "error": "no"}), ("a",)),
    "subset and repeated": Row("subset", called("a", "a"), ("a", "b")),
    "subset without calls": Row("subset", called(), ("a",)),
    "not in the subset": Row(
        "subset",
        called("a", "x", {"tool": "b", "input": {"q": 1}}),
        ("a", ExpectedCall(tool="b", args={"q": 2})),
        0.333333,
        ("x is not expected", "b is not expected"),
    ),
    "the slowest call of a subset": Row(
        "subset", called(*took(50, 30)), (LIMITED,), 0.666667, (SLOW,)
    ),
}


@pytest.mark.parametrize(("mode", "answer", "calls", "score", "misses"), ROWS.values(), ids=ROWS)
def test_modes(
    mode: str,
    answer: Answer,
    calls: tuple[str | ExpectedCall, ...],
    score: float,
    misses: tuple[str, ...],
) -> None:
    result = compare(answer, mode, **expected(*calls))
    assert (result.score, result.misses) == (score, misses)


SUMMARY = Answer(text="x", trace_summary={"tool_calls_by_name": {"a": 1}})


@pytest.mark.parametrize(
    ("answer", "minimums", "score", "misses"),
    [
        (called("a", "b", "a"), {"a": 2, "b": 1}, 1.0, ()),
        (called("a"), {"a": 2, "b": 0}, 0.5, ("a: 1 of at least 2 calls",)),
        (SUMMARY, {"a": 1}, 1.0, ()),
    ],
    ids=["counts", "too few", "counts of the trace summary"],
)
def test_any_order(
    answer: Answer, minimums: dict[str, int], score: float, misses: tuple[str, ...]
) -> None:
    result = compare(answer, "any_order", minimums=minimums)
    assert (result.score, result.misses) == (score, misses)


def test_the_reasoning_lists_the_calls() -> None:
    result = compare(called("b", "a"), "in_order", **expected("a"))
    assert (result.reasoning, result.hits, result.score) == ("called: b, a", ("a",), 1.0)


@pytest.mark.parametrize("mode", ["any_order", "in_order", "exact"])
def test_unreported_calls_have_no_verdict(mode: str) -> None:
    with pytest.raises(CannotMeasure) as caught:
        compare(text_answer("done"), mode, minimums={"a": 0}, **expected("a"))
    assert str(caught.value) == "the target reports no tool calls (`output_messages`)"


@pytest.mark.parametrize("mode", ["in_order", "exact"])
def test_an_unreported_duration_does_not_count(mode: str) -> None:
    calls = expected(ExpectedCall(tool="a", max_duration_ms=1), ExpectedCall(tool="b"))
    result = compare(called("a"), mode, **calls)
    assert (result.score, result.hits, result.misses[0][0]) == (0.5, ("a",), "b")
    assert result.warnings == ("the target reports no duration of `a`",)


@given(
    st.lists(st.sampled_from("abc"), max_size=6),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=5),
)
def test_exact_is_1_only_for_the_sequence_itself(calls: list[str], wanted: list[str]) -> None:
    exact = compare(called(*calls), "exact", **expected(*wanted)).score
    in_order = compare(called(*calls), "in_order", **expected(*wanted)).score
    assert 0 <= exact <= 1
    assert 0 <= in_order <= 1
    assert (exact == 1) == (calls == wanted)
    walk = iter(calls)
    assert (in_order == 1) == all(tool in walk for tool in wanted)


def test_many_calls_of_one_tool() -> None:
    names = ["search"] * 1_200
    assert compare(called(*names), "superset", **expected(*names)).score == 1.0


def test_a_long_chain_of_moves_is_no_recursion() -> None:
    """Each expected call fits its own call and the next one; the last fits the first only."""
    calls = [{"tool": "t", "input": {"n": n}} for n in range(3)]
    wanted = [ExpectedCall(tool="t"), ExpectedCall(tool="t"), ExpectedCall(tool="t", args={"n": 0})]
    assert compare(called(*calls), "superset", **expected(*wanted)).score == 1.0
