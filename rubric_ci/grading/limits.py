"""Limits of a run: concurrent cases and requests per target, the batch barrier, the time limit."""

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import AsyncExitStack, nullcontext
from time import monotonic
from typing import Final, TypeAlias, TypeVar

from rubric_ci.errors import OverBudget
from rubric_ci.values.evals import EvaluatorSpec, asks_judge, every_evaluator
from rubric_ci.values.targets import Target

Slot: TypeAlias = "asyncio.Semaphore | nullcontext[None]"
"""Entered before work starts and left when it ends."""


class ConcurrencyLimits:
    """The slots that cases, targets and evaluators of one run wait for.

    A case holds its slot until it has a result. With `batched_answers`, the number of answers of a
    run whose model requests are sent in batches, it holds it while the target answers, and no
    answer is assessed before all of them are there, so that judge requests share batches. Requests
    to models are then not limited; commands and scripts, which run on this machine, are.
    """

    def __init__(
        self, targets: Sequence[Target], concurrency: int, *, batched_answers: int | None = None
    ) -> None:
        self._cases = asyncio.Semaphore(concurrency)
        self._targets = {
            target.name: asyncio.Semaphore(target.concurrency)
            for target in targets
            if target.concurrency
        }
        self._is_batched = batched_answers is not None
        self._awaited = batched_answers or 0
        self._all_answered = asyncio.Event()

    def target_slot(self, target: Target) -> Slot:
        """Return a slot of the target, held while it answers."""
        if self._is_batched and target.endpoint:  # of a model: a service has no batches
            return nullcontext()
        return self._targets.get(target.name, nullcontext())

    def case_slot(self, target: Target) -> Slot:
        """Return a slot of the run, held from the start of an answer."""
        return nullcontext() if self._is_batched and target.endpoint else self._cases

    async def release_case_slot(self, held: AsyncExitStack) -> None:
        """Record an answer; in batch mode, release the case's slot."""
        if not self._is_batched:
            return
        await held.aclose()
        self._awaited -= 1
        if self._awaited == 0:
            self._all_answered.set()

    async def wait_for_all_answers(self) -> None:
        """In batch mode, wait until every case has an answer."""
        if self._is_batched:
            await self._all_answered.wait()

    def evaluator_slot(self, spec: EvaluatorSpec) -> Slot:
        """Return a slot of the run, in batch mode for an evaluator without requests to models."""
        if not self._is_batched or any(map(asks_judge, every_evaluator([spec]))):
            return nullcontext()
        return self._cases


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
