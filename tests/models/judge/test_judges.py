"""Panels of several judges: whose marks count, and what is asked."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from rubric_ci.errors import CannotJudge, CannotReachModel
from rubric_ci.models.judge.panel import PanelRequest, PanelResult, decide
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.rubric import Check, Judged, Rubric, Scored, ScoreRange
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from tests.cases import MemoryCache, marked_by

SPAN = Span(1, 1, 1, 2)
CASE = EvalCase(id="a", file="a.yaml", span=SPAN)
Mark = bool | int | str
CHECK = Check(id="one", text="one", required=False, span=SPAN)
GATE = Check(id="one", text="one", required=True, span=SPAN)
SCORE = Scored(id="one", ranges=(ScoreRange(low=0, high=10, text="one"),), span=SPAN)


class Models:
    """Marks each criterion by model; `down` cannot be reached."""

    def __init__(self, marks: Mapping[str, Mark | list[Mark]]) -> None:
        self.marks = marks
        self.asked: list[str] = []

    async def __call__(self, call: ModelCall) -> ModelReply:
        name = call.endpoint.model
        mark = self.marks[name]
        if isinstance(mark, list):
            mark = mark[self.asked.count(name) % len(mark)]
        self.asked.append(name)
        if mark == "down":
            raise CannotReachModel(f"{name}: down", Usage(calls=1))
        prompt = call.messages[1].content
        word = "score" if '"score"' in prompt else "satisfied"
        aliases = re.findall(r"^(c\d+): ", prompt, re.MULTILINE)
        return ModelReply(
            text=json.dumps({alias: {word: mark} for alias in aliases}), usage=Usage(calls=1)
        )


def ask(
    models: Models, *criteria: Judged, votes: int = 1, cache: MemoryCache | None = None
) -> PanelResult:
    first, *others = (Endpoint(model=name) for name in models.marks)
    judge = JudgeConfig(endpoint=first, others=tuple(others), votes=votes)
    context = RunContext(call_model=models, root=Path(), environment={}, cache=cache)
    request = PanelRequest(
        case=CASE, answer="Hi", rubric=Rubric(criteria), judge=judge, context=context, about="a"
    )
    return marked_by(decide(request))


PANELS: list[tuple[Judged, dict[str, Mark | list[Mark]], Mark, tuple[Mark, ...]]] = [
    (CHECK, {"a": True, "b": False, "c": True}, True, (True, False, True)),
    (CHECK, {"a": False, "b": True, "c": False}, False, (False, True, False)),
    (SCORE, {"a": 2, "b": 9, "c": 6}, 6, (2, 9, 6)),
    (SCORE, {"a": 2, "b": 6, "c": 9}, 6, (2, 6, 9)),
    (CHECK, {"a": True, "b": "down", "c": True}, True, (True, True)),
]


@pytest.mark.parametrize(("criterion", "marks", "elected", "votes"), PANELS)
def test_a_panel_has_the_majority_or_the_median(
    criterion: Judged, marks: dict[str, Mark | list[Mark]], elected: Mark, votes: tuple[Mark, ...]
) -> None:
    found = ask(Models(marks), criterion)
    assert found.judgement["one"].value == elected
    assert found.votes == {"one": votes}
    assert found.judges == tuple(name for name, mark in marks.items() if mark != "down")
    assert found.judge == "a + b + c"
    assert found.usage == Usage(calls=3)


ONE = "only 1 of 3 judges gave marks"


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ({"a": True, "b": "down", "c": "down"}, f"no majority: {ONE}; c: down"),
        ({"a": "down", "b": "down", "c": True}, f"no majority: {ONE}; b: down"),
        ({"a": True, "b": False, "c": "down"}, "no majority of 3 votes on one: true, false"),
    ],
)
def test_half_of_a_panel_decides_nothing(marks: dict[str, Mark | list[Mark]], message: str) -> None:
    with pytest.raises(CannotJudge) as ended:
        ask(Models(marks), CHECK)
    assert str(ended.value) == message
    assert ended.value.usage == Usage(calls=3)


def test_two_of_four_judges_are_no_majority() -> None:
    with pytest.raises(CannotJudge, match="only 2 of 4 judges gave marks; d: down"):
        ask(Models({"a": True, "b": True, "c": "down", "d": "down"}), CHECK)


def test_a_mark_with_a_vote_from_the_cache_is_named() -> None:
    cache = MemoryCache()
    ask(Models({"a": True}), CHECK, cache=cache)
    found = ask(Models({"a": True, "b": True, "c": True}), CHECK, cache=cache)
    assert found.cached == {"one"}
    assert found.usage == Usage(calls=2, cache_hits=1)


def test_each_judge_of_a_panel_votes() -> None:
    models = Models({"a": [True, False, False], "b": True, "c": False})
    found = ask(models, CHECK, votes=3)
    assert found.votes == {"one": (False, True, False)}
    assert len(models.asked) == 9
