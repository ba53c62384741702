"""Estimated requests and tokens."""

from dataclasses import replace

from rubric_ci.judge.estimate import TokenEstimate, estimate
from rubric_ci.judge.prompt import rubric_messages
from rubric_ci.model.config import Endpoint, JudgeConfig
from rubric_ci.model.diagnostics import Span
from rubric_ci.model.evals import CodeJudgeSpec, EvalCase, LlmJudgeSpec, RubricSpec
from rubric_ci.model.rubric import Check, Rubric

SPAN = Span(1, 1, 1, 2)
JUDGE = JudgeConfig(endpoint=Endpoint(model="m"))


def case(count: int) -> EvalCase:
    rubric = Rubric(tuple(Check(id=f"{n}", text="x", span=SPAN) for n in range(count)))
    return EvalCase(
        id="a",
        file="a.yaml",
        span=SPAN,
        evaluators=(RubricSpec(name="rubric", rubric=rubric, span=SPAN),),
    )


def test_one_case() -> None:
    one = case(3)
    spec = one.evaluators[0]
    assert isinstance(spec, RubricSpec)
    messages = rubric_messages(one, "", spec.rubric.judged, fence="")
    characters = sum(len(message.content) for message in messages)
    assert estimate([one], JUDGE) == TokenEstimate(
        requests=1, input_tokens=characters // 4 + 300, output_tokens=240
    )


def test_cases_groups_votes_and_isolation_multiply() -> None:
    assert estimate([case(3), case(21)], JUDGE).requests == 3
    assert estimate([case(3), case(21)], replace(JUDGE, votes=3)).requests == 9
    assert estimate([case(3), case(21)], replace(JUDGE, mode="isolated")).requests == 24
    assert estimate([case(3)], replace(JUDGE, votes="auto")).requests == 1


def test_scripts_ask_no_judge() -> None:
    script = CodeJudgeSpec(name="s", script="true", cwd=".", span=SPAN)
    taste = LlmJudgeSpec(name="t", span=SPAN)
    mixed = replace(case(1), evaluators=(script, taste))
    assert estimate([mixed], JUDGE).requests == 1
