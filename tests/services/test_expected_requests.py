"""What the estimate finds in the cache is what the run uses."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import pytest

from rubric_ci.grading import engine
from rubric_ci.grading.resolve import Task
from rubric_ci.models.judge.prompt import rubric_messages
from rubric_ci.services.expected_requests import (
    ExpectedWork,
    JudgeEstimate,
    JudgeRequests,
    estimate_cost,
    estimate_lines,
    requests_of,
)
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import Prepared
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, EvaluatorSpec, LlmJudgeSpec, RubricSpec
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.report import CostEstimate
from rubric_ci.values.results import Answer, Assessment, Graded
from rubric_ci.values.rubric import Check, MarkedAnswer, Rubric
from rubric_ci.values.targets import Endpoint, MockTarget
from tests.cases import build_case, build_context, span

JUDGE = JudgeConfig(endpoint=Endpoint(model="openai/m"))
MARKS = '{"c1": {"evidence": "", "reasoning": "asked", "satisfied": true}}'
SCORE = '{"score": 0.5, "hits": [], "misses": [], "reasoning": "asked"}'


@dataclass
class Counted:
    """A cache in memory that counts how often each key was read."""

    texts: dict[str, str] = field(default_factory=dict)
    read: Counter[str] = field(default_factory=Counter)

    def get(self, key: str) -> str | None:
        self.read[key] += 1
        return self.texts.get(key)

    def put(self, key: str, text: str) -> None:
        self.texts[key] = text

    def clear(self) -> None:
        self.texts.clear()

    def is_empty(self) -> bool:
        return not self.texts


def rubric(text: str = "Greets") -> RubricSpec:
    return RubricSpec(
        name=text, span=span(), rubric=Rubric((Check(id="a", text=text, span=span()),))
    )


FREEFORM = LlmJudgeSpec(name="free", span=span(), prompt="Score {{ candidate_answer }}")


@pytest.mark.parametrize(
    "evaluators",
    [(rubric(),), (FREEFORM,), (rubric(), rubric("Says the name"), FREEFORM)],
    ids=["rubric", "llm_judge", "several"],
)
@pytest.mark.parametrize("trials", [1, 3])
def test_a_cached_judgement_is_read_once(
    evaluators: tuple[EvaluatorSpec, ...], trials: int, tmp_path: Path
) -> None:
    cache, sent = Counted(), list[ModelCall]()

    async def reply(call: ModelCall) -> ModelReply:
        sent.append(call)
        return ModelReply(text=SCORE if "Score" in str(call.messages) else MARKS)

    tasks = [
        Task(
            case=build_case(id=name, evaluators=evaluators),
            target=MockTarget(name="m", response=f"Hello {name}"),
            judge=JUDGE,
            why="new",
        )
        for name in ("one", "two")
    ]
    runs, estimates = [], []
    for _ in range(2):
        context = build_context(tmp_path, call_model=reply, cache=cache, judge=JUDGE)
        cache.read.clear()
        expected = estimate_cost([ExpectedWork(tasks=tasks, context=context, trials=trials)])
        estimates.append(sum(each.estimate.requests for each in expected))
        assert bool(cache.read) is bool(cache.texts)  # in an empty cache nothing is looked up
        runs.append(asyncio.run(engine.grade(tasks, context, concurrency=4, trials=trials)))
        assert cache.read == dict.fromkeys(cache.texts, 1)
    assert len(sent) == len(cache.texts) == len(tasks) * trials * len(evaluators)
    assert estimates == [len(sent), 0]
    asked, found = ([(c.verdict, c.score) for c in run if isinstance(c, Graded)] for run in runs)
    assert len(asked) == len(tasks)
    assert found == asked


def test_an_assessment_is_that_of_one_answer() -> None:
    case, spec, prepared = build_case(evaluators=(rubric(),)), rubric(), Prepared()
    text, work = Answer(text="Hi"), Answer(text="Hi", messages=({"role": "tool"},))
    found = Assessment(score=1.0)
    for kept, taken in ((text, work), (work, text)):
        prepared.keep(case, spec, 0, kept, found)
        assert prepared.take(case, spec, 0, taken) is None
    prepared.keep(case, spec, 0, work, found)
    assert [prepared.take(case, spec, 0, work) for _ in range(2)] == [found, None]


SURE = '{"c1": {"satisfied": true}, "c2": {"satisfied": true}, "c3": {"satisfied": true}}'
OPTIONAL = RubricSpec(
    name="optional",
    span=span(),
    rubric=Rubric(
        tuple(Check(id=name, text=name, required=False, span=span()) for name in ("a", "b", "c"))
    ),
)


@pytest.mark.parametrize(
    ("evaluator", "reply"),
    [
        pytest.param(OPTIONAL, SURE, id="a panel"),
        pytest.param(FREEFORM, SCORE, id="a panel that gives a score"),
    ],
)
def test_of_several_judges_each_has_what_the_cache_leaves(
    evaluator: RubricSpec | LlmJudgeSpec, reply: str, tmp_path: Path
) -> None:
    async def answered(_: ModelCall) -> ModelReply:
        return ModelReply(text=reply)

    cache = Counted()
    several = JudgeConfig(endpoint=JUDGE.endpoint, others=(Endpoint(model="openai/dear"),))
    found = []
    for judge in (JUDGE, several, several):  # the second judge is asked in the second run only
        tasks = [
            Task(
                case=build_case(id=name, evaluators=(evaluator,)),
                target=MockTarget(name="m", response=f"Hello {name}"),
                judge=judge,
                why="new",
            )
            for name in ("one", "two")
        ]
        context = build_context(tmp_path, call_model=answered, cache=cache, judge=judge)
        each = estimate_cost([ExpectedWork(tasks=tasks, context=context)])
        found.append([(one.estimate.requests, one.asked.cached) for one in each])
        asyncio.run(engine.grade(tasks, context, concurrency=4))
    assert found == [[(2, 0)], [(0, 2), (2, 0)], [(0, 2), (0, 2)]]


SPAN = Span(1, 1, 1, 2)
JUDGE_CONFIG = JudgeConfig(endpoint=Endpoint(model="m"))


def case(count: int) -> tuple[EvalCase, RubricSpec]:
    rubric = Rubric(tuple(Check(id=f"{n}", text="x", span=SPAN) for n in range(count)))
    spec = RubricSpec(name="rubric", rubric=rubric, span=SPAN)
    return EvalCase(id="a", file="a.yaml", span=SPAN, evaluators=(spec,)), spec


def test_one_case() -> None:
    one, spec = case(3)
    messages = rubric_messages(one, "", spec.rubric.judged, fence="")
    characters = sum(len(message.content) for message in messages)
    assert requests_of(JUDGE_CONFIG, one, spec) == JudgeRequests(
        requests=1, input_tokens=characters // 4 + 300, output_tokens=240, most=1
    )


@pytest.mark.parametrize(
    ("count", "judge", "requests"),
    [
        (3, {}, 1),
        (21, {}, 2),
        (21, {"votes": 3}, 6),
        (21, {"mode": "isolated"}, 21),
        (3, {"votes": "auto"}, 1),
    ],
)
def test_groups_and_votes_multiply(count: int, judge: Mapping[str, Any], requests: int) -> None:
    changed = replace(JUDGE_CONFIG, **judge)
    one, spec = case(count)
    assert requests_of(changed, one, spec).requests == requests


BRIEFED = RubricSpec(
    name="rubric",
    rubric=Rubric(
        (
            Check(id="s/a", text="x", span=Span(1, 1, 1, 2, file="s.rubric.yaml")),
            Check(id="own", text="x", span=SPAN),
        )
    ),
    guidelines=("g" * 400, "h" * 80),
    guided_by=("s.rubric.yaml", ""),
    examples=(
        MarkedAnswer(answer="e" * 200, marks={"s/a": True}),
        MarkedAnswer(answer="f" * 40, marks={"own": True}),
    ),
    span=SPAN,
)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        pytest.param("batched", {"s.rubric.yaml": 150, "a.yaml": 30}, id="one request"),
        # An example is shown with the criteria that it marks, guidelines in each request.
        pytest.param("isolated", {"s.rubric.yaml": 250, "a.yaml": 50}, id="two requests"),
    ],
)
def test_guidelines_and_examples_count_for_their_file(
    mode: Literal["batched", "isolated"], expected: dict[str, int]
) -> None:
    one, judge = case(1)[0], replace(JUDGE_CONFIG, mode=mode)
    bare = replace(BRIEFED, guidelines=(), guided_by=(), examples=())
    found = requests_of(judge, one, BRIEFED)
    assert found.briefing == expected
    assert found.input_tokens - requests_of(judge, one, bare).input_tokens > sum(expected.values())
    line = estimate_lines(
        [
            JudgeEstimate(
                judge=judge,
                estimate=CostEstimate(requests=1, input_tokens=9, output_tokens=9, cost_usd=None),
                asked=found,
            )
        ]
    )[1]
    assert line == (
        f"about {expected['s.rubric.yaml']} of these tokens are guidelines and examples of "
        f"s.rubric.yaml, {expected['a.yaml']} of a.yaml"
    )


def test_a_score_is_one_request() -> None:
    taste = LlmJudgeSpec(name="t", span=SPAN)
    assert requests_of(replace(JUDGE_CONFIG, votes=3), case(1)[0], taste).requests == 1
