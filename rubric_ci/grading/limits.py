"""Limits of a run: concurrent cases and requests per target, the batch barrier, the time limit."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext
from time import monotonic
from typing import Final, Protocol, TypeAlias, TypeVar

from rubric_ci.errors import OverBudget
from rubric_ci.values.config import Target
from rubric_ci.values.evals import EvaluatorSpec, asks_judge, every_evaluator

Slot: TypeAlias = "asyncio.Semaphore | nullcontext[None]"
"""Entered before work starts and left when it ends."""


class ConcurrencyLimits(Protocol):
    """The slots that cases, targets and evaluators of one run wait for."""

    def target_slot(self, target: Target) -> Slot:
        """Return a slot of the target, held while it answers."""

    def case_slot(self, target: Target) -> Slot:
        """Return a slot of the run, held from the start of an answer."""

    async def release_case_slot(self, held: AsyncExitStack) -> None:
        """Record an answer; in batch mode, release the case's slot."""

    async def wait_for_all_answers(self) -> None:
        """In batch mode, wait until every case has an answer."""

    def evaluator_slot(self, spec: EvaluatorSpec) -> Slot:
        """Return a slot for the evaluator; only batch mode limits evaluators on their own."""


class LiveLimits:
    """Limits where each request is sent at once: a case holds its slot until it has a result."""

    def __init__(self, targets: Sequence[Target], concurrency: int) -> None:
        self._cases = asyncio.Semaphore(concurrency)
        self._targets = _target_semaphores(targets)

    def target_slot(self, target: Target) -> Slot:
        """Return a slot of the target, held while it answers."""
        return self._targets.get(target.name, nullcontext())

    def case_slot(self, target: Target) -> Slot:  # noqa: ARG002 - alike for all targets
        """Return a slot of the run, held until the case has a result."""
        return self._cases

    async def release_case_slot(self, held: AsyncExitStack) -> None:
        """Keep the slot: the case is not assessed yet."""

    async def wait_for_all_answers(self) -> None:
        """Return at once: each answer is assessed on its own."""

    def evaluator_slot(self, spec: EvaluatorSpec) -> Slot:  # noqa: ARG002 - alike for all of them
        """Return no limit: the case holds a slot."""
        return nullcontext()


class BatchLimits:
    """Limits where requests to models are sent in batches.

    No answer is assessed before all of them are there, so that judge requests share batches.
    Requests to models are not limited; commands and scripts, which run on this machine, are.
    """

    def __init__(self, targets: Sequence[Target], concurrency: int, *, answers: int) -> None:
        self._cases = asyncio.Semaphore(concurrency)
        self._targets = _target_semaphores(targets)
        self._awaited = answers
        self._all_answered = asyncio.Event()

    def target_slot(self, target: Target) -> Slot:
        """Return a slot of the target, held while it answers; a model has no limit."""
        if target.endpoint:  # of a model: a service has no batches
            return nullcontext()
        return self._targets.get(target.name, nullcontext())

    def case_slot(self, target: Target) -> Slot:
        """Return a slot of the run, held while the target answers; a model needs none."""
        return nullcontext() if target.endpoint else self._cases

    async def release_case_slot(self, held: AsyncExitStack) -> None:
        await held.aclose()
        self._awaited -= 1
        if self._awaited == 0:
            self._all_answered.set()

    async def wait_for_all_answers(self) -> None:
        await self._all_answered.wait()

    def evaluator_slot(self, spec: EvaluatorSpec) -> Slot:
        """Return a slot of the run for an evaluator that sends no requests to models."""
        if any(map(asks_judge, every_evaluator([spec]))):
            return nullcontext()
        return self._cases


def _target_semaphores(targets: Sequence[Target]) -> Mapping[str, asyncio.Semaphore]:
    return {
        target.name: asyncio.Semaphore(target.concurrency)
        for target in targets
        if target.concurrency
    }


T = TypeVar("T")

GRACE: Final = (
    1.0  # seconds; models/llm/budget.py ends model requests before, and counts their usage
)


class Deadline:
    """Cancels work on a case after a number of seconds since a start; None: never, and now."""

    def __init__(self, seconds: float | None, start: float | None = None) -> None:
        self._seconds = seconds
        begun = monotonic() if start is None else start
        self._end = None if seconds is None else begun + seconds

    def check(self) -> None:
        """Raise OverBudget if the time is up: nothing is started during the grace."""
        if self._end is not None and monotonic() >= self._end:
            raise self._time_is_up()

    async def enforce(self, work: Awaitable[T]) -> T:
        """Await the work; raise OverBudget if it does not end in time."""
        if self._end is None:  # a timer for each answer and each evaluator is measurable
            return await work
        left = max(0.0, self._end + GRACE - monotonic())
        try:
            async with asyncio.timeout(left) as limit:
                return await work
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise self._time_is_up() from error

    def _time_is_up(self) -> OverBudget:
        return OverBudget(f"budget: time limit of {self._seconds:g} s reached")
