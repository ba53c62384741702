"""Ask again: suspects on both sides in turn, and failing cases without a counterpart.

What moves during a run, such as a judge that turns lenient, meets both sides in this way.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final, Protocol, TypeAlias

from rubric_ci.gate.comparison import rule, verdicts
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.grading.resolve import Task
from rubric_ci.services.run.suspect import Asked, Lone, Pair, Suspect, lone_of, once, suspect_of
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import CaseResult, Graded
from rubric_ci.values.trials import trials_of

INTERRUPTED: Final = "the run was interrupted"

Key: TypeAlias = tuple[str, str]
"""File and id of a case of the head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One further answer: the task, the side, and the number of the answer on that side."""

    task: Task
    is_base: bool
    number: int


class Asker(Protocol):
    """Asks the sides of a change again."""

    @property
    def config(self) -> RegressionConfig:
        """The settings of the comparison."""

    @property
    def can_ask(self) -> bool:
        """False if nothing can be asked again."""

    @property
    def live(self) -> bool:
        """False in a replay: an answer that the recording lacks cannot be asked for."""

    @property
    def rows(self) -> int:
        """The compared rows of the whole selection, before sharding."""

    def ask(self, requests: Sequence[Request]) -> Awaitable[Sequence[CaseResult | None]]:
        """Return the results in the order of the requests; None: the run was interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The pairs with all their answers, and how they differ."""

    pairs: Mapping[Key, Pair]
    compared: Mapping[Key, Compared]
    further: int = 0  # answers of a side to one case, at most
    errored: Mapping[Key, str] = field(default_factory=dict)  # suspects without enough answers


async def settle(asker: Asker, pairs: Mapping[Key, Pair]) -> Settled:
    """Return how the pairs differ; each suspect is asked again on both sides."""
    compared = {key: verdicts.compare(pair.head, pair.base) for key, pair in pairs.items()}
    k = rule.times(asker.rows)
    suspects = {
        key: suspect_of(pairs[key], k, whole=asker.config.repeated == "note")
        for key, found in compared.items()
        if found.change == "broken"
    }
    if asker.can_ask:
        await _ask(asker, list(suspects.values()))
    ended = {
        key: replace(pairs[key], head=each.here.case, base=each.before.case)
        for key, each in suspects.items()
    }
    sides = [side for each in suspects.values() for side in (each.here, each.before)]
    return Settled(
        pairs={**pairs, **ended},
        compared={
            **compared,
            **{key: each.conclude(asker.config) for key, each in suspects.items()},
        },
        further=max((len(side.more) for side in sides), default=0),
        errored={key: each.lost for key, each in suspects.items() if asker.live and each.lost},
    )


async def settle_alone(
    asker: Asker, failing: Mapping[Key, tuple[Task, Graded]]
) -> Mapping[Key, Graded]:
    """Return these cases with k more answers each; they count by their median verdict."""
    k = rule.times(asker.rows)
    lone = {key: lone_of(task, case, k) for key, (task, case) in failing.items()}
    if asker.can_ask:
        await _ask(asker, list(lone.values()))
    return {key: each.here.case for key, each in lone.items()}


async def _ask(asker: Asker, cases: Sequence[Suspect] | Sequence[Lone]) -> None:
    """Ask one answer after the other of each side that lacks one, as long as it can matter."""
    while asked := [(side, n > 0) for each in cases if each.is_open for n, side in _lacking(each)]:
        results = await asker.ask([_request(side, is_base=is_base) for side, is_base in asked])
        if None in results:
            return
        for (side, _), result in zip(asked, results, strict=True):
            side.more += [result] if result else []


def _lacking(case: Suspect | Lone) -> list[tuple[int, Asked]]:
    """Return the sides to ask: the head leads by one answer, by two if its next may end it."""
    if isinstance(case, Lone):
        return [(0, case.here)] if case.here.lacks else []
    here = [(0, case.here)] if case.lacks(case.here) else []
    if not case.lacks(case.before):
        return here
    lead = len(case.here.more) - len(case.before.more)
    leads = not here or lead >= (2 if case.may_end_here else 1)
    return [*here, (1, case.before)] if leads else here


def _request(side: Asked, *, is_base: bool) -> Request:
    assert side.task is not None  # noqa: S101 - else it lacks nothing
    number = len(trials_of(side.first)) + len(side.more)
    return Request(task=once(side.task), is_base=is_base, number=number)
