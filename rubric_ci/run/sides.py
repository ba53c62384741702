"""The two sides of a change as they are graded: contexts, tasks, and answers that both share."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rubric_ci.errors import NoVerdict
from rubric_ci.grading.task import Task
from rubric_ci.model.config import MockTarget, RecordedTarget
from rubric_ci.model.context import RunContext, Side
from rubric_ci.model.regression_config import RegressionConfig
from rubric_ci.model.results import CaseResult
from rubric_ci.run.base_side import BaseSide, Key
from rubric_ci.targets import answer_cache, mock, recorded


class Grade(Protocol):
    """Grades tasks; fewer results than tasks mean that the run was interrupted."""

    def __call__(
        self, tasks: Sequence[Task], context: RunContext, trials: int
    ) -> Awaitable[tuple[CaseResult, ...]]:
        """Return the results in the order of the tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Base and head of a change, graded by the same judge under the same rubrics."""

    base: BaseSide
    context: RunContext  # of the head
    grade: Grade
    trials: int
    config: RegressionConfig
    can_ask: bool = True  # False: no further trial is possible
    fresh: bool = False  # no answer of the base comes from the cache

    @property
    def base_context(self) -> RunContext:
        """The context in which the base answers."""
        side = Side(
            root=self.base.worktree.root,
            read=self.base.read,
            reuse=not self.fresh,
            dependencies=self.base.dependencies,
        )
        return replace(self.context, side=side)

    def share_answer(self, head: Task, base: Task) -> bool:
        """Return True if nothing that determines the answer differs, so that it is that of both."""
        match head.target, base.target:
            case (RecordedTarget() as now, RecordedTarget() as then):
                try:
                    own = recorded.answer(head.case, now, self.context)
                    return own == recorded.answer(base.case, then, self.base_context)
                except NoVerdict:
                    return False
            case (MockTarget() as now, MockTarget() as then):
                return mock.answer(now) == mock.answer(then)
        key = answer_cache.key_of(head.case, head.target, self.context)
        there = answer_cache.key_of(base.case, base.target, self.base_context)
        return key is not None and key == there

    def asks_base(self, head: Task) -> bool:
        """Return True if the case is asked at the base as well."""
        base = self.base.tasks.get((head.case.file, head.case.id))
        return base is not None and not self.share_answer(head, base)

    async def graded(
        self, tasks: Sequence[Task], context: RunContext, trials: int = 1
    ) -> Mapping[Key, CaseResult]:
        """Return the results by file and id; none after the run was interrupted."""
        this = asyncio.current_task()
        if not tasks or (this and this.cancelling()):
            return {}
        results = await self.grade(tasks, context, trials)
        return {(case.file, case.id): case for case in results}
