"""Grading of cases: outcomes, order, usage, cancellation."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import CannotReachModel, MissingExtra
from rubric_ci.grading import engine
from rubric_ci.grading.resolve import Task
from rubric_ci.parts.graders.usage_limits import LatencySpec
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.evals import EvaluatorSpec, LlmJudgeSpec, RubricSpec
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.results import CaseResult, Errored, Graded, Skipped, Unassessed
from rubric_ci.values.rubric import Check, Rubric
from rubric_ci.values.targets import (
    CliTarget,
    Endpoint,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    Target,
)
from rubric_ci.values.usage import Usage
from tests import platforms
from tests.cases import build_case, build_context, build_script, span

pytestmark = platforms.SHELL

MOCK = MockTarget(name="m", response="hello")
MODEL = LlmTarget(name="default", endpoint=Endpoint(model="openai/m"))
UNMEASURED = LatencySpec(name="later", threshold_ms=1, span=span())


def script(score: float, name: str = "check", weight: float = 1.0) -> EvaluatorSpec:
    printed = f'{{"score": {score}, "reasoning": "why {name}"}}'
    return build_script(f"echo '{printed}'", name=name, weight=weight)


def task(*evaluators: EvaluatorSpec, target: Target = MOCK, case_id: str = "one") -> Task:
    return Task(case=build_case(id=case_id, evaluators=evaluators), target=target, why="new")


def grade(
    tasks: Sequence[Task],
    root: Path,
    *,
    concurrency: int = 4,
    on_result: Callable[[int, CaseResult], None] = lambda _, __: None,
    trials: int = 1,
    **context: Any,
) -> tuple[CaseResult, ...]:
    return asyncio.run(
        engine.grade(
            tasks,
            build_context(root, **context),
            concurrency=concurrency,
            on_result=on_result,
            trials=trials,
        )
    )


def graded(root: Path, *evaluators: EvaluatorSpec) -> Graded:
    (result,) = grade([task(*evaluators)], root)
    assert isinstance(result, Graded)
    return result


def errored(
    root: Path, *evaluators: EvaluatorSpec, target: Target = MOCK, **context: Any
) -> Errored:
    (result,) = grade([task(*evaluators, target=target)], root, **context)
    assert isinstance(result, Errored)
    return result


def test_all_fields_of_a_graded_case(tmp_path: Path) -> None:
    result = graded(tmp_path, script(1.0))
    assert (result.file, result.line, result.id) == ("evals/a.eval.yaml", 3, "one")
    assert (result.verdict, result.score, result.why) == ("pass", 1.0, "new")
    assert (result.target, result.answer) == ("m", "hello")
    assert [e.name for e in result.evaluators] == ["check"]
    assert result.duration_seconds is not None


GARBAGE = build_script("echo garbage", name="shown", weight=0.0)


@pytest.mark.parametrize(
    ("evaluators", "score", "verdict"),
    [
        ([script(1.0, "a", 3.0), script(0.2, "b")], 0.8, "pass"),
        ([script(0.5), script(1.0, "shown", 0.0)], 0.5, "fail"),
        ([script(1.0), GARBAGE], 1.0, "pass"),
    ],
    ids=["weighted", "weight-0-does-not-count", "weight-0-may-fail"],
)
def test_several_evaluators_make_one_verdict(
    evaluators: list[EvaluatorSpec], score: float, verdict: str, tmp_path: Path
) -> None:
    result = graded(tmp_path, *evaluators)
    assert (result.score, result.verdict) == (score, verdict)
    assert len(result.evaluators) == len(evaluators)


def test_the_reason_names_the_largest_loss(tmp_path: Path) -> None:
    result = graded(tmp_path, script(0.5), script(1.0, "shown", 0.0))
    assert result.reason == "score 0.50 is below 0.60; largest loss: `check`: why check"


def test_a_counted_evaluator_without_a_score_leaves_none_to_the_case(tmp_path: Path) -> None:
    result = errored(tmp_path, script(1.0), UNMEASURED)
    assert result.reason == ("later: the target reports no duration (`duration_ms`)")
    assert result.answer == "hello"
    assert [type(e).__name__ for e in result.evaluators] == ["Assessed", "Unassessed"]


def test_a_script_that_fails_keeps_its_place(tmp_path: Path) -> None:
    result = errored(tmp_path, build_script("echo garbage", name="syntax"))
    (evaluator,) = result.evaluators
    assert isinstance(evaluator, Unassessed)
    assert (evaluator.name, evaluator.type, evaluator.line) == ("syntax", "code_judge", 7)
    assert result.reason.startswith("syntax: the script printed `garbage`")


def test_a_judge_and_a_script_decide_together(tmp_path: Path) -> None:
    async def ask(call: ModelCall) -> ModelReply:
        if "Is it kind?" in call.messages[-1].content:
            said = '{"c1": {"evidence": "hello", "reasoning": "kind", "satisfied": true}}'
        else:
            said = '{"score": 0.4, "hits": [], "misses": [], "reasoning": "so so"}'
        return ModelReply(text=said, usage=Usage(calls=1))

    kind = Rubric((Check(id="kind", text="Is it kind?", span=span()),))
    evaluators = (
        RubricSpec(name="rubric", rubric=kind, span=span()),
        LlmJudgeSpec(name="free", prompt="Rate {{ candidate_answer }}", span=span()),
        script(1.0),
    )
    judge = JudgeConfig(endpoint=Endpoint(model="openai/j"))
    (result,) = grade([task(*evaluators)], tmp_path, call_model=ask, judge=judge)
    assert isinstance(result, Graded)
    assert (result.score, result.verdict, result.usage) == (0.8, "pass", Usage(calls=2))
    assert result.reason == "score 0.80 reaches 0.80"


def test_weights_of_0_decide_nothing(tmp_path: Path) -> None:
    result = errored(tmp_path, script(1.0, weight=0.0))
    assert result.reason == "every evaluator has weight 0; set a weight above 0 for at least one"


def test_a_target_without_an_answer(tmp_path: Path) -> None:
    result = errored(tmp_path, script(1.0), target=RecordedTarget(name="r", answers="gone.jsonl"))
    assert result.reason == (
        "the recorded answers gone.jsonl cannot be read: No such file or directory"
    )
    assert (result.answer, result.evaluators, result.target) == ("", (), "r")


def test_what_was_spent_in_vain_counts(tmp_path: Path) -> None:
    async def ask(call: ModelCall) -> ModelReply:
        raise CannotReachModel("401", Usage(calls=3))

    assert errored(tmp_path, script(1.0), target=MODEL, call_model=ask).usage == Usage(calls=3)


def test_a_bug_stays_with_its_case(tmp_path: Path) -> None:
    async def ask(call: ModelCall) -> ModelReply:
        raise KeyError("nothing")

    results = grade(
        [task(script(1.0), target=MODEL), task(script(1.0), case_id="two")],
        tmp_path,
        call_model=ask,
    )
    first, second = results
    assert isinstance(first, Errored)
    assert first.reason.startswith("a bug in rubric-ci: KeyError: 'nothing' (test_engine.py:")
    assert isinstance(second, Graded)


def test_a_broken_setup_stops_the_run(tmp_path: Path) -> None:
    async def ask(call: ModelCall) -> ModelReply:
        raise MissingExtra("litellm is not installed")

    started = time.monotonic()
    with pytest.raises(MissingExtra):
        grade(
            [task(build_script("sleep 50", timeout_seconds=50)), task(script(1), target=MODEL)],
            tmp_path,
            call_model=ask,
        )
    assert time.monotonic() - started < 10


def test_nothing_to_grade_is_skipped_before_the_target_is_asked(tmp_path: Path) -> None:
    assert grade([task(target=MODEL)], tmp_path) == (
        Skipped(
            file="evals/a.eval.yaml",
            line=3,
            id="one",
            reason="no rubrics and no evaluators; add an `expected_outcome`, from which "
            "`rubric-ci generate rubrics evals/a.eval.yaml` drafts rubrics",
            why="new",
            target="default",
            question="Say hello",
        ),
    )


def test_no_cases() -> None:
    assert grade([], Path()) == ()


def test_trials_ask_the_target_again(tmp_path: Path) -> None:
    heard: list[CaseResult] = []
    target = CliTarget(name="dice", command_template="echo attempt {ATTEMPT}")
    check = build_script("grep -q 'attempt [01]' {answer_file}")
    (result,) = grade(
        [task(check, target=target)],
        tmp_path,
        on_result=lambda _, result: heard.append(result),
        trials=3,
    )
    assert isinstance(result, Graded)
    assert [trial.verdict for trial in result.trials] == ["pass", "pass", "fail"]
    assert (result.verdict, result.answer) == ("pass", "attempt 0")
    assert heard == [result]


def test_trials_are_calls_of_their_own(tmp_path: Path) -> None:
    keys: list[str] = []

    async def ask(call: ModelCall) -> ModelReply:
        keys.append(call.key)
        return ModelReply(text="hello")

    for trials in (3, 1):
        grade([task(script(1), target=MODEL)], tmp_path, trials=trials, call_model=ask)
    assert len(set(keys)) == 3
    assert keys[3] == keys[0]


# Order and concurrency


def sleeper(seconds: float, concurrency: int | None = None) -> CliTarget:
    return CliTarget(
        name=f"sleeper-{seconds}-{concurrency}",
        command_template=f"date +%s.%N; sleep {seconds}; date +%s.%N",
        concurrency=concurrency,
    )


def most_at_once(results: Sequence[CaseResult]) -> int:
    spans = [tuple(map(float, r.answer.split())) for r in results if isinstance(r, Graded)]
    return max(sum(start <= moment < end for start, end in spans) for moment, _ in spans)


def test_results_keep_the_order_and_progress_does_not_wait_for_it(tmp_path: Path) -> None:
    heard: list[str] = []
    tasks = [
        task(script(1.0), target=sleeper(1.5), case_id="slow"),
        task(script(1.0), case_id="quick"),
        task(case_id="skipped"),
    ]
    results = grade(tasks, tmp_path, on_result=lambda _, result: heard.append(result.id))
    assert [result.id for result in results] == ["slow", "quick", "skipped"]
    assert heard[0] == "skipped"
    assert heard[-1] == "slow"


def test_the_window_bounds_cases_at_once(tmp_path: Path) -> None:
    tasks = [task(script(1.0), target=sleeper(0.3), case_id=str(n)) for n in range(6)]
    assert most_at_once(grade(tasks, tmp_path, concurrency=3)) <= 3


def test_the_window_is_used(tmp_path: Path) -> None:
    together = "touch here-{EVAL_ID}; until [ $(ls here-* | wc -l) = 3 ]; do sleep 0.1; done; echo"
    target = CliTarget(name="meeting", command_template=f"{together} met", timeout_seconds=40)
    tasks = [task(script(1.0), target=target, case_id=str(n)) for n in range(3)]
    results = grade(tasks, tmp_path, concurrency=3)
    assert [result.answer for result in results if isinstance(result, Graded)] == ["met"] * 3


def test_a_target_may_be_narrower(tmp_path: Path) -> None:
    tasks = [task(script(1.0), target=sleeper(0.2, 1), case_id=str(n)) for n in range(4)]
    assert most_at_once(grade(tasks, tmp_path, concurrency=4)) == 1


def test_who_waits_for_a_narrow_target_takes_no_place(tmp_path: Path) -> None:
    heard: list[str] = []
    slow = [task(script(1.0), target=sleeper(0.8, 1), case_id=f"slow-{n}") for n in range(3)]
    quick = [task(script(1.0), case_id=f"quick-{n}") for n in range(3)]
    grade(
        slow + quick, tmp_path, concurrency=2, on_result=lambda _, result: heard.append(result.id)
    )
    assert heard[:3] == ["quick-0", "quick-1", "quick-2"]


def test_cancelling_returns_what_is_complete(tmp_path: Path) -> None:
    async def interrupted() -> tuple[CaseResult, ...]:
        two_ended = asyncio.Event()
        heard: list[CaseResult] = []

        def on_result(_: int, result: CaseResult) -> None:
            heard.append(result)
            if len(heard) == 2:
                two_ended.set()

        tasks = [
            task(script(1.0), case_id="first"),
            task(build_script("sleep 50", timeout_seconds=50), case_id="judging"),
            task(script(1.0), target=sleeper(50), case_id="answering"),
            task(script(1.0), case_id="last"),
        ]
        run = asyncio.create_task(
            engine.grade(tasks, build_context(tmp_path), concurrency=3, on_result=on_result)
        )
        await two_ended.wait()
        run.cancel()
        return await run

    started = time.monotonic()
    assert [result.id for result in asyncio.run(interrupted())] == ["first", "last"]
    assert time.monotonic() - started < 20
