"""The two sides of a change: contexts, tasks, and answers that both share.

Questions, prompts and recorded answers of the base are read from git's objects; the rubrics and the
judge are the head's.
"""

import asyncio
from collections.abc import (
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import cache
from itertools import takewhile
from typing import Final, Protocol

from rubric_ci.errors import CannotConfigure, CannotUseGit, NoVerdict
from rubric_ci.files.project.base_state import BaseState
from rubric_ci.files.project.change import Change
from rubric_ci.files.project.loaded_project import LoadedProject, mask_secrets
from rubric_ci.gate.selection.affected_cases import is_marked_alike, matched, removed_cases
from rubric_ci.gate.selection.dependencies import command_files, depends_on_everything
from rubric_ci.grading.case_choice import is_asked_for
from rubric_ci.grading.engine import varied
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.targets import answer_cache
from rubric_ci.grading.targets.kinds import at_hand
from rubric_ci.grading.tasks import build_task
from rubric_ci.services.run.asking import Key, Request
from rubric_ci.system.git import plumbing, snapshot
from rubric_ci.system.git.snapshot import Contents
from rubric_ci.system.git.worktree import Worktree, worktree
from rubric_ci.text.globs import matcher
from rubric_ci.values.changes import Base, NoBase
from rubric_ci.values.command_settings import Models, RequestOptions, RunSettings, SelectOptions
from rubric_ci.values.comparison import OTHER_QUESTION, RegressionConfig
from rubric_ci.values.context import Dependencies, RunContext, Side
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, TrialRule
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.question import question
from rubric_ci.values.report import RemovedCase
from rubric_ci.values.results import Answer, CaseResult
from rubric_ci.values.targets import Target

MOST_KEPT: Final = 20  # answers of the base that are looked up in the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseSide:
    """The base of a change: the cases to grade there, and how to get its answers."""

    base: Base
    committed_at: str
    tasks: Mapping[Key, Task]
    rubrics: Mapping[Key, EvalCase] = field(default_factory=dict)  # base cases whose rubrics differ
    incomparable: Mapping[Key, str] = field(default_factory=dict)  # with the reason
    removed: tuple[RemovedCase, ...] = ()
    worktree: Worktree
    read: Callable[[str], bytes | None]
    dependencies: Dependencies
    given: MutableMapping[tuple[Key, int], Answer] = field(default_factory=dict)

    def marked_by_both(self, tasks: Sequence[Task]) -> tuple[Task, ...]:
        """Return the tasks of the head; where rubrics differ, the base's mark its answers too."""
        return tuple(_marked_by(task, self.rubrics.get(task.case.key)) for task in tasks)


@contextmanager
def open_base(
    tasks: Sequence[Task], opened: LoadedProject, settings: RunSettings
) -> Iterator[BaseSide | NoBase | None]:
    """Yield the base side of the tasks, None without `--against`.

    Its worktree is removed at the end.
    """
    base = opened.change.against
    if base is None or isinstance(base, NoBase):
        yield base
        return
    with worktree(opened.change.repository, base.commit) as checkout:
        yield _side(tasks, opened, settings, base, checkout)


def _side(
    tasks: Sequence[Task],
    opened: LoadedProject,
    settings: RunSettings,
    base: Base,
    checkout: Worktree,
) -> BaseSide:
    then = opened.change.at(base)
    state = opened.at_base(base)
    head = opened.cases
    before = matched(head, state.cases)
    known = _each_once(tasks, before)
    found = {
        task.case.key: _base_task(
            task, known[task.case.key], state, opened, settings.models, settings.requests
        )
        for task in tasks
        if task.case.key in known
    }
    unread = {
        task.case.key: state.unreadable[task.case.file]
        for task in tasks
        if task.case.key not in known and task.case.file in state.unreadable
    }
    reasons = {key: each for key, each in found.items() if isinstance(each, str)}
    differing = {
        task.case.key: known[task.case.key]
        for task in tasks
        if isinstance(found.get(task.case.key), Task)
        if not is_marked_alike(task.case, known[task.case.key])
    }
    return BaseSide(
        base=base,
        committed_at=plumbing.committed_at(opened.change.repository, base.commit),
        tasks={
            key: _marked_by(each, differing.get(key))
            for key, each in found.items()
            if isinstance(each, Task)
        },
        rubrics=differing,
        incomparable={**unread, **reasons},
        removed=tuple(_removed(state, before, settings.select)),
        worktree=checkout,
        read=cache(then.files.read),
        dependencies=dependencies_on(lambda: snapshot.tree_contents(then.entries)),
    )


def _marked_by(task: Task, was: EvalCase | None) -> Task:
    return replace(task, also=was.evaluators) if was else task


def _each_once(tasks: Sequence[Task], before: Mapping[Key, EvalCase]) -> dict[Key, EvalCase]:
    """Return the earlier case of each task; of two cases with one origin, the first has it."""
    known: dict[Key, EvalCase] = {}
    taken: set[Key] = set()
    for task in tasks:
        was = before.get(task.case.key)
        if was is not None and was.key not in taken:
            taken.add(was.key)
            known[task.case.key] = was
    return known


def _base_task(
    task: Task,
    was: EvalCase,
    state: BaseState,
    opened: LoadedProject,
    models: Models,
    requests: RequestOptions,
) -> Task | str:
    """Return the task of a case at the base, or why the two cannot be compared."""
    if problem := state.config_problem(was.file):
        return problem
    mask_secrets(state.project.config_for(was.file))
    project = replace(opened, project=state.project, files=())
    try:
        built = build_task(was, task.why, project, models, requests)
    except CannotConfigure as error:
        return f"the base cannot be configured: {error.message}"
    targets = (task.target, built.target)
    if question(task.case, targets=targets) != question(was, targets=targets):
        return OTHER_QUESTION
    return replace(
        built,
        case=replace(marked_as(was, task.case), trials=task.case.trials),
        target=built.target.at_base(task.target),
        judge=task.judge,
        cluster=task.cluster,
        waived=task.waived,
    )


def marked_as(case: EvalCase, other: EvalCase) -> EvalCase:
    """Return a case whose answers are marked as those to another one."""
    return replace(
        case,
        evaluators=other.evaluators,
        expected_outcome=other.expected_outcome,
        expected_messages=other.expected_messages,
        turns=other.turns,
        metadata=other.metadata,
    )


def _removed(
    state: BaseState, before: Mapping[Key, EvalCase], options: SelectOptions
) -> Iterator[RemovedCase]:
    for case in removed_cases(state.cases, before):
        named = is_asked_for(case, ids=options.cases, tags=options.tags)
        if named and not options.places:
            yield RemovedCase(file=case.file, id=case.id)


class Grade(Protocol):
    """Grades tasks, each in its context; None: the run was interrupted before its result."""

    def __call__(
        self, tasks: Sequence[Task], contexts: Sequence[RunContext], trials: int
    ) -> Awaitable[Sequence[CaseResult | None]]:
        """Return the results in the order of the tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadOnly:
    """The head of a run, which can be asked again."""

    context: RunContext  # of the head
    grade: Grade
    rows: int  # compared rows of the whole selection, before sharding
    config: RegressionConfig
    can_ask: bool = True  # False: nothing can be asked again
    live: bool = True  # False in a replay: an answer that it lacks cannot be asked for

    async def ask(self, requests: Sequence[Request]) -> Sequence[CaseResult | None]:
        """Return one further result per request, in their order."""
        own = again(self.context)
        contexts = [own.for_trial(each.number) for each in requests]
        return await self.grade([each.task for each in requests], contexts, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides(HeadOnly):
    """Base and head of a change, graded by the same judge under the same rubrics."""

    base: BaseSide
    trials: int
    fresh: bool = False  # no answer of the base comes from the cache
    gate: GateConfig = GateConfig()  # which cases it is about
    kept: MutableMapping[Key, int] = field(default_factory=dict, repr=False, compare=False)

    @property
    def base_context(self) -> RunContext:
        side = Side(
            is_base=True,
            root=self.base.worktree.root,
            read=self.base.read,
            reuse=not self.fresh,
            dependencies=self.base.dependencies,
            given=self.base.given,
        )
        return replace(self.context, side=side)

    def context_of(self, base_task: Task) -> RunContext:
        """Return the context of a task of the base: kept answers, where it cannot be asked."""
        own = self.base_context
        if base_task.target.answers_on_both_sides:
            return own
        return replace(own, side=replace(own.side, reuse=True))

    def first_task(self, head: Task) -> Task | None:
        """Return what the base is asked in the first round; None: nothing.

        Of a side that cannot be asked, every kept answer counts.
        """
        base = self.base.tasks.get(head.case.key)
        if base is None or self.share_answer(head, base):
            return None
        if base.target.answers_on_both_sides:
            return base
        kept = self._kept(base)
        rule = TrialRule(passes=kept // 2 + 1, count=kept)
        return replace(base, case=replace(base.case, trials=rule)) if kept else None

    def lacks_answers(self, head: Task) -> bool:
        """Return True if the base cannot be asked, and no answer of it is kept."""
        base = self.base.tasks.get(head.case.key)
        if base is None or base.target.answers_on_both_sides:
            return False
        return not (self.share_answer(head, base) or self._kept(base))

    def _kept(self, task: Task) -> int:
        """Return how many answers of the base were in the cache before the head was asked."""
        if task.case.key not in self.kept:
            own = map(self.context_of(task).for_trial, range(MOST_KEPT))
            kept = (answer_cache.find(varied(task.case, each), task.target, each) for each in own)
            count = sum(1 for _ in takewhile(lambda answer: answer is not None, kept))
            self.kept[task.case.key] = count
        return self.kept[task.case.key]

    def share_answer(self, head: Task, base: Task) -> bool:
        """Return True if nothing that determines the answer differs: both sides share it."""
        if not base.target.answers_on_both_sides:
            return False
        if head.target.is_at_hand and base.target.is_at_hand:
            with suppress(NoVerdict):
                own = at_hand(head.case, head.target, self.context)
                was = at_hand(base.case, base.target, self.base_context)
                return own is not None and own == was
            return False
        key = answer_cache.key_of(head.case, head.target, self.context)
        there = answer_cache.key_of(base.case, base.target, self.base_context)
        return key is not None and key == there

    def asks_base(self, head: Task) -> bool:
        """Return True if the case is graded at the base as well."""
        return self.first_task(head) is not None

    def asks_alone(self, head: Task) -> bool:
        """Return True if the case has no counterpart, and is asked again where it fails."""
        base = self.base.tasks.get(head.case.key)
        return not self.asks_base(head) and not (base and self.share_answer(head, base))

    async def ask(self, requests: Sequence[Request]) -> Sequence[CaseResult | None]:
        """Return one further result per request, in their order."""
        head, base = again(self.context), again(self.base_context, reuse=self.context.side.reuse)
        contexts = [(base if each.is_base else head).for_trial(each.number) for each in requests]
        return await self.graded([each.task for each in requests], contexts)

    async def graded(
        self, tasks: Sequence[Task], contexts: Sequence[RunContext], trials: int = 1
    ) -> Sequence[CaseResult | None]:
        """Return the result of each task; None after the run was interrupted."""
        this = asyncio.current_task()
        if not tasks or (this and this.cancelling()):
            return [None] * len(tasks)
        return await self.grade(tasks, contexts, trials)


def again(context: RunContext, *, reuse: bool | None = None) -> RunContext:
    """Return the context of further answers: each is asked for, and judged by itself.

    Only `--reuse answers` takes them from the cache.
    """
    reused = context.side.reuse if reuse is None else reuse
    side = replace(context.side, reuse=reused)
    return replace(context, side=side, fresh_judgements=not reused)


def checkout_dependencies(change: Change, outputs: Iterable[str]) -> Dependencies:
    """Return the digests of the checkout, which is read when the first one is asked for."""

    def read() -> Contents | None:
        try:
            return snapshot.disk_contents(change.repository, outputs)
        except CannotUseGit:
            return None  # without git, answers that depend on files are not cached

    return dependencies_on(read)


def dependencies_on(read: Callable[[], Contents | None]) -> Dependencies:
    """Return the digests of the files that `read` returns; it is called once, or never.

    A target without `depends_on` that depends on every file has the digest of all of them. Files
    that a command names or gets count as if they were listed.
    """
    known = cache(read)

    @cache
    def of_files(globs: tuple[str, ...] | None, names: tuple[str, ...]) -> str | None:
        found = known()
        matches = (lambda _: True) if globs is None else matcher(globs)
        return None if found is None else found.digest(matches, names)

    def digest(case: EvalCase, target: Target) -> str | None:
        if depends_on_everything(target):
            return of_files(None, ())
        globs = (*case.depends_on, *(target.depends_on or ()))
        names = tuple(dict.fromkeys(command_files(case, target)))
        return of_files(globs, names) if globs or names else ""

    return digest
