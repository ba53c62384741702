"""A case that is asked again: a suspect on both sides, or a case without a counterpart here."""

from dataclasses import field, replace

from rubric_ci.gate.comparison import rule, verdicts
from rubric_ci.gate.comparison.rule import Need, Needs
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.trial_results import with_more
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import CaseResult, Errored, Graded, Skipped, both_graded, with_verdict
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.trials import trials_of


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
