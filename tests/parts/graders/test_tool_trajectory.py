"""Tool calls, compared with the expected ones."""

from typing import Any

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


@pytest.mark.parametrize(
    ("answer", "mode", "facts", "score", "misses"),
    [
        pytest.param(
            called("a", "b", "a"), "any_order", {"minimums": {"a": 2, "b": 1}}, 1.0, (), id="counts"
        ),
        pytest.param(
            called("a"),
            "any_order",
            {"minimums": {"a": 2, "b": 0}},
            0.5,
            ("a: 1 of at least 2 calls",),
            id="too-few",
        ),
        pytest.param(
            called("x", "a", "y", "b"), "in_order", expected("a", "b"), 1.0, (), id="gaps"
        ),
        pytest.param(called("b", "a"), "in_order", expected("a", "b"), 0.5, ("b",), id="swapped"),
        pytest.param(
            called("b", "c", "a"),
            "in_order",
            expected("a", "b", "c"),
            0.333333,
            ("b", "c"),
            id="nothing-is-left-after-the-last-call",
        ),
        pytest.param(
            called({"tool": "a", "input": {"q": 1}}, {"tool": "a", "input": {"q": 2, "n": 3}}),
            "in_order",
            expected(ExpectedCall(tool="a", args={"q": 2})),
            0.0,
            ('a with {"q": 2}',),
            id="only-the-next-call-of-the-tool-is-compared",
        ),
        pytest.param(
            called("a"),
            "in_order",
            expected(ExpectedCall(tool="a", args={"q": 2})),
            0.0,
            ('a with {"q": 2}',),
            id="no-arguments",
        ),
        pytest.param(
            called({"tool": "a", "input": {"q": 2, "n": 3}}, {"tool": "b"}),
            "in_order",
            expected(
                ExpectedCall(tool="a", args={"q": 2}, exact_args=True),
                ExpectedCall(tool="b", exact_args=True),
            ),
            0.5,
            ('a with {"q": 2}',),
            id="an-argument-too-many",
        ),
        pytest.param(called("a", "b"), "exact", expected("a", "b"), 1.0, (), id="exact"),
        pytest.param(called("x", "b", "a"), "superset", expected("a", "b"), 1.0, (), id="superset"),
        pytest.param(
            called("a", "x"), "superset", expected("a", "a"), 0.5, ("a",), id="a-call-counts-once"
        ),
        pytest.param(
            called({"tool": "a", "input": {"q": 1}}, {"tool": "a", "input": {"q": 2}}),
            "superset",
            expected("a", ExpectedCall(tool="a", args={"q": 1})),
            1.0,
            (),
            id="the-assignment-that-fits-most",
        ),
        pytest.param(
            called({"tool": "a", "error": "denied"}),
            "superset",
            expected("a"),
            1.0,
            (),
            id="a-call-that-failed-counts",
        ),
        pytest.param(
            called("a", "a"), "subset", expected("a", "b"), 1.0, (), id="subset-and-repeated"
        ),
        pytest.param(called(), "subset", expected("a"), 1.0, (), id="subset-without-calls"),
        pytest.param(
            called("a", "x", {"tool": "b", "input": {"q": 1}}),
            "subset",
            expected("a", ExpectedCall(tool="b", args={"q": 2})),
            0.333333,
            ("x is not expected", "b is not expected"),
            id="not-in-the-subset",
        ),
        pytest.param(
            called({"tool": "a", "duration_ms": 50}, {"tool": "a", "duration_ms": 30}),
            "subset",
            expected(ExpectedCall(tool="a", max_duration_ms=40)),
            0.666667,
            ("a within 40 ms: took 50 ms",),
            id="the-slowest-call-of-a-subset",
        ),
        pytest.param(
            called("a", "b", "b"),
            "exact",
            expected("a", "b"),
            0.666667,
            ("b is called beyond what is expected",),
            id="one-too-many",
        ),
        pytest.param(
            called("b"),
            "exact",
            expected("a", "c"),
            0.0,
            ("a: b is called in its place", "c: is not called"),
            id="one-too-few-and-another",
        ),
        pytest.param(
            called({"tool": "a", "input": {"q": True}}),
            "exact",
            expected(ExpectedCall(tool="a", args={"q": 1})),
            0.0,
            ('a with {"q": 1}: `q` is true',),
            id="true-is-not-1",
        ),
        pytest.param(
            called({"tool": "a", "duration_ms": 30}, {"tool": "a", "duration_ms": 50}),
            "exact",
            expected(*[ExpectedCall(tool="a", max_duration_ms=40)] * 2),
            0.75,
            ("a within 40 ms: took 50 ms",),
            id="too-slow",
        ),
        pytest.param(
            called({"tool": "b"}, {"tool": "a", "duration_ms": 50}),
            "in_order",
            expected(ExpectedCall(tool="a", max_duration_ms=40)),
            0.5,
            ("a within 40 ms: took 50 ms",),
            id="in-order-and-too-slow",
        ),
        pytest.param(
            called({"tool": "a", "duration_ms": 40}),
            "in_order",
            expected(
                ExpectedCall(tool="a", max_duration_ms=40),
                ExpectedCall(tool="b", max_duration_ms=40),
            ),
            0.5,
            ("b",),
            id="limit-of-a-call-that-is-missing",
        ),
        pytest.param(
            Answer(text="x", trace_summary={"tool_calls_by_name": {"a": 1}}),
            "any_order",
            {"minimums": {"a": 1}},
            1.0,
            (),
            id="counts-of-the-trace-summary",
        ),
        pytest.param(
            Answer(text="x", messages=({"role": "assistant", "content": "x"},)),
            "exact",
            expected("a"),
            0.0,
            ("a: is not called",),
            id="no-call-at-all",
        ),
    ],
)
def test_modes(
    answer: Answer, mode: str, facts: dict[str, Any], score: float, misses: tuple[str, ...]
) -> None:
    result = compare(answer, mode, **facts)
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
