"""The replica of `benchmarks/against/` decides as the code of `run --against` does."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from random import Random

import pytest

from benchmarks.against.replica import Case, Decision, Side, decide
from benchmarks.against.simulate import Pulled, pull_request
from rubric_ci.grading.resolve import Task
from rubric_ci.values.results import Graded

DRAWS = 60  # of a case and side, more than it can be asked


class Suite:
    """The draws of a pull request, which both programs get in the same order."""

    def __init__(self, seed: int, cases: int, *, cached: bool) -> None:
        chance = Random(seed)
        passes = [chance.choice([0.99, 0.9, 0.5, 0.2]) for _ in range(cases)]
        drop, moved = chance.choice([0.0, 0.0, 0.3]), chance.choice([0.0, 0.3])
        self.cases, self.cached = cases, cached
        self.drawn: Mapping[tuple[bool, int], list[bool]] = {
            (is_head, n): [chance.random() < passes[n] - drop * is_head for _ in range(DRAWS)]
            for is_head in (True, False)
            for n in range(cases)
        }
        self.kept = [chance.random() < passes[n] + moved for n in range(cases)]

    def product(self, trials: int) -> Pulled:
        left = self._left()

        def drawn(task: Task, *, is_head: bool) -> Graded:
            return graded(task, next(left[is_head, int(task.case.id)]))

        def kept(task: Task) -> Graded:
            return graded(task, self.kept[int(task.case.id)])

        every = kept if self.cached else None
        return asyncio.run(pull_request(self.cases, trials, drawn, every))

    def replica(self, trials: int) -> Decision:
        left = self._left()
        return decide([self._case(left, n) for n in range(self.cases)], trials)

    def _left(self) -> Mapping[tuple[bool, int], Iterator[bool]]:
        return {key: iter(draws) for key, draws in self.drawn.items()}

    def _case(self, left: Mapping[tuple[bool, int], Iterator[bool]], n: int) -> Case:
        first = [self.kept[n]] if self.cached else []
        today: Callable[[], bool] = lambda: next(left[False, n])  # noqa: E731
        base = Side(draw=lambda: first.pop() if first else today())
        head = Side(draw=lambda: next(left[True, n]))
        return Case(head=head, base=base, today=today if self.cached else None)


def graded(task: Task, passes: bool) -> Graded:
    return Graded(
        file=task.case.file,
        line=1,
        id=task.case.id,
        verdict="pass" if passes else "fail",
        score=float(passes),
        reason="",
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("cases", "trials", "cached"),
    [(5, 1, False), (30, 1, True), (40, 3, False), (130, 1, True)],
)
def test_both_decide_alike(seed: int, cases: int, trials: int, cached: bool) -> None:
    suite = Suite(seed, cases, cached=cached)
    theirs, own = suite.product(trials), suite.replica(trials)
    assert (set(map(str, own.broken)), own.drop, own.calls) == (
        set(theirs.broken),
        theirs.drop,
        theirs.further_trials,
    )
