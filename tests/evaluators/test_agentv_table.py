"""AgentV's documented result of each evaluator option, and the result of the same file here.

`agentv` is the score that AgentV 2.5 documents. Where `here` differs, `why` states the reason;
`here` is then a score, or the beginning of the reason why the case has no verdict.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests import platforms
from tests.sample_project import Project

pytestmark = platforms.SHELL


@dataclass(frozen=True, slots=True)
class Row:
    """A case with one list of evaluators, and its score in both tools."""

    id: str
    evaluators: list[dict[str, Any]]
    agentv: float
    here: float | str | None = None  # None: the same
    why: str = ""
    answer: Any = "done"
    reference: Any = None
    reports: dict[str, Any] = field(default_factory=dict)


def prints(score: float, name: str = "script", **keys: Any) -> dict[str, Any]:
    script = f"echo '{json.dumps({'score': score})}'"
    return {"name": name, "type": "code_judge", "script": script, **keys}


def runs(script: str) -> list[dict[str, Any]]:
    return [{"name": "script", "type": "code_judge", "script": script}]


def composite(*members: dict[str, Any], **keys: Any) -> list[dict[str, Any]]:
    return [{"name": "whole", "type": "composite", "evaluators": list(members), **keys}]


def by_weights(**weights: float) -> dict[str, Any]:
    return {"aggregator": {"type": "weighted_average", "weights": weights}}


def by_script(script: str) -> dict[str, Any]:
    return {"aggregator": {"type": "code_judge", "path": script}}


def exact(path: str, **keys: Any) -> dict[str, Any]:
    return {"path": path, "match": "exact", **keys}


def day(path: str, *formats: str) -> dict[str, Any]:
    return {"path": path, "match": "date", **({"formats": list(formats)} if formats else {})}


def number(path: str, tolerance: float, **keys: Any) -> dict[str, Any]:
    return {"path": path, "match": "numeric_tolerance", "tolerance": tolerance, **keys}


def calls(*called: str | dict[str, Any]) -> dict[str, Any]:
    listed = [{"tool": call} if isinstance(call, str) else call for call in called]
    return {"output_messages": [{"role": "assistant", "content": "done", "tool_calls": listed}]}


def compared(
    name: str,
    agentv: float,
    answer: Any,
    reference: Any,
    *fields: str | dict[str, Any],
    **keys: Any,
) -> Row:
    """Return a row of `field_accuracy`; a path alone is compared exactly."""
    facts = {key: keys.pop(key) for key in ("here", "why") if key in keys}
    compared = [exact(each) if isinstance(each, str) else each for each in fields]
    spec = {"name": "fields", "type": "field_accuracy", "fields": compared, **keys}
    return Row(name, [spec], agentv, answer=answer, reference=reference, **facts)


def tools(mode: str, **keys: Any) -> list[dict[str, Any]]:
    return [{"name": "tools", "type": "tool_trajectory", "mode": mode, **keys}]


def traced(
    name: str,
    agentv: float,
    reports: dict[str, Any],
    mode: str,
    *calls: str | dict[str, Any],
    **facts: Any,
) -> Row:
    """Return a row of `tool_trajectory` with expected calls."""
    expected = [{"tool": call} if isinstance(call, str) else call for call in calls]
    return Row(name, tools(mode, expected=expected), agentv, reports=reports, **facts)


def limit(kind: str, **keys: Any) -> list[dict[str, Any]]:
    return [{"name": kind, "type": kind, **keys}]


SEARCH = {"tool": "search", "input": {"q": "a", "page": 1}, "duration_ms": 90}
WITHIN_50 = {"max_duration_ms": 50}
A, AB, ONES = {"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 1}
NEAR = [number(path, 0.05, relative=True) for path in "ab"]
OPTIONAL = exact("b", required=False)
ALL = {"aggregation": "all_or_nothing"}
TOKENS = {"token_usage": {"input": 60, "output": 30, "cached": 10}}

ROWS = [
    Row("weights-default-to-1", [prints(1, "a"), prints(0, "b")], 0.5),
    Row("weights", [prints(1, "a", weight=3), prints(0, "b")], 0.75),
    Row("weight-0", [prints(1, "a"), prints(0, "b", weight=0)], 1),
    # code_judge
    Row("script-prints-a-score", [prints(0.4)], 0.4),
    Row(
        "script-fails",
        runs("echo '{\"score\": 1}'; echo refused >&2; exit 1"),
        0,
        here="script: the script failed: exit status 1: refused",
        why="a failure of the script is not a score",
    ),
    Row(
        "script-prints-nothing",
        runs("true"),
        0,
        here="script: the script printed nothing",
        why="a script without a score gave none",
    ),
    Row(
        "script-prints-text",
        runs("echo fine"),
        0,
        here="script: the script printed `fine`",
        why="a script without a score gave none",
    ),
    Row(
        "score-above-1",
        [prints(7)],
        1,
        here="script: `score` must be from 0 to 1, not 7",
        why="a score is not clamped",
    ),
    # composite
    Row("mean", composite(prints(1, "a"), prints(0.5, "b")), 0.75),
    Row(
        "mean-with-weights",
        composite(prints(1, "a"), prints(0.5, "b"), **by_weights(a=0.3, b=0.7)),
        0.65,
    ),
    Row(
        "mean-with-one-weight",
        composite(prints(1, "a"), prints(0.5, "b"), **by_weights(a=3)),
        0.875,
    ),
    Row(
        "a-member-s-own-weight",
        composite(prints(1, "a", weight=3), prints(0, "b")),
        0.5,
        here=0.75,
        why="a weight that is written counts",
    ),
    Row(
        "nested",
        composite(
            prints(0, "a"),
            *composite(prints(1, "b"), prints(0.5, "c"), **by_weights(b=1, c=1)),
            **by_weights(a=1, whole=3),
        ),
        0.5625,
    ),
    Row(
        "member-with-weight-0", composite(prints(1, "a"), prints(0, "b"), **by_weights(a=1, b=0)), 1
    ),
    Row(
        "three-levels",
        composite(
            *composite(
                *composite(prints(1, "a"), prints(0, "b"), **by_weights(a=3, b=1)),
                prints(0.25, "c"),
            ),
            prints(1, "d"),
            **by_weights(whole=0.5, d=0.5),
        ),
        0.75,
    ),
    Row(
        "gate-of-a-script",
        composite(
            prints(0.5, "safety"),
            prints(1, "quality"),
            **by_script(
                "python3 -c \"import json, sys; r = json.load(sys.stdin)['results']; "
                "score = r['quality']['score'] if r['safety']['score'] >= 0.9 else 0; "
                "print(json.dumps({'score': score}))\""
            ),
        ),
        0,
    ),
    Row(
        "aggregating-script", composite(prints(1, "a"), **by_script("echo '{\"score\": 0.2}'")), 0.2
    ),
    Row(
        "aggregating-script-fails",
        composite(prints(1, "a"), **by_script("echo no >&2; exit 3")),
        0,
        here="whole: the script failed: exit status 3: no",
        why="a failure of the script is not a score",
    ),
    # field_accuracy
    compared("exact", 1, A, A, "a"),
    compared("field-weights", 2 / 3, ONES, AB, exact("a", weight=2), "b"),
    compared("all-or-nothing", 0, ONES, AB, "a", "b", **ALL),
    compared("required-is-the-default", 0.5, A, AB, "a", "b"),
    compared("required-has-no-gate", 0.9, A, AB, exact("a", weight=9), exact("b", required=True)),
    compared(
        "optional-and-not-answered",
        0.5,
        {"a": 1, "b": 0},
        {"a": 1, "b": 2, "c": 3},
        "a",
        "b",
        exact("c", required=False),
    ),
    compared(
        "optional-and-wrong",
        0.5,
        {"a": 1, "c": 4},
        {"a": 1, "c": 3},
        "a",
        exact("c", required=False),
    ),
    compared(
        "not-in-the-reference", 0.75, {"a": 1, "b": 0, "c": 4}, AB, "a", "b", exact("c", weight=2)
    ),
    compared("optional-and-nothing-answered", 0, {"b": 1}, A, exact("a", required=False)),
    compared("json-in-prose", 1, 'The result is {"a": 1}, as asked.', A, "a"),
    compared("json-in-a-fence", 1, '```json\n{"a": 1}\n```', A, "a"),
    compared("two-json-objects", 0, '{"a": 1} or {"a": 2}', A, "a"),
    compared("no-json", 0, "done", A, "a"),
    compared(
        "index", 0.5, {"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 0}, {"b": 2}]}, "a[1].b", "a.0.b"
    ),
    compared(
        "tolerance", 0.5, {"a": 10.9, "b": 11.1}, {"a": 10, "b": 10}, number("a", 1), number("b", 1)
    ),
    compared("relative-tolerance", 0.5, {"a": 104, "b": 106}, {"a": 100, "b": 100}, *NEAR),
    compared("relative-tolerance-of-0", 0.5, {"a": 0.04, "b": 0.06}, {"a": 0, "b": 0}, *NEAR),
    compared(
        "numbers-in-texts",
        0.5,
        {"a": "119.00", "b": "119.00 EUR", "c": "1,119", "d": True},
        {"a": 119, "b": 119, "c": 1119, "d": 1},
        *(number(path, 0) for path in "abcd"),
    ),
    compared(
        "exact-types",
        0.5,
        {"a": None, "b": "1", "c": {"x": [1, {"y": 2}]}, "d": None},
        {"a": None, "b": 1, "c": {"x": [1, {"y": 2}]}, "d": 5},
        *"abcd",
    ),
    compared("all-or-nothing-without-an-optional-field", 1, A, AB, "a", OPTIONAL, **ALL),
    compared("all-or-nothing-with-weight-0", 0, ONES, AB, "a", exact("b", weight=0), **ALL),
    compared("field-with-weight-0", 1, ONES, AB, "a", exact("b", weight=0)),
    compared("null-is-an-answer-to-an-optional-field", 0.5, {"a": 1, "b": None}, AB, "a", OPTIONAL),
    compared(
        "dates-without-formats",
        0.75,
        {"a": "2025-01-15", "b": "01/15/2025", "c": "15/01/2025", "d": "16-JAN-2025"},
        dict.fromkeys("abcd", "15-JAN-2025"),
        *map(day, "abcd"),
    ),
    compared(
        "dates-with-formats",
        0.5,
        {"a": "03/04/2025", "b": "03/04/2025"},
        {"a": "03/04/2025", "b": "03/05/2025"},
        day("a", "DD/MM/YYYY"),
        day("b", "MM/DD/YYYY"),
    ),
    compared(
        "ambiguous-dates",
        1,
        {"a": "03/04/2025"},
        {"a": "2025-03-04"},
        day("a"),
        here="fields: `a` is",
        why="AgentV takes the month first; the order is not guessed here",
    ),
    # tool_trajectory
    Row(
        "any-order",
        tools("any_order", minimums={"search": 2, "read": 1}),
        0.5,
        reports=calls("read", "search"),
    ),
    traced("in-order", 1, calls("search", "other", "read"), "in_order", "search", "read"),
    traced("in-order-with-a-gap", 0.5, calls("read", "search"), "in_order", "search", "read"),
    traced(
        "in-order-after-a-miss", 0, calls("search", "read"), "in_order", "gone", "search", "read"
    ),
    traced("exact-order", 0.5, calls("search", "other"), "exact", "search", "read"),
    traced(
        "exact-with-one-more",
        1,
        calls("search", "read"),
        "exact",
        "search",
        here=0.5,
        why="`exact` counts a call that is not expected as a miss",
    ),
    traced(
        "arguments",
        2 / 3,
        calls(SEARCH, SEARCH, "read"),
        "in_order",
        {"tool": "search", "args": {"q": "a"}},
        {"tool": "search", "args": {"q": "b"}},
        {"tool": "read", "args": "any"},
    ),
    traced("in-time", 1, calls(SEARCH), "in_order", {"tool": "search", "max_duration_ms": 100}),
    traced("too-slow", 0.5, calls(SEARCH), "in_order", {"tool": "search", **WITHIN_50}),
    traced("no-duration", 1, calls("read"), "in_order", {"tool": "read", **WITHIN_50}),
    Row(
        "any-order-of-a-summary",
        tools("any_order", minimums={"search": 2, "read": 1}),
        0.5,
        reports={"trace_summary": {"tool_calls_by_name": {"search": 2}}},
    ),
    traced(
        "in-order-repeated", 2 / 3, calls("search", "other", "search"), "in_order", *["search"] * 3
    ),
    traced(
        "in-order-without-the-middle",
        1 / 3,
        calls("get", "save"),
        "in_order",
        "get",
        "check",
        "save",
    ),
    traced(
        "in-order-with-other-arguments-first",
        0,
        calls(SEARCH, {"tool": "search", "input": {"q": "b"}}),
        "in_order",
        {"tool": "search", "args": {"q": "b"}},
    ),
    traced("exact-with-one-fewer", 0.5, calls("search"), "exact", "search", "read"),
    traced("exact-and-too-slow", 0.5, calls(SEARCH), "exact", {"tool": "search", **WITHIN_50}),
    traced(
        "one-duration-of-two",
        1,
        calls(SEARCH, "read"),
        "in_order",
        {"tool": "search", "max_duration_ms": 100},
        {"tool": "read", **WITHIN_50},
    ),
    traced(
        "duration-of-a-call-that-is-missing",
        1 / 3,
        calls(SEARCH),
        "in_order",
        "search",
        {"tool": "read", **WITHIN_50},
    ),
    # limits
    Row("latency", limit("latency", threshold=700), 1, reports={"duration_ms": 700}),
    Row("latency-beyond", limit("latency", threshold=699), 0, reports={"duration_ms": 700}),
    Row("cost", limit("cost", budget=0.1), 1, reports={"cost_usd": 0.1}),
    Row("cost-beyond", limit("cost", budget=0.1), 0, reports={"cost_usd": 1}),
    Row(
        "cost-is-not-reported",
        limit("cost", budget=0.1),
        0,
        here="cost: the target reports no cost",
        why="a missing measurement is not a score",
    ),
    Row(
        "tokens", limit("token_usage", max_total=100), 1, reports=TOKENS
    ),  # input, output and cached tokens
    Row("tokens-beyond", limit("token_usage", maxInput=60, maxOutput=29), 0, reports=TOKENS),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    project = Project(tmp_path_factory.mktemp("agentv"))
    cases = [
        {"id": row.id, "input": "Do it", "execution": {"evaluators": row.evaluators}}
        | ({} if row.reference is None else {"expected_output": row.reference})
        for row in ROWS
    ]
    answers = [{"id": row.id, "answer": row.answer, **row.reports} for row in ROWS]
    suite = {"$schema": "agentv-eval-v2", "evalcases": cases}
    project.write("evals/a.eval.yaml", json.dumps(suite))
    project.write("answers.jsonl", "".join(f"{json.dumps(answer)}\n" for answer in answers))
    done = project.run()
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return {case["id"]: case for case in project.report()["cases"]}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_result_of_each_option(row: Row, found: dict[str, dict[str, Any]]) -> None:
    case = found[row.id]
    here = row.agentv if row.here is None else row.here
    assert bool(row.why) == (here != row.agentv)
    if isinstance(here, str):
        assert (case["outcome"], case["reason"][: len(here)]) == ("errored", here)
    else:
        assert case["outcome"] == "graded", case["reason"]
        assert case["score"] == pytest.approx(here, abs=1e-6)
    assert case.get("gated_by", []) == []
