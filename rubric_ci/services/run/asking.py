"""Ask again: suspects on both sides in turn, and failing cases without a counterpart.

What moves during a run, such as a judge that turns lenient, meets both sides in this way.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final, Protocol, TypeAlias

from rubric_ci.gate.comparison import rule, verdicts
from rubric_ci.gate.comparison.rule import Need, Needs
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.grading.resolve import Task
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import CaseResult, Errored, Graded, Skipped, both_graded, with_verdict
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.trials import trials_of, with_more

INTERRUPTED: Final = "the run was interrupted"

Key: TypeAlias = tuple[str, str]
"""File and id of a case of the head."""


def once(task: Task) -> Task:
    """Return the task with a single trial, for any number that its case asks for."""
    return replace(task, case=replace(task.case, trials=None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    head_task: Task
    base_task: Task | None  # None: that side cannot be asked
    head: CaseResult
    base: CaseResult


@dataclass(slots=True, kw_only=True)
class Asked:
    """One side of a case: its first result, and what it was asked for again."""

    task: Task | None  # None: it cannot be asked
    first: Graded
    need: Need
    spare: int  # how many answers without a verdict are asked again
    more: list[CaseResult] = field(default_factory=list)

    @property
    def case(self) -> Graded:
        """The case with all its answers."""
        return with_more(self.first, self.more)

    @property
    def errored(self) -> list[Errored]:
        """The answers without a verdict."""
        return [each for each in self.more if isinstance(each, Errored)]

    @property
    def graded(self) -> int:
        """The number of answers with a verdict."""
        return len(trials_of(self.first)) + len(with_verdict(self.more))

    @property
    def lacks(self) -> bool:
        """True if it needs another answer, and can be asked for it."""
        can = self.task is not None and len(self.errored) <= self.spare
        stopped = any(isinstance(each, Skipped) for each in self.more)
        return can and not stopped and self.graded < self.need.answers

    @property
    def too_few(self) -> bool:
        """True if more answers are missing than may dissent."""
        return self.graded < self.need.answers - self.need.dissents

    def held(self, verdict: Verdict) -> list[bool]:
        """Return for each answer whether it holds."""
        every = [self.first, *with_verdict(self.more)]
        return [held for case in every for held in rule.held(case, verdict)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A case whose verdict is worse than before."""

    here: Asked
    before: Asked
    needs: Needs
    whole: bool  # no answer is spared: one other text shows that the answers do not repeat

    @property
    def verdict(self) -> Verdict:
        """The verdict before, in the first round."""
        return rule.verdict_of(self.before.first)

    @property
    def is_open(self) -> bool:
        """True if further answers could change the outcome."""
        held = self.here.held(self.verdict), self.before.held(self.verdict)
        found = rule.find(*held, self.needs)
        spared = self.whole and (self.lacks(self.here) or self.lacks(self.before))
        return found == "open" or (found == "broken" and spared)

    def lacks(self, side: Asked) -> bool:
        """Return True if a side can be asked for another answer that could change the outcome."""
        held = side.held(self.verdict)
        dissents = held.count(side is self.here)
        return side.lacks and (self.whole or not side.need.is_met(len(held), dissents))

    @property
    def may_end_here(self) -> bool:
        """True if one more answer here that holds would end it."""
        return sum(self.here.held(self.verdict)) == self.needs.here.dissents

    @property
    def judged(self) -> bool:
        """True if both answers are recorded: they are judged again."""
        return is_fixed(self.here.task) and is_fixed(self.before.task)

    @property
    def lost(self) -> str:
        """Why a side has too few answers; empty if it has enough, or none could be asked for."""
        errors = [*self.here.errored, *self.before.errored]
        if not self.is_open or not errors:
            return ""
        if not (self.here.too_few or self.before.too_few):
            return ""
        where = "" if self.here.too_few else " at the base"
        return (
            f"worse in its first answer, and no verdict{where} in {len(errors)} of "
            f"{len(self.here.more) + len(self.before.more)} answers: {errors[-1].reason}"
        )

    def conclude(self, config: RegressionConfig) -> Compared:
        here, before = self.here.case, self.before.case
        counts = len(trials_of(here)), len(trials_of(before))
        if self.here.too_few or self.before.too_few:  # none could be asked for
            needs = rule.as_they_are(*counts)
        else:
            needs = self.needs
        first = self.before.first
        return verdicts.conclude(here, before, first, needs, config, judged=self.judged)


def is_fixed(task: Task | None) -> bool:
    """Return True if the answer is at hand, and never another one."""
    return task is not None and task.target.is_at_hand


def suspect_of(pair: Pair, k: int, *, whole: bool) -> Suspect:
    """Return a suspect, from the first results of both sides."""
    ((head, base),) = both_graded([(pair.head, pair.base)])  # a suspect has a verdict on both
    kept = None if pair.base_task else len(trials_of(base))
    needs = rule.needs(k, kept)
    return Suspect(
        here=Asked(task=pair.head_task, first=head, need=needs.here, spare=k),
        before=Asked(task=pair.base_task, first=base, need=needs.before, spare=k),
        needs=needs,
        whole=whole,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lone:
    """A failing case without a counterpart: it counts by the median of its answers."""

    here: Asked

    @property
    def is_open(self) -> bool:
        """True if further answers could change the median verdict."""
        left = self.here.need.answers - self.here.graded
        every = [each.verdict for each in trials_of(self.here.case)]
        return _median([*every, *["pass"] * left]) != _median([*every, *["fail"] * left])


def _median(verdicts_: list[Verdict] | list[str]) -> str:
    order = ("fail", "borderline", "pass")
    ranked = sorted(verdicts_, key=order.index)
    return ranked[(len(ranked) - 1) // 2]


def lone_of(task: Task, case: Graded, k: int) -> Lone:
    """Return a failing case without a counterpart, which is asked k more times."""
    need = Need(answers=len(trials_of(case)) + k, dissents=0)
    return Lone(here=Asked(task=task, first=case, need=need, spare=k))


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
