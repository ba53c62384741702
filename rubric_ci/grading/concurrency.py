"""Who may work now: how many cases at a time, how many on each target, and who waits for whom."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, nullcontext
from typing import TypeAlias

from rubric_ci.model.config import CliTarget, LlmTarget, Target
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvaluatorSpec, LlmJudgeSpec, RubricSpec, every_evaluator
from rubric_ci.targets import healthcheck

Turn: TypeAlias = "asyncio.Semaphore | nullcontext[None]"
"""What to enter before one works, and to leave afterwards."""


class ConcurrencyLimits:
    """The windows of all cases and of each target, and which targets are well.

    `answers`: how many there will be, where no answer is assessed before all are there, so that
    questions to models can travel together. Then the windows hold for what runs here only.
    """

    def __init__(
        self, targets: Sequence[Target], concurrency: int, *, answers: int | None = None
    ) -> None:
        self._cases = asyncio.Semaphore(concurrency)
        self._targets = {
            target.name: asyncio.Semaphore(target.concurrency)
            for target in targets
            if isinstance(target, LlmTarget | CliTarget) and target.concurrency
        }
        self._health: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._awaited = answers
        self._all_answered = asyncio.Event()

    def target_slot(self, target: Target) -> Turn:
        """Return the window of one target, held while it answers."""
        if self._travels(target):
            return nullcontext()
        return self._targets.get(target.name, nullcontext())

    def case_slot(self, target: Target) -> Turn:
        """Return the window of all cases, held from the answer to the end."""
        return nullcontext() if self._travels(target) else self._cases

    async def check_health(self, target: Target, context: RunContext) -> None:
        """Let the target's health check run once in a folder; its failure is every case's."""
        if isinstance(target, CliTarget):
            place = target.name, target.cwd
            if place not in self._health:
                self._health[place] = asyncio.create_task(healthcheck.check(target, context))
            await asyncio.shield(self._health[place])

    async def release_case_slot(self, place: AsyncExitStack) -> None:
        """Tell of an answer; where all are waited for, give the place to another."""
        if self._awaited is not None:
            await place.aclose()
            self._awaited -= 1
            if self._awaited == 0:
                self._all_answered.set()

    async def wait_for_all_answers(self) -> None:
        """Wait for all answers, where they are waited for."""
        if self._awaited is not None:
            await self._all_answered.wait()

    def evaluator_slot(self, spec: EvaluatorSpec) -> Turn:
        """Return what holds an evaluator back, where its case gave its place away."""
        if self._awaited is None or any(_calls_a_model(one) for one in every_evaluator([spec])):
            return nullcontext()
        return self._cases

    def _travels(self, target: Target) -> bool:
        return self._awaited is not None and isinstance(target, LlmTarget)


def _calls_a_model(spec: EvaluatorSpec) -> bool:
    return isinstance(spec, RubricSpec | LlmJudgeSpec)
