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


@dataclass(frozen=True, slots=True, kw_only=True)
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


def fields(*compared: dict[str, Any], **keys: Any) -> list[dict[str, Any]]:
    return [{"name": "fields", "type": "field_accuracy", "fields": list(compared), **keys}]


def exact(path: str, **keys: Any) -> dict[str, Any]:
    return {"path": path, "match": "exact", **keys}


def day(path: str, *formats: str) -> dict[str, Any]:
    return {"path": path, "match": "date", **({"formats": list(formats)} if formats else {})}


def number(path: str, tolerance: float, **keys: Any) -> dict[str, Any]:
    return {"path": path, "match": "numeric_tolerance", "tolerance": tolerance, **keys}


def tools(mode: str, **keys: Any) -> list[dict[str, Any]]:
    return [{"name": "tools", "type": "tool_trajectory", "mode": mode, **keys}]


def calls(*called: str | dict[str, Any]) -> dict[str, Any]:
    listed = [{"tool": call} if isinstance(call, str) else call for call in called]
    return {"output_messages": [{"role": "assistant", "content": "done", "tool_calls": listed}]}


def limit(kind: str, **keys: Any) -> list[dict[str, Any]]:
    return [{"name": kind, "type": kind, **keys}]


SEARCH = {"tool": "search", "input": {"q": "a", "page": 1}, "duration_ms": 90}
TOKENS = {"token_usage": {"input": 60, "output": 30, "cached": 10}}

ROWS = [
    Row(id="weights-default-to-1", evaluators=[prints(1, "a"), prints(0, "b")], agentv=0.5),
    Row(id="weights", evaluators=[prints(1, "a", weight=3), prints(0, "b")], agentv=0.75),
    Row(id="weight-0", evaluators=[prints(1, "a"), prints(0, "b", weight=0)], agentv=1),
    # code_judge
    Row(id="script-prints-a-score", evaluators=[prints(0.4)], agentv=0.4),
    Row(
        id="script-fails",
        evaluators=runs("echo '{\"score\": 1}'; echo refused >&2; exit 1"),
        agentv=0,
        here="script: the script failed: exit status 1: refused",
        why="a failure of the script is not a score",
    ),
    Row(
        id="script-prints-nothing",
        evaluators=runs("true"),
        agentv=0,
        here="script: the script printed nothing",
        why="a script without a score gave none",
    ),
    Row(
        id="script-prints-text",
        evaluators=runs("echo fine"),
        agentv=0,
        here="script: the script printed `fine`",
        why="a script without a score gave none",
    ),
    Row(
        id="score-above-1",
        evaluators=[prints(7)],
        agentv=1,
        here="script: `score` must be from 0 to 1, not 7",
        why="a score is not clamped",
    ),
    # composite
    Row(id="mean", evaluators=composite(prints(1, "a"), prints(0.5, "b")), agentv=0.75),
    Row(
        id="mean-with-weights",
        evaluators=composite(prints(1, "a"), prints(0.5, "b"), **by_weights(a=0.3, b=0.7)),
        agentv=0.65,
    ),
    Row(
        id="mean-with-one-weight",
        evaluators=composite(prints(1, "a"), prints(0.5, "b"), **by_weights(a=3)),
        agentv=0.875,
    ),
    Row(
        id="a-member-s-own-weight",
        evaluators=composite(prints(1, "a", weight=3), prints(0, "b")),
        agentv=0.5,
        here=0.75,
        why="a weight that is written counts",
    ),
    Row(
        id="nested",
        evaluators=composite(
            prints(0, "a"),
            *composite(prints(1, "b"), prints(0.5, "c"), **by_weights(b=1, c=1)),
            **by_weights(a=1, whole=3),
        ),
        agentv=0.5625,
    ),
    Row(
        id="member-with-weight-0",
        evaluators=composite(prints(1, "a"), prints(0, "b"), **by_weights(a=1, b=0)),
        agentv=1,
    ),
    Row(
        id="three-levels",
        evaluators=composite(
            *composite(
                *composite(prints(1, "a"), prints(0, "b"), **by_weights(a=3, b=1)),
                prints(0.25, "c"),
            ),
            prints(1, "d"),
            **by_weights(whole=0.5, d=0.5),
        ),
        agentv=0.75,
    ),
    Row(
        id="gate-of-a-script",
        evaluators=composite(
            prints(0.5, "safety"),
            prints(1, "quality"),
            **by_script(
                "python3 -c \"import json, sys; r = json.load(sys.stdin)['results']; "
                "score = r['quality']['score'] if r['safety']['score'] >= 0.9 else 0; "
                "print(json.dumps({'score': score}))\""
            ),
        ),
        agentv=0,
    ),
    Row(
        id="aggregating-script",
        evaluators=composite(prints(1, "a"), **by_script("echo '{\"score\": 0.2}'")),
        agentv=0.2,
    ),
    Row(
        id="aggregating-script-fails",
        evaluators=composite(prints(1, "a"), **by_script("echo no >&2; exit 3")),
        agentv=0,
        here="whole: the script failed: exit status 3: no",
        why="a failure of the script is not a score",
    ),
    # field_accuracy
    Row(id="exact", evaluators=fields(exact("a")), answer={"a": 1}, reference={"a": 1}, agentv=1),
    Row(
        id="field-weights",
        evaluators=fields(exact("a", weight=2), exact("b")),
        answer={"a": 1, "b": 1},
        reference={"a": 1, "b": 2},
        agentv=2 / 3,
    ),
    Row(
        id="all-or-nothing",
        evaluators=fields(exact("a"), exact("b"), aggregation="all_or_nothing"),
        answer={"a": 1, "b": 1},
        reference={"a": 1, "b": 2},
        agentv=0,
    ),
    Row(
        id="required-is-the-default",
        evaluators=fields(exact("a"), exact("b")),
        answer={"a": 1},
        reference={"a": 1, "b": 2},
        agentv=0.5,
    ),
    Row(
        id="required-has-no-gate",
        evaluators=fields(exact("a", weight=9), exact("b", required=True)),
        answer={"a": 1},
        reference={"a": 1, "b": 2},
        agentv=0.9,
    ),
    Row(
        id="optional-and-not-answered",
        evaluators=fields(exact("a"), exact("b"), exact("c", required=False)),
        answer={"a": 1, "b": 0},
        reference={"a": 1, "b": 2, "c": 3},
        agentv=0.5,
    ),
    Row(
        id="optional-and-wrong",
        evaluators=fields(exact("a"), exact("c", required=False)),
        answer={"a": 1, "c": 4},
        reference={"a": 1, "c": 3},
        agentv=0.5,
    ),
    Row(
        id="not-in-the-reference",
        evaluators=fields(exact("a"), exact("b"), exact("c", weight=2)),
        answer={"a": 1, "b": 0, "c": 4},
        reference={"a": 1, "b": 2},
        agentv=0.75,
    ),
    Row(
        id="optional-and-nothing-answered",
        evaluators=fields(exact("a", required=False)),
        answer={"b": 1},
        reference={"a": 1},
        agentv=0,
    ),
    Row(
        id="json-in-prose",
        evaluators=fields(exact("a")),
        answer='The result is {"a": 1}, as asked.',
        reference={"a": 1},
        agentv=1,
    ),
    Row(
        id="json-in-a-fence",
        evaluators=fields(exact("a")),
        answer='```json\n{"a": 1}\n```',
        reference={"a": 1},
        agentv=1,
    ),
    Row(
        id="two-json-objects",
        evaluators=fields(exact("a")),
        answer='{"a": 1} or {"a": 2}',
        reference={"a": 1},
        agentv=0,
    ),
    Row(id="no-json", evaluators=fields(exact("a")), reference={"a": 1}, agentv=0),
    Row(
        id="index",
        evaluators=fields(exact("a[1].b"), exact("a.0.b")),
        answer={"a": [{"b": 1}, {"b": 2}]},
        reference={"a": [{"b": 0}, {"b": 2}]},
        agentv=0.5,
    ),
    Row(
        id="tolerance",
        evaluators=fields(number("a", 1), number("b", 1)),
        answer={"a": 10.9, "b": 11.1},
        reference={"a": 10, "b": 10},
        agentv=0.5,
    ),
    Row(
        id="relative-tolerance",
        evaluators=fields(number("a", 0.05, relative=True), number("b", 0.05, relative=True)),
        answer={"a": 104, "b": 106},
        reference={"a": 100, "b": 100},
        agentv=0.5,
    ),
    Row(
        id="relative-tolerance-of-0",
        evaluators=fields(number("a", 0.05, relative=True), number("b", 0.05, relative=True)),
        answer={"a": 0.04, "b": 0.06},
        reference={"a": 0, "b": 0},
        agentv=0.5,
    ),
    Row(
        id="numbers-in-texts",
        evaluators=fields(*(number(path, 0) for path in "abcd")),
        answer={"a": "119.00", "b": "119.00 EUR", "c": "1,119", "d": True},
        reference={"a": 119, "b": 119, "c": 1119, "d": 1},
        agentv=0.5,
    ),
    Row(
        id="exact-types",
        evaluators=fields(*map(exact, "abcd")),
        answer={"a": None, "b": "1", "c": {"x": [1, {"y": 2}]}, "d": None},
        reference={"a": None, "b": 1, "c": {"x": [1, {"y": 2}]}, "d": 5},
        agentv=0.5,
    ),
    Row(
        id="all-or-nothing-without-an-optional-field",
        evaluators=fields(exact("a"), exact("b", required=False), aggregation="all_or_nothing"),
        answer={"a": 1},
        reference={"a": 1, "b": 2},
        agentv=1,
    ),
    Row(
        id="all-or-nothing-with-weight-0",
        evaluators=fields(exact("a"), exact("b", weight=0), aggregation="all_or_nothing"),
        answer={"a": 1, "b": 1},
        reference={"a": 1, "b": 2},
        agentv=0,
    ),
    Row(
        id="field-with-weight-0",
        evaluators=fields(exact("a"), exact("b", weight=0)),
        answer={"a": 1, "b": 1},
        reference={"a": 1, "b": 2},
        agentv=1,
    ),
    Row(
        id="null-is-an-answer-to-an-optional-field",
        evaluators=fields(exact("a"), exact("b", required=False)),
        answer={"a": 1, "b": None},
        reference={"a": 1, "b": 2},
        agentv=0.5,
    ),
    Row(
        id="dates-without-formats",
        evaluators=fields(*map(day, "abcd")),
        answer={"a": "2025-01-15", "b": "01/15/2025", "c": "15/01/2025", "d": "16-JAN-2025"},
        reference=dict.fromkeys("abcd", "15-JAN-2025"),
        agentv=0.75,
    ),
    Row(
        id="dates-with-formats",
        evaluators=fields(day("a", "DD/MM/YYYY"), day("b", "MM/DD/YYYY")),
        answer={"a": "03/04/2025", "b": "03/04/2025"},
        reference={"a": "03/04/2025", "b": "03/05/2025"},
        agentv=0.5,
    ),
    Row(
        id="ambiguous-dates",
        evaluators=fields(day("a")),
        answer={"a": "03/04/2025"},
        reference={"a": "2025-03-04"},
        agentv=1,
        here="fields: `a` is",
        why="AgentV takes the month first; the order is not guessed here",
    ),
    # tool_trajectory
    Row(
        id="any-order",
        evaluators=tools("any_order", minimums={"search": 2, "read": 1}),
        reports=calls("read", "search"),
        agentv=0.5,
    ),
    Row(
        id="in-order",
        evaluators=tools("in_order", expected=[{"tool": "search"}, {"tool": "read"}]),
        reports=calls("search", "other", "read"),
        agentv=1,
    ),
    Row(
        id="in-order-with-a-gap",
        evaluators=tools("in_order", expected=[{"tool": "search"}, {"tool": "read"}]),
        reports=calls("read", "search"),
        agentv=0.5,
    ),
    Row(
        id="in-order-after-a-miss",
        evaluators=tools("in_order", expected=[{"tool": t} for t in ("gone", "search", "read")]),
        reports=calls("search", "read"),
        agentv=0,
    ),
    Row(
        id="exact-order",
        evaluators=tools("exact", expected=[{"tool": "search"}, {"tool": "read"}]),
        reports=calls("search", "other"),
        agentv=0.5,
    ),
    Row(
        id="exact-with-one-more",
        evaluators=tools("exact", expected=[{"tool": "search"}]),
        reports=calls("search", "read"),
        agentv=1,
        here=0.5,
        why="`exact` counts a call that is not expected as a miss",
    ),
    Row(
        id="arguments",
        evaluators=tools(
            "in_order",
            expected=[
                {"tool": "search", "args": {"q": "a"}},
                {"tool": "search", "args": {"q": "b"}},
                {"tool": "read", "args": "any"},
            ],
        ),
        reports=calls(SEARCH, SEARCH, "read"),
        agentv=2 / 3,
    ),
    Row(
        id="in-time",
        evaluators=tools("in_order", expected=[{"tool": "search", "max_duration_ms": 100}]),
        reports=calls(SEARCH),
        agentv=1,
    ),
    Row(
        id="too-slow",
        evaluators=tools("in_order", expected=[{"tool": "search", "max_duration_ms": 50}]),
        reports=calls(SEARCH),
        agentv=0.5,
    ),
    Row(
        id="no-duration",
        evaluators=tools("in_order", expected=[{"tool": "read", "max_duration_ms": 50}]),
        reports=calls("read"),
        agentv=1,
    ),
    Row(
        id="any-order-of-a-summary",
        evaluators=tools("any_order", minimums={"search": 2, "read": 1}),
        reports={"trace_summary": {"tool_calls_by_name": {"search": 2}}},
        agentv=0.5,
    ),
    Row(
        id="in-order-repeated",
        evaluators=tools("in_order", expected=[{"tool": "search"}] * 3),
        reports=calls("search", "other", "search"),
        agentv=2 / 3,
    ),
    Row(
        id="in-order-without-the-middle",
        evaluators=tools("in_order", expected=[{"tool": t} for t in ("get", "check", "save")]),
        reports=calls("get", "save"),
        agentv=1 / 3,
    ),
    Row(
        id="in-order-with-other-arguments-first",
        evaluators=tools("in_order", expected=[{"tool": "search", "args": {"q": "b"}}]),
        reports=calls(SEARCH, {"tool": "search", "input": {"q": "b"}}),
        agentv=0,
    ),
    Row(
        id="exact-with-one-fewer",
        evaluators=tools("exact", expected=[{"tool": "search"}, {"tool": "read"}]),
        reports=calls("search"),
        agentv=0.5,
    ),
    Row(
        id="exact-and-too-slow",
        evaluators=tools("exact", expected=[{"tool": "search", "max_duration_ms": 50}]),
        reports=calls(SEARCH),
        agentv=0.5,
    ),
    Row(
        id="one-duration-of-two",
        evaluators=tools(
            "in_order",
            expected=[
                {"tool": "search", "max_duration_ms": 100},
                {"tool": "read", "max_duration_ms": 50},
            ],
        ),
        reports=calls(SEARCH, "read"),
        agentv=1,
    ),
    Row(
        id="duration-of-a-call-that-is-missing",
        evaluators=tools(
            "in_order", expected=[{"tool": "search"}, {"tool": "read", "max_duration_ms": 50}]
        ),
        reports=calls(SEARCH),
        agentv=1 / 3,
    ),
    # limits
    Row(
        id="latency",
        evaluators=limit("latency", threshold=700),
        reports={"duration_ms": 700},
        agentv=1,
    ),
    Row(
        id="latency-beyond",
        evaluators=limit("latency", threshold=699),
        reports={"duration_ms": 700},
        agentv=0,
    ),
    Row(id="cost", evaluators=limit("cost", budget=0.1), reports={"cost_usd": 0.1}, agentv=1),
    Row(id="cost-beyond", evaluators=limit("cost", budget=0.1), reports={"cost_usd": 1}, agentv=0),
    Row(
        id="cost-is-not-reported",
        evaluators=limit("cost", budget=0.1),
        agentv=0,
        here="cost: the target reports no cost",
        why="a missing measurement is not a score",
    ),
    Row(
        id="tokens", evaluators=limit("token_usage", max_total=100), reports=TOKENS, agentv=1
    ),  # input, output and cached tokens
    Row(
        id="tokens-beyond",
        evaluators=limit("token_usage", maxInput=60, maxOutput=29),
        reports=TOKENS,
        agentv=0,
    ),
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


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_no_gate_of_its_own(row: Row, found: dict[str, dict[str, Any]]) -> None:
    assert found[row.id].get("gated_by", []) == []
