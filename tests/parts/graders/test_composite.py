"""Composites: by weighted mean, a script or a judge."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.evaluators.evaluate import evaluate
from rubric_ci.gate.report.consistency import case_problems
from rubric_ci.parts.graders.usage_limits import LatencySpec
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.evals import (
    CompositeSpec,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    WeightedAverage,
)
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.results import Assessed, BaseResult, EvaluatorResult, Unassessed
from rubric_ci.values.rubric import Check, Rubric
from rubric_ci.values.scoring import DEFAULT_THRESHOLDS
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from tests import platforms
from tests.cases import build_case, build_context, build_script, span, text_answer

pytestmark = platforms.SHELL

CLOSED = Check(id="closed", text="Is it closed?", required=True, weight=3.0, span=span(21))
OPEN = Check(id="open", text="Is it open?", required=False, span=span(22))
RUBRIC = RubricSpec(name="rubric", rubric=Rubric((CLOSED, OPEN)), span=span())
MISSED = '{"c1": {"evidence": "", "reasoning": "no", "satisfied": false}, '
MARKS = MISSED + '"c2": {"evidence": "hello", "reasoning": "yes", "satisfied": true}}'
LATER = LatencySpec(name="later", threshold_ms=1, span=span())


def script(score: float, name: str, weight: float = 1.0) -> EvaluatorSpec:
    return build_script(f"echo '{{\"score\": {score}}}'", name=name, weight=weight)


def composed(
    root: Path,
    *members: EvaluatorSpec,
    by: Any = None,
    replies: dict[str, str] | None = None,
    minimum: float = 0.0,
) -> EvaluatorResult:
    async def ask(call: ModelCall) -> ModelReply:
        asked = call.messages[-1].content
        text = next(text for key, text in (replies or {}).items() if key in asked)
        return ModelReply(text=text, usage=Usage(calls=1))

    spec = CompositeSpec(
        name="whole",
        evaluators=members,
        aggregator=by or WeightedAverage(),
        required_min_score=minimum,
        weight=2.0,
        span=span(4),
    )
    judge = JudgeConfig(endpoint=Endpoint(model="openai/j"))
    context = build_context(root, call_model=ask, judge=judge)
    return asyncio.run(evaluate(build_case(), text_answer("hello"), spec, context))


def assessed(root: Path, *members: EvaluatorSpec, **facts: Any) -> Assessed:
    result = composed(root, *members, **facts)
    assert isinstance(result, Assessed)
    return result


def reason(root: Path, *members: EvaluatorSpec, **facts: Any) -> str:
    result = composed(root, *members, **facts)
    assert isinstance(result, Unassessed)
    return result.reason


def test_the_mean_lists_its_members(tmp_path: Path) -> None:
    result = assessed(tmp_path, script(1.0, "a"), script(0.5, "b", 3.0))
    assert (result.name, result.type, result.weight, result.line) == ("whole", "composite", 2.0, 4)
    assert (result.score, result.verdict, result.gated_by) == (0.625, "borderline", ())
    assert (result.hits, result.misses) == (("a: 1, pass",), ("b: 0.5, fail",))
    assert list(result.details["members"]) == ["a", "b"]
    assert result.details["members"]["b"]["score"] == 0.5


@pytest.mark.parametrize(
    ("weights", "score"),
    [({"a": 3.0}, 0.875), ({"b": 0.0}, 1.0), ({"a": 0.0, "b": 0.2}, 0.5)],
    ids=["the-other-keeps-its-own", "0-is-shown-only", "relative"],
)
def test_weights_of_the_aggregator(weights: dict[str, float], score: float, tmp_path: Path) -> None:
    members = (script(1.0, "a"), script(0.5, "b"))
    assert assessed(tmp_path, *members, by=WeightedAverage(weights=weights)).score == score


def test_a_gate_inside_is_a_gate(tmp_path: Path) -> None:
    members = (RUBRIC, script(1.0, "a", 99.0))
    result = assessed(tmp_path, *members, replies={"closed": MARKS})
    assert (result.score, result.verdict) == (0.9925, "fail")
    assert result.gated_by == ("rubric/closed",)
    assert [(c.id, c.line, c.weight, c.gated) for c in result.criteria] == [
        ("rubric/closed", 21, 0.75, True),
        ("rubric/open", 22, 0.25, False),
    ]
    assert result.usage == Usage(calls=1)


def test_weight_0_does_not_gate(tmp_path: Path) -> None:
    by = WeightedAverage(weights={"rubric": 0.0})
    result = assessed(tmp_path, RUBRIC, script(1.0, "a"), by=by, replies={"closed": MARKS})
    assert (result.score, result.verdict, result.gated_by) == (1.0, "pass", ())
    assert result.details["members"]["rubric"]["score"] == 0.25


@pytest.mark.parametrize(
    ("minimum", "gated_by", "verdict"),
    [(0.7, (), "borderline"), (0.75, ("required_min_score",), "fail"), (0.0, (), "borderline")],
    ids=["met", "missed", "no gate"],
)
def test_a_composite_may_be_a_gate(
    minimum: float, gated_by: tuple[str, ...], verdict: str, tmp_path: Path
) -> None:
    found = composed(tmp_path, script(0.9, "a"), script(0.5, "b"), minimum=minimum)
    assert isinstance(found, Assessed)
    assert (found.score, found.verdict, found.gated_by) == (0.7, verdict, gated_by)
    assert not list(case_problems(_graded(found), DEFAULT_THRESHOLDS))
    told = [(each.id, each.mark, each.weight, each.reasoning) for each in found.criteria]
    text = f"The score is at least {minimum:g}: it is 0.7"
    assert told == ([("required_min_score", not gated_by, 0.0, text)] if minimum else [])


def _graded(found: Assessed) -> BaseResult:
    return BaseResult(
        outcome="graded", score=found.score, verdict=found.verdict, evaluators=(found,)
    )


def test_composites_nest(tmp_path: Path) -> None:
    inner = CompositeSpec(
        name="inner", evaluators=(RUBRIC,), aggregator=WeightedAverage(), span=span()
    )
    result = assessed(tmp_path, inner, script(1.0, "a"), replies={"closed": MARKS})
    assert (result.score, result.gated_by) == (0.625, ("inner/rubric/closed",))


GATE = """\
import json, sys
results = json.load(sys.stdin)["results"].values()
print(json.dumps({"score": min(r["score"] for r in results), "reasoning": "min"}))
"""


def test_a_script_may_decide(tmp_path: Path) -> None:
    (tmp_path / "gate.py").write_text(GATE)
    by = build_script(f"{sys.executable} gate.py", name="whole")
    result = assessed(tmp_path, script(0.9, "a"), script(0.4, "b"), by=by)
    assert (result.score, result.verdict, result.reasoning) == (0.4, "fail", "min")


def test_a_script_that_decides_reads_the_members_and_the_case(tmp_path: Path) -> None:
    by = build_script("cat > seen.json", name="whole", score_from="exit_status")
    assert assessed(tmp_path, script(0.5, "a"), RUBRIC, by=by, replies={"closed": MARKS}).score == 1
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["candidate_answer"] == "hello"
    empty: dict[str, Any] = {
        "gated_by": [],
        "criteria": [],
        "hits": [],
        "misses": [],
        "details": None,
    }
    facts = {"name": "a", "type": "code_judge", "weight": 1.0, "score": 0.5, "verdict": "fail"}
    assert seen["results"]["a"] == {**facts, **empty, "judge": "", "reasoning": ""}
    assert seen["results"]["rubric"]["criteria"][0]["mark"] is False


def test_gates_hold_whatever_a_script_decides(tmp_path: Path) -> None:
    by = build_script("true", name="whole", score_from="exit_status")
    result = assessed(tmp_path, RUBRIC, by=by, replies={"closed": MARKS})
    assert (result.score, result.verdict) == (1.0, "fail")


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [("", "Several evaluators"), ("Weigh {{ EVALUATOR_RESULTS_JSON }} now", "Weigh")],
    ids=["built-in-prompt", "own-prompt"],
)
def test_a_judge_may_decide(prompt: str, asked: str, tmp_path: Path) -> None:
    by = LlmJudgeSpec(name="whole", prompt=prompt, span=span())
    opinion = '{"score": 0.7, "hits": ["h"], "misses": ["m"], "reasoning": "r"}'
    result = assessed(tmp_path, script(0.123, "a"), by=by, replies={'"score": 0.123': opinion})
    assert (result.score, result.reasoning) == (0.7, "r")
    assert (result.hits, result.misses) == (("h",), ("m",))
    assert result.usage == Usage(calls=1)


def test_a_variable_of_composites_is_unknown_elsewhere(tmp_path: Path) -> None:
    alone = LlmJudgeSpec(name="alone", prompt="{{ EVALUATOR_RESULTS_JSON }}", span=span())
    assert "uses unknown variables: {{ EVALUATOR_RESULTS_JSON }}" in reason(tmp_path, alone)


def test_a_member_that_counts_must_have_a_score(tmp_path: Path) -> None:
    assert reason(tmp_path, script(1.0, "a"), LATER) == (
        "later: the target reports no duration (`duration_ms`)"
    )


def test_a_member_of_weight_0_may_have_none(tmp_path: Path) -> None:
    by = WeightedAverage(weights={"later": 0.0})
    result = assessed(tmp_path, script(1.0, "a"), LATER, by=by)
    assert result.score == 1.0
    assert "reports no duration" in result.details["members"]["later"]["reason"]


def test_some_member_must_count(tmp_path: Path) -> None:
    assert reason(tmp_path, script(1.0, "a", 0.0)) == (
        "every member has weight 0; set a weight above 0 for at least one"
    )


def test_what_members_spent_counts_without_a_score(tmp_path: Path) -> None:
    result = composed(tmp_path, RUBRIC, LATER, replies={"closed": MARKS})
    assert isinstance(result, Unassessed)
    assert result.usage == Usage(calls=1)


def test_what_members_spent_counts_if_the_aggregator_fails(tmp_path: Path) -> None:
    by = build_script("exit 127")
    result = composed(tmp_path, RUBRIC, by=by, replies={"closed": MARKS})
    assert isinstance(result, Unassessed)
    assert result.reason == "the script was not found"
    assert result.usage == Usage(calls=1)
