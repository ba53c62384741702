"""All cases together count if they are worse with new answers of the base as well."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from rubric_ci.grading.resolve import Task
from rubric_ci.services.run.asking import Key
from rubric_ci.services.run.fresh_base import find_together
from rubric_ci.services.run.sides import BaseSide, Sides
from rubric_ci.services.run.suspect import Pair
from rubric_ci.values.changes import Base
from rubric_ci.values.comparison import RegressionConfig, Together
from rubric_ci.values.config import CliTarget
from rubric_ci.values.context import RunContext
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.results import CaseResult
from tests.cases import build_case
from tests.sample_reports import errored, graded
from tests.services.run.test_base_comparison import Worktree

TARGET = CliTarget(name="t", command_template="true")


@dataclass
class Change:
    """Cases of which the first `worse` fail at the head; `today`: what the base says then."""

    cases: int
    worse: int
    today: str = "pass"  # "fail", "error"
    tags: tuple[str, ...] = ()
    asked: list[str] = field(default_factory=list)

    async def grade(
        self, tasks: Sequence[Task], contexts: Sequence[RunContext], trials: int
    ) -> Sequence[CaseResult | None]:
        assert trials == 1
        assert all(each.side.is_base and not each.side.reuse for each in contexts)
        assert all(each.fresh_judgements for each in contexts)
        self.asked += [task.case.id for task in tasks]
        return [self._today(task.case.id) for task in tasks]

    def _today(self, name: str) -> CaseResult:
        if self.today == "error":
            return errored(name, "429")
        fails = self.today == "fail" and int(name) < self.worse
        return graded(name, "fail" if fails else "pass")

    def found(self, **facts: Any) -> Together | None:
        pairs: dict[Key, Pair] = {}
        for n in range(self.cases):
            task = Task(case=build_case(id=f"{n}", file="e.yaml"), target=TARGET)
            head = graded(f"{n}", "fail" if n < self.worse else "pass", tags=self.tags)
            base = graded(f"{n}", "pass", answer_reused=True)
            pairs[task.case.key] = Pair(head_task=task, base_task=task, head=head, base=base)
        side = BaseSide(
            base=Base(commit="1" * 40, origin="the base"),
            committed_at="",
            tasks={},
            worktree=cast(Any, Worktree()),
            read=lambda _: None,
            dependencies=lambda *_: None,
        )
        context = RunContext(call_model=cast(Any, None), root=Path(), environment={})
        sides = Sides(
            base=side,
            context=context,
            grade=self.grade,
            trials=1,
            rows=self.cases,
            config=RegressionConfig(),
        )
        return asyncio.run(find_together(replace(sides, **facts), pairs))


@pytest.mark.parametrize(
    ("change", "worse", "moved", "problem", "again"),
    [
        (Change(120, 12), True, False, "", 120),
        (Change(120, 12, today="fail"), False, True, "", 120),
        (Change(120, 12, today="error"), False, False, "429", 0),
        (Change(120, 3), False, False, "", 0),
    ],
    ids=["the base still passes", "the base fails as well", "no new answer", "by chance"],
)
def test_the_base_is_asked_again(
    change: Change, problem: str, again: int, *, worse: bool, moved: bool
) -> None:
    found = change.found()
    assert found is not None
    assert (found.worse, found.before_moved, found.problem) == (worse, moved, problem)
    assert found.again == again
    assert len(change.asked) in {0, 120}


def test_fewer_cases_and_cases_that_the_gate_is_not_about_are_not_tested() -> None:
    assert Change(99, 50).found() is None
    assert Change(120, 50).found(gate=GateConfig(tags=("safety",))) is None
    assert Change(120, 50, tags=("safety",)).found(gate=GateConfig(tags=("safety",))) is not None


def test_offline_the_answers_count_as_they_are() -> None:
    change = Change(120, 12)
    found = change.found(can_ask=False)
    assert found is not None
    assert (found.worse, change.asked) == (True, [])
