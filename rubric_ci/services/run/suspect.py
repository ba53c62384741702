"""A case that is worse or better than at the base, and its further trials on both sides."""

from dataclasses import field, replace

from rubric_ci.gate.comparison import repeated_answers, verdicts
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.trial_results import with_confirming_trials
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import CaseResult, Change, Graded, Skipped
from rubric_ci.values.trials import trials_of


def once(task: Task) -> Task:
    """Return the task with a single trial, for any number that its case asks for."""
    return replace(task, case=replace(task.case, trials=None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One case on both sides."""

    head_task: Task
    base_task: Task
    head: CaseResult
    base: CaseResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A case that is worse or better than at the base, and its further trials on both sides."""

    pair: Pair
    change: Change  # "broken" or "fixed", by its first trials
    first_head: Graded
    first_base: Graded
    more_head: list[CaseResult] = field(default_factory=list)
    more_base: list[CaseResult] = field(default_factory=list)
    kept: int = 0  # further trials of the base that are in the cache
    today: list[CaseResult] = field(default_factory=list)
    """Answers of the base that were asked for after kept ones showed a break."""

    _sides: dict[tuple[bool, int, int], tuple[Graded, Graded]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @property
    def head(self) -> Graded:
        """The head with its further trials."""
        return self._side(is_head=True)[0]

    @property
    def base(self) -> Graded:
        """The base with its further trials."""
        return self._side(is_head=False)[0]

    @property
    def has_kept_trials(self) -> bool:
        """True if further trials of the base came from the cache."""
        return len(self.asked_today) < len(self.more_base)

    @property
    def asked_today(self) -> list[CaseResult]:
        """The further trials of the base that were asked for in this run."""
        return [
            each for each in self.more_base if not (isinstance(each, Graded) and each.answer_reused)
        ]

    @property
    def counted(self) -> tuple[Graded, Graded]:
        """Head and base, in which equal answers count once."""
        return self._side(is_head=True)[1], self._side(is_head=False)[1]

    def _side(self, *, is_head: bool) -> tuple[Graded, Graded]:
        """Return a side with its further trials, and the same with equal answers once.

        Both change with a further trial only, and are asked for ten times between two of them.
        """
        state = is_head, len(self.more(is_head)), len(self.today)
        if state not in self._sides:
            whole = self._whole_head() if is_head else self._whole_base()
            self._sides[state] = whole, self._counted(whole, is_head=is_head)
        return self._sides[state]

    def _whole_head(self) -> Graded:
        return with_confirming_trials(self.first_head, self.more_head)

    def _whole_base(self) -> Graded:
        found = with_confirming_trials(self.first_base, self.more_base)
        spent = (each.usage for each in self.today if not isinstance(each, Skipped))
        return replace(found, usage=sum(spent, found.usage))

    def _counted(self, whole: Graded, *, is_head: bool) -> Graded:
        first = self.first_head if is_head else self.first_base
        more = [each for each in self.more(is_head) if isinstance(each, Graded)]
        said = repeated_answers.said(first, more)
        return repeated_answers.counted_once(whole, said, self.task(is_head).target)

    @property
    def ordered(self) -> tuple[Graded, Graded]:
        """The side that is worse by the first trials, and the other; equal answers count once."""
        return self._ordered(*self.counted)

    def _ordered(self, head: Graded, base: Graded) -> tuple[Graded, Graded]:
        return (head, base) if self.change == "broken" else (base, head)

    @property
    def repeats(self) -> bool:
        """True if a side has one answer, so that no test of this case alone can show a change."""
        sides = zip((self.head, self.base), self.counted, strict=True)
        return any(repeated_answers.is_fixed(side, once) for side, once in sides)

    @property
    def is_flipped(self) -> bool:
        """True if the case differs by answers that repeat."""
        return self.repeats and repeated_answers.is_separated(*self.ordered)

    def more(self, is_head: bool) -> list[CaseResult]:
        """Return the further trials of a side."""
        return self.more_head if is_head else self.more_base

    def task(self, is_head: bool) -> Task:
        """Return the task of one side."""
        return self.pair.head_task if is_head else self.pair.base_task

    def is_undecided(self, level: float, most: int) -> bool:
        """Return True if the trials that are left can both confirm and refute the change."""
        if self.repeats:
            return bool(self._too_seldom(most))
        here, there = (most - len(self.more(is_head)) for is_head in (True, False))
        left = (here, there) if self.change == "broken" else (there, here)
        every = self._ordered(self.head, self.base)
        if not any(left) or not verdicts.may_be_broken(*every, level, left):
            return False
        if not verdicts.may_be_broken(*self.ordered, level, left):
            return False
        return not verdicts.must_be_broken(*self.ordered, level, left)

    def _too_seldom(self, most: int) -> list[tuple[int, str]]:
        """Return the sides with too few trials to know that they repeat one answer."""
        sides = ((self.head, self.more_head, "head"), (self.base, self.more_base, "base"))
        found = [(len(trials_of(one)), name) for one, more, name in sides if len(more) < most]
        return [each for each in found if each[0] < repeated_answers.ENOUGH]

    def asks_head(self, most: int) -> bool:
        """Return True if the head is asked next: the side that seems likelier to dissent.

        What is kept of the base comes before.
        """
        if len(self.more_base) < min(self.kept, most):
            return False
        if self.repeats:
            return min(self._too_seldom(most), key=lambda each: each[0])[1] == "head"
        if len(self.more_head) == most or len(self.more_base) == most:
            return len(self.more_base) == most
        low, high = self.ordered
        head_is_low = self.change == "broken"
        low_dissents, high_dissents = verdicts.dissents(low, high)
        if low_dissents == high_dissents:
            return len(self.more_head) <= len(self.more_base)
        return head_is_low == (low_dissents > high_dissents)

    @property
    def least_trials(self) -> int:
        """The trials of the side that has fewer."""
        return min(len(trials_of(self.head)), len(trials_of(self.base)))

    @property
    def lost(self) -> list[str]:
        """The reasons of the trials without a verdict."""
        more = (*self.more_head, *self.more_base)
        return [case.reason for case in more if not isinstance(case, Graded)]
